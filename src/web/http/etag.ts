import { createHash } from 'node:crypto'
import type { Context } from 'hono'

/** Something to send, with what tells it from others. */
export interface Entity {
  readonly etag: string
  readonly type: string
  /** As bytes, what can be sent often without being encoded each time. */
  readonly body: string | Uint8Array<ArrayBuffer> | (() => Promise<Uint8Array<ArrayBuffer>>)
}

/** Text as it is sent. */
export function entityOf(text: string, type: string): Entity {
  return { etag: etagOf(text, type), type, body: new TextEncoder().encode(text) }
}

/** @param text what the content follows from */
export function etagOf(text: string, type: string): string {
  return `"${createHash('sha256').update(type).update(text).digest('base64url').slice(0, 27)}"`
}

/** The text, or 304 when the client has it. */
export function withEtag(context: Context, text: string, type: string, caching?: string): Promise<Response> {
  return sendEntity(context, { etag: etagOf(text, type), type, body: text }, caching)
}

/** The entity, or 304 when the client has it. Unless told otherwise, caches ask each time: what a player hides must be gone at once. */
export async function sendEntity(
  context: Context,
  { etag, type, body }: Entity,
  caching = 'no-cache',
): Promise<Response> {
  context.header('ETag', etag)
  context.header('Cache-Control', caching)
  const known = (context.req.header('if-none-match') ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''))
  if (known.includes(etag) || known.includes('*')) return context.body(null, 304)
  return context.body(typeof body === 'function' ? await body() : body, 200, { 'content-type': type })
}
