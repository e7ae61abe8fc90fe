import { Hono } from 'hono'
import { hostFilter } from './host-names.ts'
import { type Address, type HttpServer, listen } from './listen.ts'
import { METRICS_TYPE } from './metrics.ts'

interface MetricsServerOptions extends Omit<Address, 'flag'> {
  /** Allowed host names besides addresses and `localhost`. */
  readonly hostNames?: readonly string[]
  readonly metrics: () => Promise<string>
  /** What is wrong; nothing when all is well. */
  readonly problems: () => Promise<readonly string[]>
  /** What is odd, and nothing to wait for. */
  readonly warnings: () => Promise<readonly string[]>
}

/**
 * Serves `/metrics` for Prometheus and `/healthz` (200 when all is well, 503 with what is wrong). A request for another
 * host name is refused with 421.
 * @throws UsageError when the port is unavailable
 */
export async function serveMetrics(options: MetricsServerOptions): Promise<HttpServer> {
  const { host, port, metrics, problems, warnings, hostNames = [] } = options
  const app = new Hono()
  const isAllowed = hostFilter([host, ...hostNames])
  app.use(async (context, next) => {
    if (isAllowed(context.req.header('host'))) return await next()
    return context.text('not served under this host name; WYNNSYNC_METRICS_HOSTS names more\n', 421)
  })
  app.get('/metrics', async (context) => context.body(await metrics(), 200, { 'content-type': METRICS_TYPE }))
  app.get('/healthz', async (context) => {
    const wrong = await problems()
    const odd = await warnings()
    const said = { healthy: wrong.length === 0, problems: wrong, ...(odd.length > 0 ? { warnings: odd } : {}) }
    return context.json(said, wrong.length === 0 ? 200 : 503)
  })
  return await listen(app.fetch, { host, port, flag: '--metrics-port' })
}
