import { createHash } from 'node:crypto'
import type { Hono } from 'hono'
import { html, raw } from 'hono/html'
import { visibleLine } from '../../base/terminal-text.ts'
import type { Sql } from '../../db/database.ts'
import { patchText } from '../../drawing/patch/patch-changes.ts'
import { count, shortened, sometimeAfter } from '../../drawing/words.ts'
import type { Visit } from '../html/page.ts'
import { ORIGIN, sendEntity, type Written, written } from '../http/etag.ts'
import { requestOf } from '../http/origin.ts'
import { createPageCache, shared } from '../http/page-cache.ts'
import { latestCaptures } from '../pages/captures.ts'
import { guildNamed } from '../pages/guilds.ts'
import { itemNamed } from '../pages/item.ts'
import { revisionText } from '../pages/revisions.ts'
import type { Site } from '../pages/routes.ts'

/** One entry of a feed. All texts are plain text. */
interface Entry {
  /** The natural key; the id of the entry follows from it. */
  readonly key: readonly (string | number | null)[]
  readonly at: Date
  readonly title: string
  /** Path of the page about it. */
  readonly path: string
  readonly text?: string
  readonly author?: string | null
}

export interface Feed {
  readonly title: string
  readonly subtitle: string
  /** Path and query of the feed itself. */
  readonly self: string
  /** Path of the page about the same. */
  readonly path: string
  /** In any order. */
  readonly entries: readonly Entry[]
}

interface Serving {
  readonly version: string
  /** What paths begin with: scheme, host and port. */
  readonly origin: string
}

const atomType = 'application/atom+xml; charset=utf-8'

/**
 * The feed as Atom (RFC 4287), the latest entry first. Ids follow from natural keys, so that they are the same on every
 * server and under every address; links are whole, because not every reader resolves them.
 */
export async function atomText(
  { title, subtitle, self, path, entries }: Feed,
  { version, origin }: Serving,
): Promise<string> {
  const ordered = entries.toSorted((one, other) => other.at.getTime() - one.at.getTime())
  // Required; of an empty feed one that does not change.
  const updated = ordered[0]?.at ?? new Date(0)
  const feed = html`${raw('<?xml version="1.0" encoding="utf-8"?>')}
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${idOf(['feed', self])}</id>
<title>${shown(title)}</title>
<subtitle>${shown(subtitle)}</subtitle>
<updated>${updated.toISOString()}</updated>
<author><name>wynnsync</name></author>
<generator version="${version}">wynnsync</generator>
<link rel="self" type="application/atom+xml" href="${whole(self, origin)}"/>
<link rel="alternate" type="text/html" href="${whole(path, origin)}"/>
${ordered.map((entry) => entryMarkup(entry, origin))}</feed>
`
  return String(await feed)
}

function entryMarkup({ key, at, title, path, text, author }: Entry, origin: string) {
  return html`<entry>
<id>${idOf(key)}</id>
<title>${shown(title)}</title>
<updated>${at.toISOString()}</updated>
<link rel="alternate" type="text/html" href="${whole(path, origin)}"/>
${author ? html`<author><name>${shown(author)}</name></author>` : ''}<content type="text">${shown(text ?? title)}</content>
</entry>
`
}

/** News lead to pages elsewhere. */
function whole(path: string, origin: string): string {
  return path.startsWith('/') ? `${origin}${path}` : path
}

/** A UUID (version 8) from a natural key. */
function idOf(key: Entry['key']): string {
  const hex = createHash('sha256').update(JSON.stringify(key)).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return `urn:uuid:${parts.join('-')}`
}

/** The text without the characters that XML has no place for, and without those that rearrange a line. */
function shown(text: string): string {
  return visibleLine(text).replace(/[\uFFFE\uFFFF]/g, '�')
}

/** Entries of a kind in a feed. */
const most = 50

/** `/feeds/captures.atom?guild=`: captures, of one guild where that is given. */
async function capturesFeed(visit: Visit): Promise<Feed> {
  const name = visit.query.get('guild')
  const guild = name === null ? undefined : await guildNamed({ ...visit, name })
  return {
    title: guild ? `Captures by and from ${guild.name ?? name}` : 'Captures',
    subtitle: 'Territories that changed hands, and that were taken again by their holder.',
    self: `/feeds/captures.atom${guild ? `?guild=${guild.uuid}` : ''}`,
    path: guild ? `/guilds/${guild.uuid}` : '/territories',
    entries: await captureEntries(visit.sql, guild?.uuid ?? null),
  }
}

/** The latest captures, by and from a guild where that is given. */
async function captureEntries(sql: Sql, guild: string | null): Promise<Entry[]> {
  const captures = await latestCaptures(sql, { guild }, most)
  return captures.map(({ at, territory, from, to, toUuid, again }) => ({
    key: ['capture', territory, at.toISOString(), toUuid],
    at,
    title: again ? `${to} took ${territory} again` : `${to} took ${territory} from ${from ?? 'no owner'}`,
    path: `/territories/${encodeURIComponent(territory)}`,
  }))
}

/** `/feeds/patches.atom`: updates of the game. */
async function patchesFeed({ sql, patchesOf }: Visit): Promise<Feed> {
  const patches = (await patchesOf(sql)).slice(0, most)
  return {
    title: 'Patches',
    subtitle: 'Updates of the game, as far as they show in items, recipes, abilities, aspects and quests.',
    self: '/feeds/patches.atom',
    path: '/patches',
    entries: patches.map(({ startedAt: at, article, ...patch }) => ({
      // Not the number: an earlier patch that is found later moves it.
      key: ['patch', at.toISOString()],
      at,
      title: `Patch ${patch.patch}: ${patchText(patch)}`,
      path: `/patches/${patch.patch}`,
      text: `${patchText(patch)}.${article === null ? '' : ` Published near it: ${article}`}`,
    })),
  }
}

/** `/feeds/items/NAME.atom`: the revisions of an item. */
async function itemFeed(visit: Visit): Promise<Feed> {
  const { id, name, revisions } = await itemNamed(visit)
  const path = `/items/${encodeURIComponent(id)}`
  return {
    title: `${name}: revisions`,
    subtitle: `What changed in ${name}.`,
    self: `/feeds/items/${encodeURIComponent(id)}.atom`,
    path,
    entries: revisions.slice(0, most).map((revision) => ({
      key: ['revision', id, revision.at.toISOString()],
      at: revision.at,
      title: `${revision.name}: ${revision.kind === 'changed' ? `${count(revision.changes.length, 'value')} changed` : revision.kind}`,
      path: `${path}#at-${revision.at.getTime()}`,
      text: shortened(revisionText(revision), 4000),
    })),
  }
}

interface News {
  readonly at: Date
  readonly kind: string
  readonly title: string | null
  readonly author: string | null
  readonly link: string | null
  readonly key: string
}

/** `/feeds/news.atom`: what the website published; its authors, where single players are shown. */
export async function newsFeed({ sql, people }: Visit): Promise<Feed> {
  const news = await sql.query<News>(
    `select coalesce(edited_at, published_at) as at, kind, title, author, link, key from analytics.news
      where published_at is not null order by 1 desc, key collate "C" limit ${most}`,
  )
  return {
    title: 'News',
    subtitle: 'Articles and news of the website.',
    self: '/feeds/news.atom',
    path: '/',
    entries: news.map(({ at, kind, title, author, link, key }) => ({
      key: ['news', kind === 'news' ? 'news' : 'article', key],
      at,
      title: title ?? kind,
      path: link !== null && /^https?:\/\//i.test(link) && URL.canParse(link) ? new URL(link).href : '/',
      author: people ? author : null,
      text: title === null ? kind : `${kind}: ${title}`,
    })),
  }
}

/** `/feeds/guilds/PREFIX.atom`: captures by and from a guild; joins, leaves and changes of rank where players are shown. */
async function guildFeed(visit: Visit): Promise<Feed> {
  const { sql, people, name } = visit
  const guild = await guildNamed(visit)
  const moves = people ? await moveEntries(sql, guild.uuid) : []
  return {
    title: `${guild.name ?? name}: what happened`,
    subtitle: `Captures by and from the guild${people ? ', joins, leaves and changes of rank' : ''}.`,
    self: `/feeds/guilds/${guild.uuid}.atom`,
    path: `/guilds/${guild.uuid}`,
    entries: [...(await captureEntries(sql, guild.uuid)), ...moves],
  }
}

interface Move {
  readonly at: Date
  readonly notBefore: Date | null
  readonly event: string
  readonly player: string
  readonly username: string | null
  readonly name: string | null
  readonly from: string | null
  readonly to: string | null
  /** Of a transfer, the guild left. */
  readonly former: string | null
}

async function moveEntries(sql: Sql, guild: string): Promise<Entry[]> {
  const moves = await sql.query<Move>(
    `with latest as (select * from analytics.membership_event where guild_uuid::text = $1 order by at desc limit ${most})
     select at, not_before as "notBefore", event, player_uuid::text as player, username, guild_name as name, from_rank as "from", to_rank as "to",
            case when event = 'transferred' then analytics.counted_name('guild', other_guild_uuid, null) end as former
       from latest
      order by at desc`,
    [guild],
  )
  return moves.map(({ at, notBefore, event, player, username, name, from, to, former }) => {
    const isMove = event === 'joined' || event === 'left'
    const knowsTime = event === 'joined' || event === 'transferred'
    const [before, after] = event === 'transferred' ? [former ?? 'another guild', name ?? 'the guild'] : [from, to]
    const rank = [before && `from ${before}`, after && `to ${after}`].filter(Boolean).join(' ')
    return {
      key: ['membership', guild, player, event, at.toISOString()],
      at,
      // Joining has the API's own time.
      title:
        `${username ?? player} ${event} ${isMove ? (name ?? 'the guild') : rank}`.trim() +
        (knowsTime ? '' : sometimeAfter(notBefore, at)),
      path: `/guilds/${guild}`,
    }
  })
}

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
