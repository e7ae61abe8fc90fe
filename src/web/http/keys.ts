import type { Context } from 'hono'
import type { Clock } from '../../base/clock.ts'
import type { Reader } from '../reading.ts'
import { readWebKeyHashes, webKeyHash } from './key-store.ts'

/** How long keys are kept, ms: so long, one that was removed still works. */
const KEYS_KEPT_MS = 10_000

/** The key that a request names; other ways of authorization belong to a proxy. */
function keyIn(context: Context): string | undefined {
  const [, bearer] = /^Bearer +(\S*) *$/i.exec(context.req.header('authorization') ?? '') ?? []
  return bearer ?? context.req.header('x-api-key')
}

/** Finds the name of the key of a request: undefined when it has none, null when nothing has this key. */
export function createKeys(reader: Reader, clock: Clock): (context: Context) => Promise<string | undefined | null> {
  let readAt = Number.NEGATIVE_INFINITY
  let names: ReturnType<typeof readWebKeyHashes>
  return async (context) => {
    const key = keyIn(context)
    if (key === undefined) return undefined
    // Either way: while a clock that was set back is behind, a key that was removed would still work.
    if (Math.abs(clock.now() - readAt) >= KEYS_KEPT_MS) {
      readAt = clock.now()
      names = reader.read(readWebKeyHashes)
      // The next one tries again.
      names.catch(() => {
        readAt = Number.NEGATIVE_INFINITY
      })
    }
    return (await names).get(webKeyHash(key)) ?? null
  }
}
