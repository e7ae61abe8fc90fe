import { type Figure, listFigure } from '../../drawing/figure.ts'
import type { Cell } from '../../drawing/html-table.ts'
import { count } from '../../drawing/words.ts'
import { guildLink, link, pathOf } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'

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
const MOST = 30

/** `/search?q=`: guilds, players, items and territories by name; the page of the only one that is found. */
export async function searchPage(visit: Visit): Promise<Page | string> {
  const text = (visit.query.get('q') ?? '').trim()
  const hits = text === '' ? [] : await find(visit, text)
  const [only, ...others] = hits
  if (only && others.length === 0) return placeOf(only)
  const found = kinds.flatMap(([kind, heading]) => {
    const some = hits.filter((hit) => hit.kind === kind)
    return some.length === 0 ? [] : [chapterOf(`${kind}s`, heading, hitsFigure(kind, some))]
  })
  return {
    path: '/search',
    title:
      text === ''
        ? 'Search'
        : hits.length === 0
          ? `Nothing is called ${text}`
          : `${count(hits.length, 'name')} like ${text}`,
    lead: `${visit.people ? 'Players, guilds' : 'Guilds'}, items and territories by a part of their names, by prefix or by uuid.`,
    chapters: found,
  }
}

function placeOf({ kind, key }: Hit): string {
  return pathOf(kinds.find(([one]) => one === kind)?.[2] ?? '', key)
}

function hitsFigure(kind: Hit['kind'], hits: readonly Hit[]): Figure {
  const all = hits.slice(0, MOST)
  return listFigure(`${kind}-hits`, hits.length > MOST ? `The first ${MOST}` : count(hits.length, 'name'), {
    columns: ['Name', { guild: 'Prefix', player: 'Guild', item: 'Type', territory: 'Held by' }[kind]],
    rows: all.map((hit): Cell[] => [cellOf(hit), hit.about ?? '']),
  })
}

function cellOf({ kind, key, name }: Hit): Cell {
  if (kind === 'guild') return guildLink(key, name)
  return link(kinds.find(([one]) => one === kind)?.[2] ?? '', key, name)
}

/** One statement for each kind: how a name is like the text, without regard to case. */
const likeness = (name: string) =>
  `case when lower(${name} collate "C") = lower($1 collate "C") then 0 when starts_with(lower(${name} collate "C"), lower($1 collate "C")) then 1
        when strpos(lower(${name} collate "C"), lower($1 collate "C")) > 0 then 2 end`

const guilds = `
  select 'guild' as kind, guild_uuid::text as key, name, prefix as about,
         least(${likeness('name')}, ${likeness('prefix')}, ${likeness('guild_uuid::text')}) as rank
    from (select listed.guild_uuid, coalesce(listed.name, profile.name) as name, coalesce(listed.prefix, profile.prefix) as prefix
            from game.guild_listing listed
            left join game.guild profile on profile.guild_uuid = listed.guild_uuid and profile.valid_until = 'infinity'
           where listed.valid_until = 'infinity'
           union all
          select profile.guild_uuid, profile.name, profile.prefix from game.guild profile
           where profile.valid_until = 'infinity'
             and not exists (select from game.guild_listing listed where listed.guild_uuid = profile.guild_uuid)
           union all
          -- A guild that is in no list may hold territories.
          (select distinct on (guild_uuid) guild_uuid, guild_name, guild_prefix from analytics.territory_holder holder
            where not exists (select from analytics.guild listed where listed.guild_uuid = holder.guild_uuid offset 0)
            order by guild_uuid, held_from desc)) guild`
const items = `
  select 'item' as kind, internal_name as key, coalesce(display_name, internal_name) as name, concat_ws(' ', tier, coalesce(sub_type, type)) as about,
         least(${likeness('display_name')}, ${likeness('internal_name')}) as rank from analytics.item`
const territories = `
  select 'territory' as kind, territory as key, territory as name, guild_name as about, ${likeness('territory')} as rank
    from analytics.territory`
/** The latest name of each: profiles say it, and guilds of their members. Of all of them nothing but names is read. */
const players = `
  select distinct on (player_uuid) 'player' as kind, player_uuid::text as key, username as name, guild_uuid, rank
    from (select player_uuid, username, null::uuid as guild_uuid, least(${likeness('username')}, ${likeness('player_uuid::text')}) as rank
            from game.player where valid_until = 'infinity'
           union all
          select player_uuid, username, guild_uuid, least(${likeness('username')}, ${likeness('player_uuid::text')})
            from game.guild_member where valid_until = 'infinity') known
   where rank is not null and username is not null order by player_uuid, guild_uuid nulls last`
const guildOfPlayer = `(select guild.name from analytics.guild where guild.guild_uuid = known.guild_uuid)`

async function find({ sql, people, finders }: Visit, text: string): Promise<Hit[]> {
  const statement = (source: string) =>
    `select kind, key, name, ${source === players ? guildOfPlayer : 'about'} as about, rank
       from (select * from (${source}) known where rank is not null and name is not null
              order by rank, length(name), name collate "C", key collate "C" limit ${MOST + 1}) known
      order by rank, length(name), name collate "C", key collate "C"`
  const sources = [guilds, ...(people ? [players] : []), items, territories]
  const found = await Promise.all(sources.map((source) => sql.query<Hit>(statement(source), [text])))
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
  const names = (await finders.exact.territory?.(sql)) ?? []
  const isLike = (name: string) => name.toLowerCase().includes(text.toLowerCase())
  return names
    .filter((name) => isLike(name) && !hits.some(({ kind, key }) => kind === 'territory' && key === name))
    .slice(0, MOST)
    .map((name) => ({ kind: 'territory', key: name, name, about: 'not on the map any more', rank: 2 }))
}
