import type { EventEmitter } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { cannotListen } from '../base/errors.ts'

/** What responds to a request. */
type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch']

export interface Address {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** The flag that sets the port, for the message. */
  readonly flag: string
}

export interface HttpServer {
  /** `http://127.0.0.1:9464` */
  readonly url: string
  close(): Promise<void>
}

/** How long a client may take for a response, ms, and for each byte of it beside. */
const PACE = { wait: 60_000, perByte: 1 }

/** Ends connections of clients that read so slowly that they would keep a response, and its memory, for ever. */
function endSlow(server: EventEmitter, { wait, perByte }: typeof PACE): void {
  const every = wait / 10
  server.on('connection', (socket: Socket) => {
    let sentBefore: number | undefined
    let waited = 0
    const look = () => {
      if (socket.writableLength === 0) sentBefore = undefined
      else if (sentBefore === undefined) {
        sentBefore = socket.bytesWritten - socket.writableLength
        waited = 0
      } else waited += every
      if (sentBefore !== undefined && waited > wait + perByte * (socket.bytesWritten - sentBefore)) socket.destroy()
      timer.refresh()
    }
    const timer = setTimeout(look, every).unref()
    socket.once('close', () => clearTimeout(timer))
  })
}

/** Starts an HTTP server. @throws UsageError when the port is unavailable */
export async function listen(fetch: Fetch, { host, port, flag }: Address, pace = PACE): Promise<HttpServer> {
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false })
  endSlow(server, pace)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, { host, port, flag })))
    server.listen(port, host, () => resolve())
  })
  const { address, family, port: taken } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        if ('closeAllConnections' in server) server.closeAllConnections()
      }),
  }
}
