import type { Sql } from '../../db/database.ts'
import { count, shortened } from '../../drawing/words.ts'
import type { Visit } from '../html/page.ts'
import { latestCaptures } from '../pages/captures.ts'
import { guildNamed } from '../pages/guilds.ts'
import { itemNamed } from '../pages/item.ts'
import { revisionText } from '../pages/revisions.ts'
import type { Entry, Feed } from './atom.ts'

/** Entries of a kind in a feed. */
export const most = 50

/** `/feeds/captures.atom?guild=`: captures, of one guild where that is given. */
export async function capturesFeed(visit: Visit): Promise<Feed> {
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
export async function captureEntries(sql: Sql, guild: string | null): Promise<Entry[]> {
  const captures = await latestCaptures(sql, { guild }, most)
  return captures.map(({ at, territory, from, to, toUuid, again }) => ({
    key: ['capture', territory, at.toISOString(), toUuid],
    at,
    title: again ? `${to} took ${territory} again` : `${to} took ${territory} from ${from ?? 'no owner'}`,
    path: `/territories/${encodeURIComponent(territory)}`,
  }))
}

/** `/feeds/patches.atom`: updates of the game. */
export async function patchesFeed({ sql, patchesOf }: Visit): Promise<Feed> {
  const patches = (await patchesOf(sql)).slice(0, most)
  return {
    title: 'Patches',
    subtitle: 'Updates of the game, as far as they show in items, recipes, abilities, aspects and quests.',
    self: '/feeds/patches.atom',
    path: '/patches',
    entries: patches.map(({ patch, startedAt: at, added, changed, removed, recipes, abilities, article }) => ({
      // Not the number: an earlier patch that is found later moves it.
      key: ['patch', at.toISOString()],
      at,
      title: `Patch ${patch}: ${count(changed, 'item')} changed, ${added} added, ${removed} removed`,
      path: `/patches/${patch}`,
      text: `${count(changed, 'item')} changed, ${added} added, ${removed} removed; ${count(recipes, 'recipe')} and ${count(abilities, 'ability', 'abilities')} changed.${article === null ? '' : ` Published near it: ${article}`}`,
    })),
  }
}

/** `/feeds/items/NAME.atom`: the revisions of an item. */
export async function itemFeed(visit: Visit): Promise<Feed> {
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
