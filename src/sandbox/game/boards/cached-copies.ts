import { gzipSync } from 'node:zlib'
import { type Copy, once } from '../../http/answer.ts'
import type { Viewer } from '../people/privacy.ts'

/** A written answer: the bytes, and further headers. */
export type Produced = Pick<Copy, 'plain' | 'gzip'> & { readonly headers?: Copy['headers'] }

/** How a found answer is written, and for whom: undefined when everybody gets the same. */
export interface Found {
  readonly write: () => Produced
  readonly viewer?: Viewer | undefined
}

/** An answer that is the same for everybody. */
export function shared(body: () => unknown): Found {
  return { write: () => json(body()) }
}

/** A JSON body as bytes. */
export function json(body: unknown): Produced {
  const plain = Buffer.from(JSON.stringify(body))
  return { plain: () => plain, gzip: once(() => gzipSync(plain, { level: 1 })) }
}

/**
 * Keeps each copy until it expires, one per viewer where answers are personal, and forgets expired ones now and then.
 * The function it returns takes the request's name, the time to live in seconds and the instant in ms.
 */
export function keepCopies() {
  const kept = new Map<string, Copy>()
  let sweepAt = 1000
  return (request: string, maxAge: number, at: number, { write, viewer }: Found): Copy => {
    const name = viewer ? `${request} ${viewer.player.uuid} ${viewer.scopes?.join('+') ?? '*'}` : request
    const last = kept.get(name)
    if (last && at < last.producedAt + maxAge * 1000) return last
    const copy: Copy = { headers: {}, ...write(), producedAt: at, maxAge, personal: viewer !== undefined }
    kept.set(name, copy)
    if (kept.size > sweepAt) {
      for (const [key, one] of kept) if (at >= one.producedAt + one.maxAge * 1000) kept.delete(key)
      sweepAt = 1000 + 2 * kept.size
    }
    return copy
  }
}
