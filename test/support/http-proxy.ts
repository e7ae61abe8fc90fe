import { createServer, type IncomingMessage } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterwards } from './afterwards.ts'
import type { Certificate } from './certificates.ts'

export interface HttpProxy {
  readonly url: string
  /** To what it was asked to connect, `host:port`. */
  readonly asked: readonly string[]
  readonly headers: readonly IncomingMessage['headers'][]
}

/**
 * A proxy on this machine that opens tunnels.
 * @param to URL of the server that all of them lead to, whatever host is asked for
 * @param answer status of the answer to the n-th CONNECT (from 0); another than 200 opens no tunnel
 */
export async function openHttpProxy(
  to: string,
  {
    answer = () => 200,
    tls,
  }: { answer?: (nth: number, headers: IncomingMessage['headers']) => number; tls?: Certificate } = {},
): Promise<HttpProxy> {
  const asked: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const sockets = new Set<Socket>()
  const server = tls ? createTlsServer(tls) : createServer()
  server.on('connect', (request: IncomingMessage, near: Socket) => {
    const status = answer(asked.length, request.headers)
    asked.push(request.url ?? '')
    headers.push(request.headers)
    near.on('error', () => {})
    if (status === 0) return void near.destroy()
    if (status !== 200) return void near.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`)
    const far = connect(Number(new URL(to).port), '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n')
      far.pipe(near).pipe(far)
    })
    far.on('error', () => near.destroy())
    for (const socket of [near, far]) sockets.add(socket)
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  afterwards(async () => {
    for (const socket of sockets) socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`, asked, headers }
}
