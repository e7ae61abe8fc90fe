import type { Context } from 'hono'

/** Where the client found the server: links to pictures and those of feeds must be whole. */
export function originOf(context: Context): string {
  const { host } = new URL(context.req.url)
  return `${context.req.header('x-forwarded-proto') === 'https' ? 'https' : 'http'}://${host}`
}

/** Path and query of an address without the slash at its end; undefined when it has none there, and of files of changes. */
export function withoutSlash({ pathname, search }: URL): string | undefined {
  // One slash at the beginning: two would name another host.
  const place = pathname.replace(/^\/+/, '/').replace(/(?<=[^/])\/+$/, '')
  return pathname.endsWith('/') && !pathname.startsWith('/changes/') && place !== '/' ? `${place}${search}` : undefined
}
