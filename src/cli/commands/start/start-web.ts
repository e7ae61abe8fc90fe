import { openDatabase } from '../../../app/app.ts'
import type { Database } from '../../../db/database.ts'
import type { HttpServer } from '../../../monitoring/listen.ts'
import type { Context } from '../../context.ts'
import { refuseWithout } from '../../options.ts'
import type { WebFlags, webOptionsOf } from '../serve/open-web.ts'

export interface StartWebFlags extends WebFlags {
  readonly webPort?: string
  readonly webHost?: string
}

type WebOptions = ReturnType<typeof webOptionsOf>

/** Where to serve; undefined without `--web-port`. The server is loaded only when it is used. @throws UsageError */
export async function startWebOptions(given: StartWebFlags) {
  refuseWithout(given, '--web-port', ['--web-host', '--public', '--no-people', '--rate-limit', '--cors', '--mcp'])
  const { webPort: port, webHost: host, ...flags } = given
  if (port === undefined) return undefined
  const { webOptionsOf } = await import('../serve/open-web.ts')
  return webOptionsOf('--web-', port, host, flags)
}

/** Serves beside the sync: from connections of its own, so that no poll waits for a reader; the embedded database has one. */
export async function openStartWeb(context: Context, db: Database, options: WebOptions): Promise<HttpServer> {
  const { openWeb } = await import('../serve/open-web.ts')
  const own = db.kind === 'server' ? await openDatabase(context.app, ['serve']) : undefined
  try {
    const server = await openWeb(context, own ?? db, { ...options, isBesideSync: true })
    context.app.log.info({ url: server.url }, 'pages and the read API are served')
    return { url: server.url, close: () => server.close().finally(() => own?.close()) }
  } catch (error) {
    await own?.close()
    throw error
  }
}
