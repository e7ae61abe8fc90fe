import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import { UsageError } from '../app/errors.ts'
import { hostFilter } from './host-names.ts'
import { METRICS_TYPE } from './metrics-text.ts'

/** Where to listen, and what to serve. */
export interface MetricsServerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Allowed host names besides addresses and `localhost`. */
  readonly hostNames?: readonly string[]
  /** The text of `/metrics`. */
  readonly metrics: () => Promise<string>
  /** What is wrong; nothing when all is well. */
  readonly problems: () => Promise<readonly string[]>
}

/** The HTTP server of metrics and health. */
export interface MetricsServer {
  /** `http://127.0.0.1:9464` */
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves `/metrics` for Prometheus and `/healthz` (200 when all is well, 503 with what is wrong). A request for another
 * host name is refused with 421.
 * @throws UsageError when the port is unavailable
 */
export async function serveMetrics(options: MetricsServerOptions): Promise<MetricsServer> {
  const { host, port, metrics, problems, hostNames = [] } = options
  const app = new Hono()
  const isAllowed = hostFilter([host, ...hostNames])
  app.use(async (context, next) => {
    if (isAllowed(context.req.header('host'))) return await next()
    return context.text('not served under this host name; WYNNSYNC_METRICS_HOSTS names more\n', 421)
  })
  app.get('/metrics', async (context) => context.body(await metrics(), 200, { 'content-type': METRICS_TYPE }))
  app.get('/healthz', async (context) => {
    const wrong = await problems()
    return context.json({ healthy: wrong.length === 0, problems: wrong }, wrong.length === 0 ? 200 : 503)
  })
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new UsageError(`--metrics-port ${port}: cannot listen on ${host} (${error.code ?? error.message})`)),
    )
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
