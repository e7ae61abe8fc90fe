import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FatalError, messageOf, RetryableError } from '../../base/errors.ts'
import { sqlState } from '../sql-errors.ts'

/** SQL that may run again whenever it changes: views, functions, comments. Its name is what the database remembers. */
export interface RepeatableSql {
  readonly name: string
  readonly path: string
}

export interface Migration {
  readonly tag: string
  /** Milliseconds since the epoch; drizzle runs what is later than the newest one applied. */
  readonly when: number
}

/** A repeatable file with its text. */
export interface Script extends RepeatableSql {
  readonly text: string
  readonly sha256: string
  /** The views and functions that it makes, `view analytics.item`; of a function that takes several lists of arguments, each. */
  readonly makes: readonly string[]
  /** Also those that it drops: an earlier edition made them. */
  readonly names: readonly string[]
}

/** The migrations in the order of the journal. @throws FatalError when its times do not rise */
export async function readJournal(folder: string): Promise<Migration[]> {
  const path = join(folder, 'meta', '_journal.json')
  const journal: unknown = JSON.parse(await readText(path))
  const entries = isJournal(journal) ? journal.entries : []
  entries.forEach((entry, index) => {
    const before = entries[index - 1]
    if (before && entry.when <= before.when)
      throw new FatalError(
        `${path}: the time of ${entry.tag} (${entry.when}) is not after that of ${before.tag} (${before.when}), so it would be skipped; raise its "when"`,
        { context: { path, migration: entry.tag } },
      )
  })
  return entries
}

function isJournal(value: unknown): value is { entries: Migration[] } {
  return typeof value === 'object' && value !== null && 'entries' in value && Array.isArray(value.entries)
}

/** @throws FatalError as `readText` */
export async function readScript(file: RepeatableSql): Promise<Script> {
  const text = await readText(file.path)
  const code = text.replace(/--.*/g, '')
  const made = [...code.matchAll(/\bcreate\s+(?:or\s+replace\s+)?(view|function)\s+([a-z_]\w*\.\w+)/gi)]
  const dropped = [...code.matchAll(/\bdrop\s+(view|function)\s+(?:if\s+exists\s+)?([a-z_]\w*\.\w+)/gi)]
  const inWords = ([, kind = '', name = '']: RegExpExecArray) => `${kind} ${name}`.toLowerCase()
  const makes = made.map(inWords)
  return { ...file, text, sha256: hash('sha256', text), makes, names: [...makes, ...dropped.map(inWords)] }
}

/** SHA-256 over all of them, in hexadecimal. */
export function hashOfAll(scripts: readonly Script[]): string {
  return hash('sha256', scripts.map(({ name, sha256 }) => `${name} ${sha256}\n`).join(''))
}

/** @throws FatalError when the file cannot be read */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw new FatalError(`${path} cannot be read; the installation is incomplete`, { cause, context: { path } })
  }
}

/** Runs a file; its error names the file, and rolls the transaction back. */
export async function naming<T>(file: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (cause) {
    if (cause instanceof RetryableError) throw cause
    throw new FatalError(`${file} failed, and the database is unchanged: ${messageOf(cause)}`, {
      cause,
      context: { file, sqlState: sqlState(cause) },
    })
  }
}
