import { gzipSync } from 'node:zlib'
import { type AnswerSource, type ApiRequest, type Copy, isRefusal, once, type Refusal, refuse } from './answer.ts'
import { ttlOf } from './ttl.ts'

/** A written body, and further headers. */
export type Produced = Pick<Copy, 'plain' | 'gzip'> & { readonly headers?: Copy['headers'] }

/** A response that can be given. It is written only when no copy of it is left. */
export interface Found {
  /** `edition` counts the copies written under this name, from 0. */
  readonly write: (edition: number) => Produced
  /** Tells one copy of a path from another (default: the query). */
  readonly name?: string | undefined
  /** Whom a personal response is for; undefined for everybody. */
  readonly audience?: string | undefined
  /** The method of the route (default GET). */
  readonly method?: string | undefined
}

/** A JSON response that is the same for everybody. */
export function shared(body: (edition: number) => unknown, name?: string): Found {
  return { write: (edition) => json(body(edition)), name }
}

/** A JSON body as bytes, compressed when first asked for. */
export function json(body: unknown): Produced {
  const plain = Buffer.from(JSON.stringify(body))
  return { plain: () => plain, gzip: once(() => gzipSync(plain, { level: 1 })) }
}

/**
 * Serves what `find` finds. A copy is stamped with a whole second and served unchanged until its time to live is over
 * (API reference 2.3); a personal one is kept per audience. Expired copies are forgotten now and then.
 * @param timeOf the instant (ms since the epoch) that a response given at another one speaks for
 */
export function cachedSource(
  find: (request: ApiRequest, at: number) => Found | Refusal,
  timeOf = (now: number) => Math.floor(now / 1000) * 1000,
): AnswerSource {
  const kept = new Map<string, { readonly copy: Copy; readonly edition: number }>()
  let sweepAt = 1000

  function sweep(now: number): void {
    for (const [name, { copy }] of kept) if (!isFresh(copy, now)) kept.delete(name)
    sweepAt = 1000 + 2 * kept.size
  }

  return {
    answer: (request, now) => {
      const { path, query, method } = request
      const at = timeOf(now)
      const found = find(request, at)
      if (isRefusal(found)) return found
      const { write, name = new URLSearchParams([...query].sort()), audience = '', method: allowed = 'GET' } = found
      if (method !== allowed) return refuse.methodNotAllowed(method, allowed)
      const key = `${path}?${name} ${audience}`
      const last = kept.get(key)
      if (last && isFresh(last.copy, at)) return last.copy
      const edition = (last?.edition ?? -1) + 1
      const personal = audience !== ''
      const copy = { headers: {}, ...write(edition), producedAt: at, maxAge: ttlOf(path), personal }
      kept.set(key, { copy, edition })
      if (kept.size > sweepAt) sweep(at)
      return copy
    },
  }
}

function isFresh({ producedAt, maxAge }: Copy, at: number): boolean {
  return at < producedAt + maxAge * 1000
}
