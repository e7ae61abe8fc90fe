import type { Api } from '../api/client.ts'
import { UsageError } from '../base/errors.ts'
import { visibleLine } from '../base/terminal-text.ts'
import { didYouMean } from '../base/text/nearest.ts'
import type { Sql } from '../db/database.ts'
import type { Named, Worklist } from '../sync/declare/resource.ts'

/**
 * The keys of names, from the database, else from the API. A name with several keys is an error that lists them.
 * @throws UsageError when it is not found, or ambiguous
 */
export async function keysNamed(
  resource: Worklist,
  { db, api }: { readonly db: Sql; readonly api: Api },
  names: readonly string[],
): Promise<string[]> {
  const keys: string[] = []
  for (const name of names) {
    const known = await resource.find(db, name)
    const found = known.length > 0 ? known : await resource.lookUp(api, name)
    const key = onlyKey(resource, name, found)
    if (key === undefined) throw new UsageError(await notFound(resource, db, name))
    keys.push(key)
  }
  return keys
}

/** The message for a name that no key has, with names that may be meant. */
export async function notFound(resource: Worklist, db: Sql, name: string): Promise<string> {
  return `${resource.keyFlag} not found: ${name}${didYouMean(await resource.similar(db, name))}`
}

/** The keys of names, from the database alone, and the names that it does not have. */
export async function keysKnown(
  resource: Worklist,
  db: Sql,
  names: readonly string[],
): Promise<{ readonly keys: string[]; readonly unknown: string[] }> {
  const keys: string[] = []
  const unknown: string[] = []
  for (const name of names) {
    const key = onlyKey(resource, name, await resource.find(db, name))
    if (key === undefined) unknown.push(name)
    else keys.push(key)
  }
  return { keys, unknown }
}

function onlyKey(resource: Worklist, name: string, found: readonly Named[]): string | undefined {
  if (found.length > 1) {
    const lines = found.map(({ key, label }) => `  ${key}  ${visibleLine(label)}`)
    throw new UsageError(`${resource.name}: several have the name ${name}; use a uuid:\n${lines.join('\n')}`)
  }
  return found[0]?.key
}
