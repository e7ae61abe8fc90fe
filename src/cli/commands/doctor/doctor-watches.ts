import { messageOf } from '../../../app/errors.ts'
import { watchFileOf } from '../../../monitoring/watch-place.ts'
import { isShared, readWatches } from '../../../monitoring/watches/watch-file.ts'
import type { Finding } from './doctor-checks.ts'

/** Whether watches.json can be used; nothing where there is none. */
export function checkWatches(config: { readonly dataDir: string }): Finding[] {
  const check = 'watches'
  const file = watchFileOf(config)
  try {
    const { watches } = readWatches(file)
    if (watches.length === 0) return []
    const seen = `${watches.length} in ${file}`
    if (!isShared(file)) return [{ check, verdict: 'fine', seen }]
    const todo = `its URLs are secrets: chmod 600 ${file}`
    return [{ check, verdict: 'warning', seen: `${seen}, which other users can read`, todo }]
  } catch (error) {
    return [{ check, verdict: 'problem', seen: messageOf(error), todo: `correct ${file}, or use wynnsync watch` }]
  }
}
