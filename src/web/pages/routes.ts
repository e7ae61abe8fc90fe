import type { Context, Hono } from 'hono'
import type { Asking } from '../api/answer.ts'
import { apiPage } from '../api/api-page.ts'
import { type Build, livePolicy, type Page, pagePolicy, pageText, type Visit } from '../html/page.ts'
import { encodingFor } from '../http/compression.ts'
import { type Entity, entityOf, etagOf, sendBody, sendEntity } from '../http/etag.ts'
import { requestOf } from '../http/origin.ts'
import { createPageCache } from '../http/page-cache.ts'
import { type Problem, problems } from '../http/problems.ts'
import { liveMap } from '../live/live-map.ts'
import { type Pictures, picturePath } from '../pictures/pictures.ts'
import { capturesPage } from './captures.ts'
import { guildPage, guildsPage } from './guilds.ts'
import { homePage } from './home.ts'
import { itemPage, itemsPage } from './items.ts'
import { mapPage } from './map.ts'
import { patchesPage, patchPage } from './patches.ts'
import { playerPage } from './players.ts'
import { statusPage, worldsPage } from './status.ts'
import { territoriesPage, territoryPage } from './territories.ts'
import { leaderboardPage, leaderboardsPage, poolsPage } from './world-content.ts'

export interface Site extends Asking {
  /** Whether single players are shown. */
  readonly people: boolean
  readonly version: string
  readonly pictures?: Pictures | undefined
  /** Counts a page that is made. @throws Problem when the limit of the address is reached */
  count(context: Context): void
}

/** Every page by its path; what players hide later must be gone at once, so pages that name them are made each time. */
const pages: readonly {
  readonly path: string
  readonly build: Build
  readonly namesPlayers?: boolean
  readonly isLive?: boolean
}[] = [
  { path: '/', build: homePage, namesPlayers: true },
  { path: '/status', build: statusPage },
  { path: '/api', build: apiPage },
  { path: '/map', build: mapPage, isLive: true },
  { path: '/captures', build: capturesPage },
  { path: '/territories', build: territoriesPage },
  { path: '/territories/:name', build: territoryPage },
  { path: '/guilds', build: guildsPage },
  { path: '/guilds/:name', build: guildPage, namesPlayers: true },
  { path: '/items', build: itemsPage },
  { path: '/items/:name', build: itemPage },
  { path: '/players/:name', build: playerPage, namesPlayers: true },
  { path: '/patches', build: patchesPage },
  { path: '/patches/:name', build: patchPage },
  { path: '/worlds', build: worldsPage },
  { path: '/pools', build: poolsPage },
  { path: '/leaderboards', build: leaderboardsPage },
  { path: '/leaderboards/:name', build: leaderboardPage, namesPlayers: true },
]

export function addPages(app: Hono, site: Site): void {
  const cached = createPageCache<Entity>(site.clock)
  for (const { path, build, namesPlayers = false, isLive = false } of pages) {
    app.get(path, async (context) => {
      const { name, query, origin, address } = requestOf(context)
      const make = async () => {
        const page = await pageOf(context, site, { build, name, query })
        const picture = site.pictures && `${origin}${picturePath(page.path)}`
        return entityOf(await pageText(page, { version: site.version, picture, isLive }), 'text/html; charset=utf-8')
      }
      const page = await (namesPlayers ? make() : cached(address, make))
      context.header('Content-Security-Policy', isLive ? livePolicy : pagePolicy)
      return await sendEntity(context, page)
    })
  }
}

/**
 * Adds `/map.json`: who holds what now, for the script of the map. Those who ask within a second share an answer, unless `after` says
 * that they have seen a later change.
 */
export function addLiveMap(app: Hono, site: Site): void {
  const cached = createPageCache<Entity>(site.clock, { fresh: 1000, shown: 1000 })
  app.get('/map.json', async (context) => {
    const make = async () => {
      site.count(context)
      return entityOf(await site.reader.read(liveMap), 'application/json')
    }
    const after = /^\d{1,15}$/.exec(context.req.query('after') ?? '')?.[0] ?? ''
    return await sendEntity(context, await cached(after, make))
  })
}

/** Adds a picture of every page, for sites that show links. */
export function addPictures(app: Hono, site: Site): void {
  const { pictures } = site
  if (!pictures) return
  for (const { path, build } of pages) {
    app.get(picturePath(path).replace(':name.png', ':name{.+\\.png}'), async (context) => {
      const { name, query } = requestOf(context, /\.png$/)
      const { text, png } = await pictures(await pageOf(context, site, { build, name, query }))
      // Sites may show it: it is made for that.
      context.header('Cross-Origin-Resource-Policy', 'cross-origin')
      return await sendEntity(context, { etag: etagOf(text, 'image/png'), type: 'image/png', body: png })
    })
  }
}

async function pageOf(
  context: Context,
  site: Site,
  { build, ...visit }: { readonly build: Build } & Pick<Visit, 'name' | 'query'>,
): Promise<Page> {
  site.count(context)
  const { people, finders, reader, clock } = site
  return await reader.read((sql) => build({ sql, now: new Date(clock.now()), people, finders, ...visit }))
}

export async function problemPage(context: Context, problem: Problem, version: string): Promise<Response> {
  const { status, title } = problems[problem.problem]
  const lead = problem.details.detail ?? `Status ${status}.`
  const { pathname: path } = new URL(context.req.url)
  context.header('Content-Security-Policy', pagePolicy)
  const text = await pageText({ title, lead, path, chapters: [] }, { version })
  const type = 'text/html; charset=UTF-8'
  return await sendBody(context, text, { type, encoding: encodingFor(context, type, text.length), status })
}
