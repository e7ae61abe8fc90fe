import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { version, versionWithCommit } from '../../../app/app.ts'
import type { Clock } from '../../../base/clock.ts'
import { codeOf, UsageError } from '../../../base/errors.ts'
import { wholeNumber } from '../../../base/settings.ts'
import type { Database } from '../../../db/database.ts'
import { isLoopback } from '../../../monitoring/host-names.ts'
import type { HttpServer } from '../../../monitoring/listen.ts'
import { nameFinders } from '../../../resources/key-names.ts'
import { peopleNotice } from '../../../web/people.ts'
import { exportWeb, serveWeb } from '../../../web/web-server.ts'
import type { Context } from '../../context.ts'
import { marker } from '../demo/demo-command.ts'

export interface WebFlags {
  readonly public?: boolean
  /** False with `--no-people`. */
  readonly people?: boolean
  readonly rateLimit?: string
  readonly cors?: string
  readonly mcp?: boolean
}

/** How long a statement may take, ms. */
const STATEMENT_TIMEOUT_MS = 5000
const usualLimit = 60

/**
 * Where to listen, checked before anything is opened. @param prefix of the flags of port and host
 * @throws UsageError when a number is none, or other machines would reach the address without `--public`
 */
export function webOptionsOf(prefix: '--' | '--web-', port: string, address: string | undefined, flags: WebFlags) {
  const host = address ?? (flags.public ? '0.0.0.0' : '127.0.0.1')
  if (!flags.public && !isLoopback(host)) {
    throw new UsageError(`${prefix}host ${host} lets other machines connect: add --public. ${peopleNotice}`.trimEnd())
  }
  return {
    host,
    flag: `${prefix}port`,
    port: wholeNumber(`${prefix}port`, port, 65_535),
    people: flags.people !== false,
    requestsPerMinute: flags.rateLimit === undefined ? usualLimit : wholeNumber('--rate-limit', flags.rateLimit),
    timeoutMs: STATEMENT_TIMEOUT_MS,
    version,
    release: versionWithCommit(),
    cors: originOf(flags.cors),
    isForAssistants: flags.mcp === true,
  }
}

/** @throws UsageError when it is no origin */
function originOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '*') return text
  const origin = URL.canParse(text) ? new URL(text).origin : 'null'
  if (/^https?:/.test(origin) && origin === text.replace(/\/$/, '').toLowerCase()) return origin
  throw new UsageError(`--cors must be an origin such as https://example.org, or *; got ${text}`)
}

/** Serves tools of assistants. @throws UsageError where the package for it is not installed */
export async function loadMcp(command: string) {
  return await import('../../../web/mcp/mcp-server.ts').catch((error: unknown) => {
    if (!/MODULE_NOT_FOUND$/.test(String(codeOf(error)))) throw error
    throw new UsageError(`${command} needs a package that is not installed: npm install @modelcontextprotocol/sdk`)
  })
}

/** Time in a demo goes on from its last response: it has no later one. */
async function clockOf({ clock, config }: Context['app'], db: Database): Promise<Clock> {
  if (db.kind !== 'embedded' || !existsSync(join(config.dataDir, marker))) return clock
  const [seen] = await db.query<{ last: Date | null }>('select max(last_observed_at) as last from analytics.freshness')
  const behind = clock.now() - (seen?.last?.getTime() ?? clock.now())
  return { now: () => clock.now() - behind, sleep: clock.sleep }
}

/** Serves the database, and says on stderr what a public server shows of people. */
export async function openWeb(
  { app, err, flags }: Context,
  db: Database,
  options: ReturnType<typeof webOptionsOf> & { readonly isBesideSync?: boolean },
): Promise<HttpServer> {
  const { log, config } = app
  const clock = await clockOf(app, db)
  const mcp = options.isForAssistants ? (await loadMcp('--mcp')).respondMcp : undefined
  const serving = { ...options, mcp, hostNames: config.webHosts, makesFirstPages: true }
  const server = await serveWeb({ db, finders: nameFinders, clock, log }, serving)
  if (!isLoopback(options.host) && options.people && !flags.quiet) err.write(peopleNotice)
  return server
}

/** Writes the pages of the database into a folder, and says on stderr what they show of people. */
export async function writePages(
  { app, err, flags }: Context,
  db: Database,
  wanted: Omit<Parameters<typeof exportWeb>[1], 'version'>,
) {
  const clock = await clockOf(app, db)
  if (wanted.people && !flags.quiet) err.write(peopleNotice)
  const onFailed = (path: string, status: number) =>
    app.log.warn({}, `the page ${path} could not be made: status ${status}`)
  return await exportWeb({ db, finders: nameFinders, clock, log: app.log }, { onFailed, ...wanted, version })
}
