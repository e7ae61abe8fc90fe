import type { Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import type { Api } from '../api/routes.ts'
import type { Build } from '../http/page-cache.ts'
import { Problem } from '../http/problems.ts'

/** Where assistants send their messages. */
export const MCP_PATH = '/mcp'

/** Answers a message; it comes with a package that need not be installed. */
export type RespondMcp = (api: Api, request: Request) => Promise<Response>

/** Bytes of a message. */
const MESSAGE_BYTES = 64 * 1024

interface Serving {
  readonly build: Build
  readonly respond: RespondMcp
  /** The origin of whose pages requests are taken besides those of this server. */
  readonly cors: string | undefined
  /** Counts a message. @throws Problem when the limit of the address is reached */
  count(context: Context): void
}

/** Adds the tools of assistants over HTTP: one message in a request, whose answer is JSON. */
export function addMcp(app: Hono, api: Api, { build, respond, cors, count }: Serving): void {
  const onError = () => {
    throw new Problem('bad-argument', { detail: `a message has at most ${MESSAGE_BYTES} bytes` })
  }
  app.post(MCP_PATH, bodyLimit({ maxSize: MESSAGE_BYTES, onError }), async (context) => {
    refuseOrigin(context, cors)
    count(context)
    context.header('Cache-Control', 'no-store')
    const body = await context.req.text()
    // Of several messages each would be an answer.
    if (/^\s*\[/.test(body)) throw new Problem('bad-argument', { detail: 'one message in a request' })
    const { url, headers } = context.req.raw
    const request = new Request(url, { method: 'POST', headers, body })
    const response = await build(() => respond(api, request))
    for (const [name, value] of response.headers) context.header(name, value)
    return context.newResponse(await response.arrayBuffer(), response)
  })
}

/** @throws Problem for a request that a page of another origin sends */
function refuseOrigin(context: Context, cors: string | undefined): void {
  const origin = context.req.header('origin')
  if (origin === undefined || cors === '*' || origin === cors) return
  const host = /^https?:\/\/(.+)$/.exec(origin)?.[1]
  if (host === context.req.header('host')) return
  throw new Problem('wrong-origin', { detail: '--cors names the origin whose pages may send requests' })
}
