import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../app/app.ts'
import { watchFileOf } from '../base/config.ts'
import type { Database, Sql } from '../db/database.ts'
import type { Watching } from './watches/watching.ts'
import type { Webhook } from './webhook.ts'

/** The configured webhook, or one that sends nothing. */
export async function webhookOf({ config, clock, log }: App): Promise<Webhook> {
  if (config.webhookUrl === undefined) return { notify: () => {}, ran: () => {}, close: async () => {} }
  // Most have none, and a poll without watches needs none either.
  const { openWebhook } = await import('./webhook.ts')
  return openWebhook({
    url: config.webhookUrl,
    clock,
    proxy: config.proxy,
    memory: join(config.dataDir, 'webhook.json'),
    warn: (message) => log.warn({}, message),
  })
}

/** Whether there are watches, or may be in the file of an earlier version. */
export async function hasWatches({ config }: App, sql: Sql): Promise<boolean> {
  if (existsSync(watchFileOf(config))) return true
  const [row] = await sql.query<{ has: boolean }>('select exists (select from sync.watch) as has')
  return row?.has === true
}

/** What delivers the messages of watches, from this database. */
export async function watchingOf({ config, clock, log }: App, db: Database): Promise<Watching> {
  const { openWatching } = await import('./watches/watching.ts')
  const { proxy } = config
  return openWatching({ db, file: watchFileOf(config), clock, proxy, warn: (message) => log.warn({}, message) })
}
