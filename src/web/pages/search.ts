import { nearest, plainSpelling } from '../../base/text/nearest.ts'
import { type Chapter, type Figure, listFigure } from '../../drawing/figure.ts'
import type { Cell } from '../../drawing/html-table.ts'
import { count } from '../../drawing/words.ts'
import { guildLink, link, pathOf } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { problemOf } from '../http/problems.ts'
import { guildNamed } from './guilds.ts'
import { itemNamed } from './item.ts'

/** Something whose name is like what was searched. */
interface Hit {
  readonly kind: 'guild' | 'player' | 'item' | 'territory'
  /** Uuid or exact name. */
  readonly key: string
  readonly name: string
  /** What tells it from others of its name: prefix, type or guild. */
  readonly about: string | null
  /** 0 where it is the very name, 1 where the name begins so, 2 where it is in it. */
  readonly rank: number
}

const kinds = [
  ['guild', 'Guilds', 'guilds'],
  ['player', 'Players', 'players'],
  ['item', 'Items', 'items'],
  ['territory', 'Territories', 'territories'],
] as const

/** Of each kind. */
const FOUND_OF_KIND = 30

/** `/search?q=`: guilds, players, items and territories by name; the page of the only one that is found. */
export async function searchPage(visit: Visit): Promise<Page | string> {
  const text = (visit.query.get('q') ?? '').trim()
  const plain = plainSpelling(text)
  const asTyped = text === '' ? [] : await find(visit, text)
  const hits = asTyped.length > 0 || plain === '' || plain === text ? asTyped : await find(visit, plain)
  const [only, ...others] = hits
  if (only && others.length === 0) return placeOf(only)
  const found = kinds.flatMap(([kind, heading]) => {
    const some = hits.filter((hit) => hit.kind === kind)
    return some.length === 0 ? [] : [chapterOf(`${kind}s`, heading, hitsFigure(kind, some))]
  })
  return {
    path: '/search',
    title: text === '' ? 'Search' : hits.length === 0 ? `Nothing is called ${text}` : `${foundText(hits)} like ${text}`,
    lead: `${visit.people ? 'Players, guilds' : 'Guilds'}, items and territories by a part of their names, by prefix or by uuid.`,
    chapters: text !== '' && hits.length === 0 ? await nearChapters(visit, text) : found,
  }
}

/** Names that are written nearly like this, of each kind a few. */
async function nearChapters({ sql, people, finders }: Visit, text: string): Promise<Chapter[]> {
  // What their pages offer where there is none.
  const similar = async (page: Promise<unknown>) => {
    const { similar: some } = await page.then(
      () => ({ similar: [] }),
      (error) => problemOf(error).details,
    )
    return Array.isArray(some) ? some.map(String) : []
  }
  const near = {
    guild: () => similar(guildNamed({ sql, finders, name: text })),
    player: async () => (people ? ((await finders.keys.player?.similar(sql, text)) ?? []) : []),
    item: () => similar(itemNamed({ sql, name: text })),
    territory: async () => nearest(text, (await finders.exact.territory?.(sql)) ?? []),
  }
  const rows: Cell[][] = []
  for (const [kind, , folder] of kinds)
    rows.push(
      ...(await near[kind]()).map((name) => [
        link(folder, kind === 'guild' ? name.replace(/ \[[^\]]*\]$/, '') : name, name),
        kind,
      ]),
    )
  const table = { columns: ['Name', 'What'], rows }
  return rows.length === 0 ? [] : [chapterOf('near', 'Near', listFigure('near-names', 'Names that are near', table))]
}

/** Of each kind no more are counted than are shown. */
function foundText(hits: readonly Hit[]): string {
  const shown = kinds.map(([kind]) => hits.filter((hit) => hit.kind === kind).length)
  const isCut = shown.some((amount) => amount > FOUND_OF_KIND)
  return `${isCut ? 'More than ' : ''}${count(
    shown.reduce((sum, amount) => sum + Math.min(FOUND_OF_KIND, amount), 0),
    'name',
  )}`
}

function placeOf({ kind, key }: Hit): string {
  return pathOf(kinds.find(([one]) => one === kind)?.[2] ?? '', key)
}

function hitsFigure(kind: Hit['kind'], hits: readonly Hit[]): Figure {
  const all = hits.slice(0, FOUND_OF_KIND)
  return listFigure(
    `${kind}-hits`,
    hits.length > FOUND_OF_KIND ? `The first ${FOUND_OF_KIND}` : count(hits.length, 'name'),
    {
      columns: ['Name', { guild: 'Prefix', player: 'Guild', item: 'Type', territory: 'Held by' }[kind]],
      rows: all.map((hit): Cell[] => [cellOf(hit), hit.about ?? '']),
    },
  )
}

function cellOf({ kind, key, name }: Hit): Cell {
  if (kind === 'guild') return guildLink(key, name)
  return link(kinds.find(([one]) => one === kind)?.[2] ?? '', key, name)
}

/** A kind of things, and the texts by which one is found. `about` may be computed, of the few that are shown. */
interface Source {
  readonly kind: Hit['kind']
  readonly rows: string
  readonly key: string
  readonly name: string
  readonly about: string
  readonly others: readonly string[]
  /** Those with a uuid are found by it, or by how it begins: $2 and $3 are the first and the last that begin so. */
  readonly isByUuid?: boolean
}

const guilds: Source = {
  kind: 'guild',
  // A guild that is in no list may hold territories.
  rows: `
    select listed.guild_uuid, coalesce(listed.name, profile.name) as name, coalesce(listed.prefix, profile.prefix) as prefix
      from game.guild_listing listed
      left join game.guild profile on profile.guild_uuid = listed.guild_uuid and profile.valid_until = 'infinity'
     where listed.valid_until = 'infinity'
     union all
    select profile.guild_uuid, profile.name, profile.prefix from game.guild profile
     where profile.valid_until = 'infinity'
       and not exists (select from game.guild_listing listed where listed.guild_uuid = profile.guild_uuid offset 0)
     union all
    select holder.guild_uuid, holder.guild_name, holder.guild_prefix from analytics.territory_holder holder
     where not exists (select from game.guild_listing listed where listed.guild_uuid = holder.guild_uuid and listed.valid_until = 'infinity' offset 0)
       and not exists (select from game.guild profile where profile.guild_uuid = holder.guild_uuid and profile.valid_until = 'infinity'
                          and not exists (select from game.guild_listing listed where listed.guild_uuid = holder.guild_uuid) offset 0)`,
  key: 'guild_uuid',
  name: 'name',
  about: 'prefix',
  others: ['prefix'],
  isByUuid: true,
}
const items: Source = {
  kind: 'item',
  rows: 'select * from analytics.item',
  key: 'internal_name',
  others: ['display_name', 'internal_name'],
  name: 'coalesce(display_name, internal_name)',
  about: `concat_ws(' ', tier, coalesce(sub_type, type))`,
}
const territories: Source = {
  kind: 'territory',
  rows: 'select territory, guild_name from analytics.territory',
  key: 'territory',
  name: 'territory',
  about: 'guild_name',
  others: [],
}
/** The latest name of each: profiles say it, and guilds of their members, which goes before. */
const players: Source = {
  kind: 'player',
  rows: `
    select player_uuid, username, null::uuid as guild_uuid from game.player where valid_until = 'infinity'
     union all
    select player_uuid, username, guild_uuid from game.guild_member where valid_until = 'infinity'`,
  key: 'player_uuid',
  name: 'username',
  about: 'guild_uuid',
  others: [],
  isByUuid: true,
}

const small = (text: string) => `lower(${text} collate "C")`

/**
 * What is so called, what begins so, and only where these are few what has the text in it: the first two are found by an index,
 * where there are many.
 */
function hitsOf({ kind, rows, key, name, about, others, isByUuid = false }: Source): string {
  const texts = [...new Set([name, ...others])]
  const any = (test: (text: string) => string, orUuid: string) =>
    `(${[...texts.map(test), ...(isByUuid ? [orUuid] : [])].join(' or ')})`
  const is = any((text) => `${small(text)} = ${small('$1')}`, `${key} = $2::uuid and $2::uuid = $3::uuid`)
  const begins = any((text) => `starts_with(${small(text)}, ${small('$1')})`, `${key} between $2::uuid and $3::uuid`)
  const contains = any((text) => `strpos(${small(text)}, ${small('$1')}) > 0`, 'false')
  const found = (which: string, rank: string) =>
    `select ${kind === 'player' ? 'distinct on (player_uuid)' : ''} ${key} as key, ${name} as name, ${about} as about, ${rank} as rank
       from (${rows}) known where ${name} is not null and ${which}${kind === 'player' ? ' order by player_uuid, guild_uuid nulls last' : ''}`
  const first = `order by rank, length(name), name collate "C", key${isByUuid ? '' : ' collate "C"'} limit ${FOUND_OF_KIND + 1}`
  return `
    with near as materialized (select * from (${found(begins, `case when ${is} then 0 else 1 end`)}) one ${first}),
    hit as (
      select * from near
       union all
      select * from (${found(contains, '2')}) far
       where (select count(*) from near) <= ${FOUND_OF_KIND} and not exists (select from near where near.key = far.key))
    select '${kind}' as kind, key::text as key, name,
           ${kind === 'player' ? '(select guild.name from analytics.guild where guild.guild_uuid = known.about)' : 'about'} as about, rank
      from (select * from hit ${first}) known ${first}`
}

/** The first and the last uuid that begin with a text, which is a good part of one. */
function uuidsFrom(text: string): [string, string] | [null, null] {
  const digits = text.replaceAll('-', '')
  return /^[0-9a-f]{8,32}$/i.test(digits) ? [digits.padEnd(32, '0'), digits.padEnd(32, 'f')] : [null, null]
}

async function find({ sql, people, finders }: Visit, text: string): Promise<Hit[]> {
  const sources = [guilds, ...(people ? [players] : []), items, territories]
  const found = await Promise.all(
    sources.map((source) => sql.query<Hit>(hitsOf(source), source.isByUuid ? [text, ...uuidsFrom(text)] : [text])),
  )
  const hits = found.flat()
  const former = [
    ...(await formerHits({ sql, finders, people }, text, hits)),
    ...(await formerTerritories({ sql, finders }, text, hits)),
  ]
  return [...hits, ...former]
}

/** Who had the name once, and has another now. */
async function formerHits(
  { sql, finders, people }: Pick<Visit, 'sql' | 'finders' | 'people'>,
  text: string,
  hits: readonly Hit[],
) {
  const former: Hit[] = []
  for (const kind of ['guild', ...(people ? ['player'] : [])] as const) {
    const holders = (await finders.keys[kind]?.holders(sql, text)) ?? []
    for (const { uuid, name, prefix, until } of holders) {
      const isKnown = [...hits, ...former].some(({ key }) => key === uuid)
      const about = [prefix, until && 'once'].filter(Boolean).join(', ')
      if (!isKnown) former.push({ kind: kind as Hit['kind'], key: uuid, name: name ?? uuid, about, rank: 0 })
    }
  }
  return former
}

/** Territories that are not on the map any more. */
async function formerTerritories(
  { sql, finders }: Pick<Visit, 'sql' | 'finders'>,
  text: string,
  hits: readonly Hit[],
): Promise<Hit[]> {
  const plain = (name: string) => plainSpelling(name).toLowerCase()
  const isLike = (name: string) => plain(text) !== '' && plain(name).includes(plain(text))
  const isHit = (name: string) => hits.some(({ kind, key }) => kind === 'territory' && key === name)
  const names = ((await finders.exact.territory?.(sql)) ?? [])
    .filter((name) => isLike(name) && !isHit(name))
    .slice(0, FOUND_OF_KIND)
  // Some are there, and only written otherwise.
  const there =
    names.length === 0 ? [] : await sql.query<{ name: string }>('select territory as name from analytics.territory')
  const isThere = new Set(there.map(({ name }) => name))
  return names.map((name) => ({
    kind: 'territory',
    key: name,
    name,
    about: isThere.has(name) ? null : 'not on the map any more',
    rank: 2,
  }))
}
