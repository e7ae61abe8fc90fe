import type { Hono } from 'hono'
import type { Visit } from '../html/page.ts'
import { ORIGIN, sendEntity, type Written, written } from '../http/etag.ts'
import { requestOf } from '../http/origin.ts'
import { createPageCache, shared } from '../http/page-cache.ts'
import type { Site } from '../pages/routes.ts'
import { atomText, atomType, type Feed } from './atom.ts'
import { guildFeed } from './guild.ts'
import { capturesFeed, itemFeed, newsFeed, patchesFeed } from './world.ts'

/** Every feed by its path; one that names players is shared only while it is made, as pages are. */
const feeds: readonly {
  readonly path: string
  readonly build: (visit: Visit) => Promise<Feed>
  readonly namesPlayers?: boolean
  /** The parameters that it reads. */
  readonly parameters?: readonly string[]
}[] = [
  { path: '/feeds/captures.atom', build: capturesFeed, parameters: ['guild'] },
  { path: '/feeds/patches.atom', build: patchesFeed },
  { path: '/feeds/news.atom', build: newsFeed },
  { path: '/feeds/guilds/:name{.+\\.atom}', build: guildFeed, namesPlayers: true },
  { path: '/feeds/items/:name{.+\\.atom}', build: itemFeed },
]

export function addFeeds(app: Hono, site: Site): void {
  const sizeOf = ({ bytes }: Written) => bytes
  const kept = createPageCache<Written>(site.clock, { sizeOf })
  const made = createPageCache<Written>(site.clock, { sizeOf, ...shared })
  for (const { path, build, namesPlayers = false, parameters } of feeds) {
    app.get(path, async (context) => {
      const { name, query, origin, key } = requestOf(context, parameters, /\.atom$/)
      const make = () => {
        site.count(context)
        const { people, finders, patchesOf, version } = site
        const now = new Date(site.clock.now())
        return site.build(async () => {
          const feed = await site.reader.read((sql) => build({ sql, now, name, query, people, finders, patchesOf }))
          return written(await atomText(feed, { version, origin: ORIGIN }), atomType)
        })
      }
      const feed = await (namesPlayers ? made : kept)(`${path} ${key}`, make)
      if (site.people && (namesPlayers || path === '/feeds/news.atom')) context.header('X-Robots-Tag', 'noindex')
      return await sendEntity(context, feed.under(origin))
    })
  }
}
