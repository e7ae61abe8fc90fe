import { setTimeout as sleep } from 'node:timers/promises'
import { getConnInfo } from '@hono/node-server/conninfo'
import { type Context, Hono } from 'hono'
import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { Database } from '../db/database.ts'
import { hostFilter } from '../monitoring/host-names.ts'
import { type Address, type HttpServer, listen } from '../monitoring/listen.ts'
import type { NameFinders } from '../questions/asking/names.ts'
import { addApi, servedQuestions } from './api/routes.ts'
import { addChanges } from './changes/changes.ts'
import { type ExportOptions, type ExportResult, exportSite, readingAhead } from './export/export-site.ts'
import { addFeeds } from './feeds/feeds.ts'
import { cors } from './http/cors.ts'
import { createKeys } from './http/keys.ts'
import { withoutSlash } from './http/origin.ts'
import { createBuild, watchLateness } from './http/page-cache.ts'
import { Problem, problemOf, problemPage, problemResponse, problems } from './http/problems.ts'
import { createRateLimit, rateLimitHeaders } from './http/rate-limit.ts'
import { knownPatches } from './known-patches.ts'
import { addMcp, MCP_PATH, type RespondMcp } from './mcp/mcp-routes.ts'
import { addLiveMap, addPages, addPictures, firstPages, type Site } from './pages/routes.ts'
import { addSiteFiles } from './pages/site-files.ts'
import { openPictures } from './pictures/pictures.ts'
import { type Answers, openReader } from './reading.ts'

export interface WebOptions extends Address {
  /** Allowed host names besides addresses and `localhost`. */
  readonly hostNames?: readonly string[]
  /** Requests a minute and address; with a key ten times as many; 0 for no limit. */
  readonly requestsPerMinute: number
  /** Whether answers about single players are served. */
  readonly people: boolean
  /** How long a statement may take on a server, ms. */
  readonly timeoutMs: number
  /** Whether the same thread syncs, which goes before answering. */
  readonly isBesideSync?: boolean
  readonly version: string
  /** Whether the pages that readers begin with are made once, while nothing else is asked. */
  readonly makesFirstPages?: boolean
  /** What pages call the program: version and commit. */
  readonly release?: string
  /** The origin whose pages may read data, `*` for all. */
  readonly cors?: string | undefined
  /** Serves the tools of assistants, too. */
  readonly mcp?: RespondMcp | undefined
}

export interface WebContext {
  readonly db: Database
  readonly finders: NameFinders
  readonly clock: Clock
  readonly log: Log
}

/** For every answer: nothing is framed, guessed at, sent on or run. */
const headers = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** How long the address is kept back for the first page, ms: where another process works in the database, it would wait for that. */
const FIRST_PAGE_WAIT_MS = 2000

/**
 * Serves the pages and the read API until `close`.
 * @throws UsageError when the port is unavailable
 */
export async function serveWeb(context: WebContext, options: WebOptions): Promise<HttpServer> {
  const { host, port, flag } = options
  const { app, site } = await createSite(context, options)
  const server = await listen(app.fetch, { host, port, flag })
  if (!options.makesFirstPages || context.db.kind === 'server') return server
  const ending = new AbortController()
  // What fails here fails again, and is said, when it is asked for.
  const { home, whileIdle } = firstPages(site)
  const ended = () => undefined
  // Readers open it as soon as the address is printed. A sync is not kept waiting for it.
  if (!options.isBesideSync)
    await Promise.race([home().catch(ended), sleep(FIRST_PAGE_WAIT_MS, undefined, { ref: false })])
  const made = whileIdle(ending.signal).catch(ended)
  const close = async () => {
    ending.abort()
    await Promise.all([server.close(), made])
  }
  return { ...server, close }
}

/** How long a statement of an export may take, ms. */
const EXPORT_TIMEOUT_MS = 60_000

/** Writes the pages into a folder, all as of one instant. @throws UsageError when the folder has files of others */
export async function exportWeb(
  { clock, ...context }: WebContext,
  {
    people,
    version,
    ...wanted
  }: Pick<WebOptions, 'people' | 'version'> & Pick<ExportOptions, 'dir' | 'onPage' | 'onFailed'>,
): Promise<ExportResult> {
  const now = clock.now()
  const host = '127.0.0.1'
  const site = { host, port: 0, flag: '--port', requestsPerMinute: 0, people, version, timeoutMs: EXPORT_TIMEOUT_MS }
  const { ahead, expect } = readingAhead()
  const exported = { ...context, clock: { ...clock, now: () => now }, ahead }
  const { app } = await createSite(exported, site, new Map())
  const request = async (path: string, waiting: readonly string[]) => {
    expect(waiting)
    return await app.request(`http://${host}${path}`, { headers: { host } })
  }
  return await exportSite({ ...wanted, version, request, madeAt: new Date(now) })
}

async function createSite(
  { db, finders, clock, log, ahead }: WebContext & Pick<Site, 'ahead'>,
  options: WebOptions,
  kept?: Answers,
): Promise<{ readonly app: Hono; readonly site: Site }> {
  const { host, hostNames = [], people, version, release = version } = options
  const reader = await openReader(db, options.timeoutMs, kept)
  const served = servedQuestions(reader, clock, people)
  const app = new Hono()
  const isAllowed = hostFilter([host, ...hostNames])
  const allowanceOf = createRateLimit(options.requestsPerMinute, clock)
  const keyAllowanceOf = createRateLimit(10 * options.requestsPerMinute, clock)
  const keyOf = createKeys(reader, clock)
  app.use(async (context, next) => {
    for (const [name, value] of Object.entries(headers)) context.header(name, value)
    if (!isAllowed(context.req.header('host')))
      throw new Problem('wrong-host', { detail: 'WYNNSYNC_WEB_HOSTS names more hosts' })
    await next()
  })
  if (options.cors !== undefined) app.use(cors(options.cors))
  const methodsOf = (path: string) => (options.mcp && path === MCP_PATH ? ['POST'] : ['GET', 'HEAD'])
  app.use(async (context, next) => {
    if (!methodsOf(context.req.path).includes(context.req.method)) throw new Problem('method-not-allowed')
    const place = withoutSlash(new URL(context.req.url))
    if (place !== undefined) return context.redirect(place, 308)
    return await reader.request(next)
  })
  const count = (context: Context) => {
    if (options.requestsPerMinute === 0) return
    const key: string | undefined = context.get('key')
    const allowance = key === undefined ? allowanceOf(getConnInfo(context).remote.address ?? '') : keyAllowanceOf(key)
    if (!allowance) return
    for (const [name, value] of Object.entries(rateLimitHeaders(allowance))) context.header(name, value)
    if (allowance.remaining >= 0) return
    context.header('Retry-After', String(allowance.reset))
    throw new Problem('too-many-requests')
  }
  app.use(async (context: Context, next) => {
    const key = await keyOf(context)
    // Each guess counts.
    if (key === null) count(context)
    if (key === null) throw new Problem('wrong-key', { detail: 'make one: wynnsync web-key add NAME' })
    context.set('key', key)
    await next()
  })
  app.use('/api/v1/*', async (context, next) => {
    count(context)
    await next()
  })
  const build = createBuild({ lateness: options.isBesideSync ? watchLateness() : undefined })
  const api = { reader, finders, clock, served, version }
  addApi(app, { ...api, build })
  if (options.mcp) addMcp(app, api, { build, respond: options.mcp, cors: options.cors, count })
  const made = { pictures: openPictures(), patchesOf: knownPatches() }
  const site: Site = { ...made, ...api, build, people, version: release, count, ahead }
  addPages(app, site)
  addPictures(app, site)
  addLiveMap(app, site)
  addFeeds(app, site)
  addSiteFiles(app)
  addChanges(app, site)
  addErrors(app, { log, methodsOf })
  return { app, site }
}

interface Failing {
  readonly log: Log
  readonly methodsOf: (path: string) => readonly string[]
}

/** What a request that fails is answered with: a document where programs ask, else a small page. */
function addErrors(app: Hono, { log, methodsOf }: Failing): void {
  const respond = (context: Context, problem: Problem) =>
    /^\/(api\/|changes\/|feeds\/|(openapi|map)\.json$|mcp$)/.test(context.req.path)
      ? problemResponse(context, problem)
      : problemPage(context, problem)
  app.notFound((context) => {
    context.header('Cache-Control', 'no-store')
    return respond(context, new Problem('not-found'))
  })
  app.onError((error, context) => {
    const problem = problemOf(error)
    if (problem.problem === 'internal' || problem.problem === 'other-version')
      log.error({ err: error, path: context.req.path }, 'a request failed')
    if (problem.problem === 'method-not-allowed') context.header('Allow', methodsOf(context.req.path).join(', '))
    if (problem.problem === 'wrong-key') context.header('WWW-Authenticate', 'Bearer')
    if (problems[problem.problem].status === 503 && problem.problem !== 'other-version')
      context.header('Retry-After', '5')
    context.header('Cache-Control', 'no-store')
    return respond(context, problem)
  })
}
