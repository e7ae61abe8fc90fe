import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Clock } from '../../base/clock.ts'
import type { Outgoing } from './fault.ts'

/** In how many pieces a body comes, and how long that takes. No pause is as long as what a client waits for the next piece. */
const slow = { drip: { drops: 10, ms: 30_000 }, trickle: { drops: 40, ms: 600_000 } } as const

/** Sends a spoilt response, or breaks the connection as it demands. */
export function deliver(answer: Outgoing, { incoming, outgoing }: HttpBindings, clock: Clock): Response {
  const { status, headers, body, delivery } = answer
  // Left to itself, the server would tell the machine's own time.
  outgoing.sendDate = headers.has('date')
  if (delivery === 'reset') {
    incoming.socket.resetAndDestroy()
    return RESPONSE_ALREADY_SENT
  }
  if (delivery === 'cut') {
    outgoing.writeHead(status, { ...Object.fromEntries(headers), 'content-length': String(body.length) })
    outgoing.write(body.subarray(0, Math.floor(body.length / 2)), () => incoming.socket.destroy())
    return RESPONSE_ALREADY_SENT
  }
  return new Response(delivery === undefined ? body : dripping(body, clock, slow[delivery]), { status, headers })
}

/** The body in so many pieces, a pause of the sandbox's clock before each but the first. */
function dripping(
  body: Uint8Array<ArrayBuffer>,
  clock: Clock,
  { drops, ms }: { readonly drops: number; readonly ms: number },
): ReadableStream<Uint8Array> {
  const size = Math.max(1, Math.ceil(body.length / drops))
  const gone = new AbortController()
  let sent = 0
  return new ReadableStream({
    async pull(stream) {
      try {
        if (sent > 0) await clock.sleep(ms / drops, gone.signal)
      } catch {
        return
      }
      stream.enqueue(body.subarray(sent, sent + size))
      sent += size
      if (sent >= body.length) stream.close()
    },
    cancel: () => gone.abort(),
  })
}
