import { createHash } from 'node:crypto'
import { type HttpExchange, lineOf } from '../../api/http/http-exchange.ts'
import type { BodyParts } from '../../api/http/response-body.ts'
import type { LastRun } from '../ledger/ledger.ts'
import { sha256 } from '../normalize/hash.ts'

/** The bodies that the requests of one extraction brought, as hashes. */
export type SeenBodies = ReturnType<typeof watchBodies>

/**
 * Of the hash is all that the rows of a body depend on: the program's version and the request, too. With the content hash, a
 * response is parsed again once its content hash is given up; with the day, at least daily, whatever else has changed.
 */
export function watchBodies(program: string, startedAt: Date, last: LastRun | undefined) {
  const hashes: Buffer[] = []
  const day = startedAt.toISOString().slice(0, 10)
  /** What the ledger keeps of a response with this content hash; undefined where it took several bodies, or none. */
  const hashWith = (contentHash: Uint8Array) =>
    hashes[0] && hashes.length === 1 ? sha256(Buffer.concat([hashes[0], contentHash])) : undefined
  /** Whether a response took one body, and that is the one of this response. */
  const isBodyOf = (other: LastRun | undefined) =>
    other !== undefined &&
    !other.reload &&
    other.bodyHash !== null &&
    hashWith(other.contentHash)?.equals(other.bodyHash) === true
  return {
    /** Notes a body. Whether it is that of the last accepted response, byte for byte. */
    isKnown: async (request: HttpExchange['request'], body: BodyParts) => {
      const hash = createHash('sha256').update(`${program} ${day} ${lineOf({ request })}\n`)
      for await (const part of body) hash.update(part)
      hashes.push(hash.digest())
      return isBodyOf(last)
    },
    hashWith,
    isBodyOf,
  }
}
