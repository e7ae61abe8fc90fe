import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Served } from './responses.ts'

/** A server on loopback that sends the given responses. */
export interface MutatingServer {
  readonly url: string
  close(): Promise<void>
}

/** @param answer what to answer a path and query with */
export async function startMutatingServer(
  answer: (target: string) => Promise<Served> | Served,
): Promise<MutatingServer> {
  const server = createServer(async (request, response) => {
    send(await answer(request.url ?? ''), response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function send({ status, headers, body, delivery }: Served, response: ServerResponse): void {
  response.sendDate = false
  const length = String(body.length)
  switch (delivery) {
    case 'reset':
      return void response.socket?.resetAndDestroy()
    case 'no http':
      return void response.socket?.end('nothing that is HTTP\r\n\r\n')
    case 'stall':
      return
    case 'trickle': {
      response.writeHead(status, { ...headers, 'content-length': length })
      const timer = setInterval(() => response.write(' '), 5)
      return void response.on('close', () => clearInterval(timer))
    }
    case 'cut':
      response.writeHead(status, { ...headers, 'content-length': length })
      return void response.write(body.subarray(0, body.length / 2), () => response.socket?.destroy())
    case 'too short':
    case 'too long': {
      const length = delivery === 'too short' ? body.length + 50 : Math.max(0, body.length - 50)
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      const head = `HTTP/1.1 200 OK\r\n${lines.join('')}content-length: ${length}\r\nconnection: close\r\n\r\n`
      return void response.socket?.end(Buffer.concat([Buffer.from(head, 'latin1'), body]))
    }
  }
  response.writeHead(status, headers)
  response.end(status === 204 || status === 304 ? undefined : body)
}
