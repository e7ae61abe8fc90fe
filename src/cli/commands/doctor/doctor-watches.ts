import { watchFileOf } from '../../../app/config.ts'
import { messageOf } from '../../../app/errors.ts'
import type { Database } from '../../../db/database.ts'
import { unmatchedNames } from '../../../monitoring/watch-names.ts'
import { isShared, readWatches, type Watch } from '../../../monitoring/watches/watch-file.ts'
import type { Finding } from './doctor-checks.ts'

/** As many names as are listed. */
const MOST = 10

/** Whether watches.json can be used, and whether something has the names in it; nothing where there is none. */
export async function checkWatches(config: { readonly dataDir: string }, db?: Database): Promise<Finding[]> {
  const check = 'watches'
  const file = watchFileOf(config)
  try {
    const { watches } = readWatches(file)
    if (watches.length === 0) return []
    const seen = `${watches.length} in ${file}`
    const named = await checkNames(watches, db)
    if (!isShared(file)) return named.length > 0 ? named : [{ check, verdict: 'fine', seen }]
    const todo = `its URLs are secrets: chmod 600 ${file}`
    return [{ check, verdict: 'warning', seen: `${seen}, which other users can read`, todo }, ...named]
  } catch (error) {
    return [{ check, verdict: 'problem', seen: messageOf(error), todo: `correct ${file}, or use wynnsync watch` }]
  }
}

/** Names that nothing matches. A database that cannot say is a finding of its own. */
async function checkNames(watches: readonly Watch[], db?: Database): Promise<Finding[]> {
  const unmatched = db ? await unmatchedNames(db, watches).catch(() => []) : []
  const first = unmatched.slice(0, MOST).map(({ watch, text }) => `${watch}: ${text}`)
  if (first.length === 0) return []
  const more = unmatched.length > MOST ? [`and ${unmatched.length - MOST} more`] : []
  const todo = 'nothing is sent about a name that nothing has: correct it with wynnsync watch add'
  return [{ check: 'watches', verdict: 'warning', seen: [...first, ...more].join('. '), todo }]
}
