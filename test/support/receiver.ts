import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterwards } from './afterwards.ts'

/** A server on this machine that keeps what is posted to it. */
export interface Receiver {
  readonly url: string
  /** The bodies, in the order they came. */
  readonly got: Record<string, unknown>[]
  /** The headers of each. */
  readonly headers: IncomingHttpHeaders[]
  /** Resolves when that many bodies have come. */
  until(count: number): Promise<void>
}

/**
 * Opens a receiver for the calling test.
 * @param answer status of the n-th answer (from 0), or null to give none
 * @param answerHeaders headers of an answer with a status
 */
export async function openReceiver(
  answer: (nth: number) => number | null = () => 204,
  answerHeaders: (status: number) => Record<string, string> = () => ({}),
): Promise<Receiver> {
  const got: Record<string, unknown>[] = []
  const headers: IncomingHttpHeaders[] = []
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    request.on('end', () => {
      got.push(JSON.parse(text))
      headers.push(request.headers)
      const status = answer(got.length - 1)
      if (status !== null) response.writeHead(status, answerHeaders(status)).end()
      for (const look of waiting) look()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterwards(async () => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/of-a-secret-name`,
    got,
    headers,
    until: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (got.length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
  }
}
