import type { Context, Hono } from 'hono'
import type { Clock } from '../../base/clock.ts'
import { instantOf } from '../../base/text/instants.ts'
import { plainSpelling } from '../../base/text/nearest.ts'
import type { Sql } from '../../db/database.ts'
import { apiPage } from '../api/api-page.ts'
import type { Asking } from '../api/routes.ts'
import { type Health, readHealth } from '../html/health.ts'
import { type Ahead, type Build as BuildPage, type Page, pagePolicy, pageText, type Visit } from '../html/page.ts'
import { periodParameters } from '../html/period.ts'
import { type Entity, entityOf, etagOf, keptBytes, ORIGIN, sendEntity, type Written, written } from '../http/etag.ts'
import { requestOf } from '../http/origin.ts'
import { type Build, createPageCache, shared } from '../http/page-cache.ts'
import { Problem, problemOf } from '../http/problems.ts'
import type { PatchesOf } from '../known-patches.ts'
import { liveMap } from '../live/live-map.ts'
import { type Card, type Pictures, picturePath } from '../pictures/pictures.ts'
import { capturesPage, recordsPage } from './captures.ts'
import { gainedPage } from './gained.ts'
import { guildPage } from './guild.ts'
import { guildsPage } from './guilds.ts'
import { homePage } from './home.ts'
import { itemPage } from './item.ts'
import { itemParameters, itemsPage } from './items.ts'
import { mapPage } from './map.ts'
import { patchesPage, patchPage } from './patches.ts'
import { playerPage } from './players.ts'
import { listPages, questsPage } from './recorded.ts'
import { runPage, runsPage } from './runs.ts'
import { searchPage } from './search.ts'
import { statusPage } from './status.ts'
import { territoriesPage, territoryPage } from './territories.ts'
import { leaderboardPage, leaderboardsPage, poolsPage } from './world-content.ts'
import { worldsPage } from './worlds.ts'

export interface Site extends Asking {
  /** Whether single players are shown. */
  readonly people: boolean
  readonly version: string
  readonly patchesOf: PatchesOf
  readonly pictures?: Pictures | undefined
  readonly build: Build
  readonly ahead?: Ahead | undefined
  /** Counts a page that is made. @throws Problem when the limit of the address is reached */
  count(context: Context): void
}

/** Every page by its path; what players hide later must be gone at once, so pages that name them are shared only while they are made. */
const pages: readonly {
  readonly path: string
  readonly build: BuildPage
  readonly namesPlayers?: boolean
  /** Whether it is about one player or a list of players: no search engine keeps it, and it has no picture. */
  readonly isPersonal?: boolean
  readonly kind?: Parameters<typeof pagePolicy>[0]
  /** Whether it shows nothing that happened after its period: where this is long over, caches may keep it. */
  readonly isOfPeriod?: boolean
  /** The parameters that it reads. */
  readonly parameters?: readonly string[]
}[] = [
  { path: '/', build: homePage, namesPlayers: true, kind: 'home', parameters: periodParameters },
  {
    path: '/gained',
    build: gainedPage,
    namesPlayers: true,
    isPersonal: true,
    parameters: ['kind', 'counter', 'entity', 'value', ...periodParameters],
  },
  { path: '/search', build: searchPage, namesPlayers: true, isPersonal: true, parameters: ['q'] },
  { path: '/status', build: statusPage, parameters: periodParameters },
  {
    path: '/runs',
    build: runsPage,
    isOfPeriod: true,
    parameters: ['resource', 'failed', 'sort', 'page', ...periodParameters],
  },
  { path: '/runs/:name', build: runPage },
  { path: '/api', build: apiPage },
  { path: '/map', build: mapPage, kind: 'map', isOfPeriod: true, parameters: ['at', ...periodParameters] },
  {
    path: '/captures',
    build: capturesPage,
    isOfPeriod: true,
    parameters: ['guild', 'territory', 'sort', 'page', ...periodParameters],
  },
  { path: '/records', build: recordsPage, isOfPeriod: true, parameters: periodParameters },
  { path: '/territories', build: territoriesPage, parameters: ['sort', 'page', ...periodParameters] },
  { path: '/territories/:name', build: territoryPage, parameters: periodParameters },
  { path: '/guilds', build: guildsPage, parameters: ['q', 'sort', 'page', ...periodParameters] },
  {
    path: '/guilds/:name',
    build: guildPage,
    namesPlayers: true,
    parameters: ['sort', 'rival', ...periodParameters],
  },
  { path: '/items', build: itemsPage, isOfPeriod: true, parameters: itemParameters },
  { path: '/items/:name', build: itemPage, kind: 'item', parameters: ['patch', 'a', 'b', 'page', ...periodParameters] },
  { path: '/players/:name', build: playerPage, namesPlayers: true, isPersonal: true, parameters: periodParameters },
  { path: '/patches', build: patchesPage, isOfPeriod: true, parameters: ['sort', 'page', ...periodParameters] },
  { path: '/patches/:name', build: patchPage },
  { path: '/worlds', build: worldsPage, parameters: ['sort', ...periodParameters] },
  { path: '/pools', build: poolsPage, isOfPeriod: true, parameters: ['q', ...periodParameters] },
  ...listPages.map((page) => ({ ...page, isOfPeriod: true, parameters: ['q', 'sort', 'page', ...periodParameters] })),
  { path: '/quests', build: questsPage, isOfPeriod: true, parameters: ['page', ...periodParameters] },
  { path: '/leaderboards', build: leaderboardsPage, parameters: periodParameters },
  {
    path: '/leaderboards/:name',
    build: leaderboardPage,
    namesPlayers: true,
    isPersonal: true,
    parameters: periodParameters,
  },
]

/**
 * The pages that readers begin with, each made once: the first page of a process costs several times what it costs later, because the
 * embedded database reads its catalogue, and its code is compiled.
 */
export function firstPages(site: Site) {
  const make = async (sql: Sql, build: BuildPage, name = '', query = '') => {
    const { people, version, clock } = site
    const page = await build(visitOf(site, sql, { name, query: new URLSearchParams(query) }))
    if (typeof page === 'string') return
    await pageText(page, { version, people, health: await readHealth(sql, new Date(clock.now())) })
  }
  return {
    /** Makes the one at `/` at once. */
    home: async () => await site.reader.read((sql) => make(sql, homePage)),
    /** Makes all while the database is free. @throws when the signal is aborted */
    whileIdle: async (signal: AbortSignal) => {
      const later = async (...page: readonly [BuildPage, string?, string?]) =>
        await site.reader.whileIdle(signal, (sql) => make(sql, ...page))
      const [guild] = await site.reader.whileIdle(signal, (sql) =>
        sql.query<{ uuid: string }>(
          'select guild_uuid::text as uuid from analytics.guild order by territories desc nulls last, name collate "C" limit 1',
        ),
      )
      await later(homePage)
      if (guild) await later(guildPage, guild.uuid)
      await later(mapPage)
      await later(gainedPage)
      await later(worldsPage)
      await later(searchPage, '', 'q=a')
    },
  }
}

export function addPages(app: Hono, site: Site): void {
  const sizeOf = (page: Written | string) => (typeof page === 'string' ? 0 : page.bytes)
  const kept = createPageCache<Written | string>(site.clock, { sizeOf })
  // Made within a page, which has its session only so long: never for a later one.
  const lasting = { fresh: PART_MS, shown: PART_MS }
  const parts = createPageCache<object>(site.clock, { ...lasting, sizeOf: (part) => JSON.stringify(part).length })
  const made = createPageCache<Written | string>(site.clock, { sizeOf, ...shared })
  const healthOf = createPageCache<Health>(site.clock, { sizeOf: () => 0 })
  const readHealthOf = () => site.reader.read((sql) => readHealth(sql, new Date(site.clock.now())))
  for (const { path, build, namesPlayers = false, isPersonal = false, isOfPeriod = false, kind, parameters } of pages) {
    const isIndexed = !(site.people && namesPlayers)
    app.get(path, async (context) => {
      const { name, query, origin, key } = requestOf(context, [...new Set([...(parameters ?? []), 'sort', 'table'])])
      const make = () => {
        site.count(context)
        return site.build(async () => {
          const keep: NonNullable<Visit['kept']> = async (make) =>
            (await parts(`${path} ${key}`, make)) as Awaited<ReturnType<typeof make>>
          const [page, health] = await Promise.all([
            pageOf(site, { build, name, query, kept: keep }).catch((error) => inOtherCase(error, path, name, query)),
            healthOf('', readHealthOf),
          ])
          if (typeof page === 'string') return page
          const picture = site.pictures && !isPersonal && `${ORIGIN}${picturePath(page.path)}`
          const { version, people } = site
          const serving = { version, people, health, picture: picture || undefined, kind, isIndexed, query }
          return written(await pageText(page, serving), 'text/html; charset=utf-8')
        })
      }
      const page = await (namesPlayers ? made : kept)(`${path} ${key}`, make)
      if (!isIndexed) context.header('X-Robots-Tag', 'noindex')
      if (typeof page === 'string') return context.redirect(page)
      context.header('Content-Security-Policy', pagePolicy(kind))
      return await sendEntity(
        context,
        page.under(origin),
        isOfPeriod && isPast(query, site.clock) ? PAST_CACHE_CONTROL : undefined,
      )
    })
  }
}

/** The path of the one thing, with the query, whose name or prefix differs in its case, spaces or forms of letters alone. @throws the error where there is none, or are several */
function inOtherCase(error: unknown, path: string, name: string, query: URLSearchParams): string {
  const { similar } = problemOf(error).details
  const plain = (one: string) => plainSpelling(one).toLowerCase()
  const isSame = (one: string) => plain(one) === plain(name)
  const found = (Array.isArray(similar) ? similar.map(String) : []).flatMap((label) => {
    const [, plain = label, prefix] = /^(.*) \[([^\]]*)\]$/.exec(label) ?? []
    return isSame(plain) || (prefix !== undefined && isSame(prefix)) ? [plain] : []
  })
  const [one, ...others] = new Set(found)
  if (one === undefined || one === name || others.length > 0) throw error
  return `${path.replace(':name', encodeURIComponent(one))}${query.size > 0 ? `?${query}` : ''}`
}

/** How old parts of a page may be, ms. */
const PART_MS = 10_000

/** What happened in a period that ended long ago changes only with what is loaded later. `yesterday` ends at another instant each day. */
const PAST_CACHE_CONTROL = 'max-age=3600'
const DAY = 86_400_000

function isPast(query: URLSearchParams, clock: Clock): boolean {
  const text = query.get('to') ?? query.get('at') ?? ''
  const to = instantOf(text, clock.now())
  return to !== undefined && /^\s*\d/.test(text) && to.getTime() < clock.now() - DAY
}

/**
 * Adds `/map.json`: who holds what now, for the script of the map. Those who ask within a second share an answer, unless `after` says
 * that they have seen a later change.
 */
export function addLiveMap(app: Hono, site: Site): void {
  const cached = createPageCache<Entity>(site.clock, { fresh: 1000, shown: 1000, sizeOf: keptBytes })
  app.get('/map.json', async (context) => {
    const make = () => {
      site.count(context)
      const read = (sql: Sql) => liveMap(sql, new Date(site.clock.now()))
      return site.build(async () => entityOf(await site.reader.read(read), 'application/json'))
    }
    const after = /^\d{1,15}$/.exec(context.req.query('after') ?? '')?.[0] ?? ''
    return await sendEntity(context, await cached(after, make))
  })
}

/** Adds a picture of every page that is not about players, for sites that show links. */
export function addPictures(app: Hono, site: Site): void {
  const { pictures } = site
  if (!pictures) return
  const made = createPageCache<Card>(site.clock, { sizeOf: () => 0, ...shared })
  const sizeOf = (png: Uint8Array) => png.length
  const drawn = createPageCache<Uint8Array<ArrayBuffer>>(site.clock, { fresh: Infinity, shown: Infinity, sizeOf })
  for (const { path, build, parameters, isPersonal = false } of pages) {
    if (isPersonal) continue
    app.get(picturePath(path).replace(':name.png', ':name{.+\\.png}'), async (context) => {
      const { name, query, key } = requestOf(context, parameters, /\.png$/)
      const make = () => {
        site.count(context)
        return site.build(async () => {
          const page = await pageOf(site, { build, name, query })
          if (typeof page === 'string') throw new Problem('not-found')
          return await pictures(page)
        })
      }
      const { text, png } = await made(`${path} ${key}`, make)
      // Sites may show it: it is made for that.
      context.header('Cross-Origin-Resource-Policy', 'cross-origin')
      const etag = etagOf(text, 'image/png')
      return await sendEntity(context, { etag, type: 'image/png', body: () => drawn(etag, () => site.build(png)) })
    })
  }
}

async function pageOf(
  site: Site,
  { build, ...visit }: { readonly build: BuildPage } & Pick<Visit, 'name' | 'query' | 'kept'>,
): Promise<Page | string> {
  return await site.reader.read((sql) => build(visitOf(site, sql, visit)))
}

function visitOf(
  { people, finders, patchesOf, clock, ahead }: Site,
  sql: Sql,
  visit: Pick<Visit, 'name' | 'query' | 'kept'>,
): Visit {
  return { sql, now: new Date(clock.now()), people, finders, patchesOf, ahead, ...visit }
}
