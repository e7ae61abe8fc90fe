import type { Context } from 'hono'
import { Problem } from './problems.ts'

/** Where the client found the server: links to pictures and those of feeds must be whole. */
export function originOf(context: Context): string {
  const { host } = new URL(context.req.url)
  return `${context.req.header('x-forwarded-proto') === 'https' ? 'https' : 'http'}://${host}`
}

/** What a request for something by name is about, and an address that tells its content from others. @throws Problem for a NUL */
export function requestOf(context: Context, ending = /$/) {
  const { pathname, search, searchParams: query } = new URL(context.req.url)
  const name = (context.req.param('name') ?? '').replace(ending, '')
  if (`${name}${search}`.includes('\0') || search.includes('%00')) throw new Problem('not-found')
  const origin = originOf(context)
  return { name, query, origin, address: `${origin}${pathname}${search}` }
}

/** Path and query of an address without the slash at its end; undefined when it has none there, and of files of changes. */
export function withoutSlash({ pathname, search }: URL): string | undefined {
  // One slash at the beginning: two would name another host.
  const place = pathname.replace(/^\/+/, '/').replace(/(?<=[^/])\/+$/, '')
  return pathname.endsWith('/') && !pathname.startsWith('/changes/') && place !== '/' ? `${place}${search}` : undefined
}
