import type { MiddlewareHandler } from 'hono'

/** What programs of other websites may read: no page. */
const open = /^\/(api\/v1\/.+|openapi\.json|feeds\/.+|changes\/.+|map\.json|mcp)$/

/** What they may see of a response, beside its body. */
const exposed = 'ETag, Link, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset'

/**
 * Lets pages of one origin, or of all, read data. There are no cookies, and credentials are never allowed.
 * @param origin `*` for all
 */
export function cors(origin: string): MiddlewareHandler {
  return async (context, next) => {
    if (!open.test(context.req.path)) return await next()
    if (origin !== '*') context.header('Vary', 'Origin', { append: true })
    const asking = context.req.header('origin')
    if (asking === undefined || (origin !== '*' && asking !== origin)) return await next()
    context.header('Access-Control-Allow-Origin', origin)
    context.header('Access-Control-Expose-Headers', exposed)
    context.header('Cross-Origin-Resource-Policy', 'cross-origin')
    const isPreflight = context.req.method === 'OPTIONS' && context.req.header('access-control-request-method')
    if (!isPreflight) return await next()
    const isMcp = context.req.path === '/mcp'
    context.header('Access-Control-Allow-Methods', isMcp ? 'POST' : 'GET, HEAD')
    const named = 'Accept, Authorization, X-API-Key, If-None-Match'
    context.header('Access-Control-Allow-Headers', isMcp ? `${named}, Content-Type, Mcp-Protocol-Version` : named)
    context.header('Access-Control-Max-Age', '600')
    return context.body(null, 204)
  }
}
