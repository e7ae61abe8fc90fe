import type { Context } from 'hono'
import { bounds } from '../../questions/asking/bounds.ts'
import { Problem } from './problems.ts'

/** Where the client found the server: links to pictures and those of feeds must be whole. */
function originOf(context: Context): string {
  const { host } = new URL(context.req.url)
  return `${context.req.header('x-forwarded-proto') === 'https' ? 'https' : 'http'}://${host}`
}

/**
 * What a request for something by name is about: of the query only the parameters that the page reads, each once, so that what others
 * add to an address makes no new page. `key` tells its content from others of the same path.
 * @throws Problem for a NUL, or a parameter that is too long
 */
export function requestOf(context: Context, parameters: readonly string[] = [], ending = /$/) {
  const { search, searchParams } = new URL(context.req.url)
  const query = new URLSearchParams()
  for (const one of parameters) {
    const value = searchParams.get(one) ?? ''
    if (value.length > bounds.characters)
      throw new Problem('bad-argument', {
        detail: `${one} is longer than ${bounds.characters} characters`,
        argument: one,
      })
    if (value !== '') query.set(one, value)
  }
  const name = (context.req.param('name') ?? '').replace(ending, '')
  if (`${name}${search}`.includes('\0') || search.includes('%00')) throw new Problem('not-found')
  return { name, query, origin: originOf(context), key: JSON.stringify([name, String(query)]) }
}

/** Path and query of an address without the slash at its end; undefined when it has none there, and of files of changes. */
export function withoutSlash({ pathname, search }: URL): string | undefined {
  // One slash at the beginning: two would name another host.
  const place = pathname.replace(/^\/+/, '/').replace(/(?<=[^/])\/+$/, '')
  return pathname.endsWith('/') && !pathname.startsWith('/changes/') && place !== '/' ? `${place}${search}` : undefined
}
