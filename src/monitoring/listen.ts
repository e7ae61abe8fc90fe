import type { AddressInfo } from 'node:net'
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

/** Starts an HTTP server. @throws UsageError when the port is unavailable */
export async function listen(fetch: Fetch, { host, port, flag }: Address): Promise<HttpServer> {
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false })
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
