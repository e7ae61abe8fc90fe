import { existsSync } from 'node:fs'
import { watchFileOf } from '../../../base/config.ts'
import { messageOf } from '../../../base/errors.ts'
import { tableExists } from '../../../db/catalog.ts'
import type { Database } from '../../../db/database.ts'
import { unmatchedNames } from '../../../monitoring/watch-names.ts'
import type { Watch } from '../../../monitoring/watches/watch.ts'
import { readWatches, readWatchFile } from '../../../monitoring/watches/watch-store.ts'
import type { Finding } from './doctor-checks.ts'

const check = 'watches'

/** As many names as are listed. */
const MOST = 10

/** Whether the watches can be read and something has the names in them, and what the file of an earlier version has; nothing where there are none. */
export async function checkWatches(config: { readonly dataDir: string }, db?: Database): Promise<Finding[]> {
  try {
    const isThere = db && (await tableExists(db, 'sync.watch'))
    const { names, watches, unreadable } = isThere ? await readWatches(db) : { names: [], watches: [], unreadable: [] }
    const findings: Finding[] = [
      ...checkFile(watchFileOf(config), names.length > 0),
      ...unreadable.map(({ name, problem }) => ({
        ...{ check, verdict: 'problem' as const, seen: `this version cannot read the watch ${name}: ${problem}` },
        todo: `it sends nothing: replace it with wynnsync watch add ${name}, or wynnsync watch remove it`,
      })),
      ...(await checkNames(watches, db)),
    ]
    if (findings.length > 0 || names.length === 0) return findings
    return [{ check, verdict: 'fine', seen: `${names.length} in the database` }]
  } catch (error) {
    return [{ check, verdict: 'problem', seen: messageOf(error) }]
  }
}

/** What the file of an earlier version means. */
function checkFile(file: string, hasWatches: boolean): Finding[] {
  if (!existsSync(file)) return []
  if (hasWatches) {
    const todo = `add what is missing with wynnsync watch add, and remove ${file}`
    return [{ check, verdict: 'warning', seen: `${file} is not read, because the database has watches`, todo }]
  }
  try {
    const { watches } = readWatchFile(file)
    const seen = `${watches.length} in ${file}, which the next sync or start takes into the database`
    return [{ check, verdict: 'fine', seen }]
  } catch (error) {
    const todo = `correct or remove ${file}: the next sync or start takes its watches into the database`
    return [{ check, verdict: 'problem', seen: messageOf(error), todo }]
  }
}

/** Names that nothing matches. A database that cannot say is a finding of its own. */
async function checkNames(watches: readonly Watch[], db?: Database): Promise<Finding[]> {
  const unmatched = db ? await unmatchedNames(db, watches).catch(() => []) : []
  const first = unmatched.slice(0, MOST).map(({ watch, text }) => `${watch}: ${text}`)
  if (first.length === 0) return []
  const more = unmatched.length > MOST ? [`and ${unmatched.length - MOST} more`] : []
  const todo = 'nothing is sent about a name that nothing has: correct it with wynnsync watch add'
  return [{ check, verdict: 'warning', seen: [...first, ...more].join('. '), todo }]
}
