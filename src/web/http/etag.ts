import { createHash } from 'node:crypto'
import type { Context } from 'hono'

interface Sent {
  readonly caching?: string
  readonly bytes?: () => Promise<Uint8Array<ArrayBuffer>>
}

/**
 * The body, or 304 when the client has it. Unless told otherwise, caches ask each time: what a player hides must be gone at once.
 * @param bytes what is sent in place of the body, made from it
 */
export async function withEtag(
  context: Context,
  body: string,
  type: string,
  { caching = 'no-cache', bytes }: Sent = {},
): Promise<Response> {
  const etag = `"${createHash('sha256').update(type).update(body).digest('base64url').slice(0, 27)}"`
  context.header('ETag', etag)
  context.header('Cache-Control', caching)
  const known = (context.req.header('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  if (known.includes(etag) || known.includes('*')) return context.body(null, 304)
  return context.body(bytes ? await bytes() : body, 200, { 'content-type': type })
}
