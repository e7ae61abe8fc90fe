import type { Hono } from 'hono'
import type { Visit } from '../html/page.ts'
import { type Entity, entityOf, sendEntity } from '../http/etag.ts'
import { requestOf } from '../http/origin.ts'
import { createPageCache } from '../http/page-cache.ts'
import type { Site } from '../pages/routes.ts'
import { atomText, atomType, type Feed } from './atom.ts'
import { guildFeed } from './guild.ts'
import { capturesFeed, itemFeed, newsFeed, patchesFeed } from './world.ts'

/** Every feed by its path; one that names players is made each time, as pages are. */
const feeds: readonly {
  readonly path: string
  readonly build: (visit: Visit) => Promise<Feed>
  readonly namesPlayers?: boolean
}[] = [
  { path: '/feeds/captures.atom', build: capturesFeed },
  { path: '/feeds/patches.atom', build: patchesFeed },
  { path: '/feeds/news.atom', build: newsFeed },
  { path: '/feeds/guilds/:name{.+\\.atom}', build: guildFeed, namesPlayers: true },
  { path: '/feeds/items/:name{.+\\.atom}', build: itemFeed },
]

export function addFeeds(app: Hono, site: Site): void {
  const cached = createPageCache<Entity>(site.clock)
  for (const { path, build, namesPlayers = false } of feeds) {
    app.get(path, async (context) => {
      const { name, query, origin, address } = requestOf(context, /\.atom$/)
      const make = async () => {
        site.count(context)
        const { people, finders, version } = site
        const now = new Date(site.clock.now())
        const feed = await site.reader.read((sql) => build({ sql, now, name, query, people, finders }))
        return entityOf(await atomText(feed, { version, origin }), atomType)
      }
      return await sendEntity(context, await (namesPlayers ? make() : cached(address, make)))
    })
  }
}
