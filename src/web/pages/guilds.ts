import { html } from 'hono/html'
import { nearest } from '../../base/text/nearest.ts'
import { listFigure, missing } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import type { Cell } from '../../drawing/html-table.ts'
import { observedOf } from '../../drawing/period.ts'
import { compact, count } from '../../drawing/words.ts'
import { AmbiguousName, resolveName, UnknownName } from '../../questions/asking/names.ts'
import { guildLink, searchForm } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { pageOf, sortLink } from '../html/sorted-table.ts'
import { Problem } from '../http/problems.ts'

interface Guild {
  readonly uuid: string
  readonly name: string
  readonly prefix: string
  readonly level: number | null
  readonly members: number | null
  readonly online: number | null
  readonly territories: number | null
  readonly wars: number | null
}

const columns = `guild_uuid::text as uuid, name, prefix, level, members, online, territories, wars,
  xp_percent::double precision as xp, observed_at as observed`
/**
 * Every guild that is listed or holds a territory, with what the map says it holds now; NULL where the map was never seen, or does not say it. Few of
 * those that are listed were ever asked for, so numbers are looked up of these alone.
 */
const listed = `
  select coalesce(named.guild_uuid, held.guild_uuid) as uuid, coalesce(named.name, held.name) as name,
         coalesce(named.prefix, held.prefix) as prefix, latest.level, latest.members, latest.online, latest.wars,
         case when exists (select from analytics.territory)
                   and not exists (select from sync.unsent span where span.resource = 'territories' and span.field in ('/guild', '/guild/uuid')
                                      and span.until_at is null)
              then coalesce(held.territories, 0) end as territories
    from (select listed.guild_uuid, coalesce(listed.name, profile.name) as name, coalesce(listed.prefix, profile.prefix) as prefix
            from game.guild_listing listed
            left join game.guild profile on profile.guild_uuid = listed.guild_uuid and profile.valid_until = 'infinity'
           where listed.valid_until = 'infinity'
           union all
          select profile.guild_uuid, profile.name, profile.prefix from game.guild profile
           where profile.valid_until = 'infinity'
             and not exists (select from game.guild_listing listed where listed.guild_uuid = profile.guild_uuid)) named
    left join (select seen.guild_uuid, own.level, own.members, own.online, own.wars
                 from (select distinct guild_uuid from game.guild) seen
                cross join lateral (select * from game.guild_sample sample where sample.guild_uuid = seen.guild_uuid
                                     order by sample.observed_at desc limit 1) own) latest on latest.guild_uuid = named.guild_uuid
    full join (select guild_uuid, min(guild_name) as name, min(guild_prefix) as prefix, count(*)::int as territories
                 from analytics.territory where guild_uuid is not null group by guild_uuid) held
      on held.guild_uuid = named.guild_uuid`

/** The rating of a guild in the season of an instant. */
const ratingOf = (uuid: string) => `left join lateral (
  select rated.rating::float8 as rating from game.guild_season rated
   where rated.guild_uuid = ${uuid} and rated.rating is not null
     and rated.season = (select season from analytics.season where started_at < $5 order by started_at desc limit 1)
   order by rated.observed_at desc limit 1) season on true`

interface Standing extends Guild {
  readonly won: number | null
  readonly lost: number | null
  readonly rating: number | null
  readonly total: number
}

/** What the list can be sorted by, and how a cell is shown. The first is no number. */
const headings: readonly (readonly [string, string, (guild: Standing) => Cell])[] = [
  ['name', 'Guild', ({ uuid, name, prefix }) => guildLink(uuid, name, prefix)],
  ['prefix', 'Prefix', ({ prefix }) => prefix],
  ['level', 'Level', ({ level }) => level],
  ['members', 'Members', ({ members }) => members],
  ['online', 'Online', ({ online }) => online],
  ['territories', 'Territories', ({ territories }) => territories],
  ['won', 'Won', ({ won }) => won],
  ['lost', 'Lost', ({ lost }) => lost],
  ['wars', 'Wars', ({ wars }) => wars],
  ['rating', 'Rating', ({ rating }) => compact(rating)],
]

/** `/guilds?q=&sort=&page=&from=&to=`: guilds by name or prefix, those that hold most territories now first. */
export async function guildsPage(visit: Visit): Promise<Page> {
  const { query } = visit
  const text = query.get('q') ?? ''
  const { frame, control } = await shownPeriod(visit, { path: '/guilds', of: ['territories', 'guilds'] })
  const sort = query.get('sort') ?? 'territories'
  const isOther = sort.startsWith('-')
  const by = headings.find(([key]) => key === sort.replace(/^-/, ''))?.[0] ?? 'territories'
  const isFalling = (by !== 'name' && by !== 'prefix') !== isOther
  const page = pageOf('/guilds', query)
  const found = await guildsBy(visit, frame, { text, by, isFalling, offset: page.offset, size: page.size })
  const total = found[0]?.total ?? 0
  const none = missing('list', 'No guild is known yet', 'wynnsync sync guild-list guilds territories')
  const past = page.past(found.length)
  const amount = total === 0 && text === '' ? none.title : count(total, 'guild')
  return {
    path: text === '' ? '/guilds' : `/guilds?q=${encodeURIComponent(text)}`,
    title: past ?? `${amount}${text === '' ? '' : ` like ${text}`}`,
    lead: 'Guilds by name or prefix, those that hold most territories now first. Won and lost are territories of the period, as far as the map was watched; all else is as last seen.',
    control: html`${control}${searchForm('/guilds', [['q', 'Name or prefix']], query)}`,
    links: page.links(total),
    chapters: [
      chapterOf(
        'guilds',
        'Guilds',
        total === 0 && !past
          ? { ...none, title: text === '' ? none.title : amount }
          : listFigure('list', page.range(found.length, total) ?? amount, {
              columns: headings.map(([key, heading]) =>
                sortLink({ key, heading }, { by, isOther, isFalling }, { path: '/guilds', query, anchor: 'list' }),
              ),
              rows: found.map((guild) => headings.map(([, , cell]) => cell(guild))),
            }),
      ),
    ],
  }
}

interface Wanted {
  readonly text: string
  readonly by: string
  readonly isFalling: boolean
  readonly offset: number
  readonly size: number
}

async function guildsBy(
  { sql }: Visit,
  { from, to }: Frame,
  { text, by, isFalling, offset, size }: Wanted,
): Promise<Standing[]> {
  const isText = by === 'name' || by === 'prefix'
  // Only the ratings that are shown are read, unless all are compared.
  const isRated = by === 'rating'
  const seen = await observedOf(sql, 'territories')
  const [watched] = await sql.query<{ share: number | null }>(
    `select analytics.watched_share('territories', $1, $2) as share`,
    [from, to],
  )
  // Of a time in a gap it is unknown who won nothing. Without a schedule no gap is known.
  const isWatched = seen !== null && seen.first < to && seen.last >= from && watched?.share !== 0
  return await sql.query<Standing>(
    `with pair as materialized (
       select to_guild_uuid as winner, from_guild_uuid as loser, count(*) as captures from analytics.territory_capture
        where captured_at >= $4 and captured_at < $5 and not is_recapture group by 1, 2),
     won as (select winner as uuid, sum(captures)::int as won from pair group by 1),
     lost as (select loser as uuid, sum(captures)::int as lost from pair group by 1),
     shown as (
       select guild.*, coalesce(won.won, case when $6 then 0 end) as won, coalesce(lost.lost, case when $6 then 0 end) as lost${isRated ? ', season.rating' : ''}, count(*) over ()::int as total
         from (${listed}) guild left join won using (uuid) left join lost using (uuid)
         ${isRated ? ratingOf('guild.uuid') : ''}
        where $1 = '' or strpos(lower(name collate "C"), lower($1 collate "C")) > 0 or lower(prefix collate "C") = lower($1 collate "C")
        order by ($1 <> '' and lower(prefix collate "C") = lower($1 collate "C")) is true desc, ${by}${isText ? ' collate "C"' : ''} ${isFalling ? 'desc' : 'asc'} nulls last,
                 territories desc nulls last, level desc nulls last, name collate "C", uuid limit $2 offset $3)
     select shown.uuid::text as uuid, shown.name, shown.prefix, shown.level, shown.members, shown.online, shown.wars, shown.territories,
            shown.won, shown.lost, shown.total, ${isRated ? 'shown' : 'season'}.rating
       from shown ${isRated ? '' : ratingOf('shown.uuid')}
      order by ($1 <> '' and lower(shown.prefix collate "C") = lower($1 collate "C")) is true desc, shown.${by}${isText ? ' collate "C"' : ''} ${isFalling ? 'desc' : 'asc'} nulls last,
               shown.territories desc nulls last, shown.level desc nulls last, shown.name collate "C"`,
    [text, size, offset, from, to, isWatched],
  )
}

/** The guild that the path names by uuid, prefix or name: that has it now, where others once had it. @throws Problem when there is none */
export async function guildNamed({ sql, name, finders }: Pick<Visit, 'sql' | 'name' | 'finders'>) {
  const known = await resolveName(sql, { name: 'guild', type: 'uuid', value: name }, finders).catch(presentHolder)
  const holder = await holderNamed(sql, known?.value ?? name)
  const uuid = known?.value ?? holder?.uuid
  const [guild] = await sql.query<Guild & { readonly xp: number | null; readonly observed: Date | null }>(
    // Text that is no uuid names none.
    `select ${columns} from analytics.guild where guild_uuid = case when $1 ~* '^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$' then $1::text::uuid end`,
    [uuid ?? ''],
  )
  if (uuid === undefined || !(guild || holder || (await finders.keys.guild?.holders(sql, uuid))?.length))
    throw new Problem('not-found', {
      detail: `guild not found: ${name}`,
      similar: await guildsLike({ sql, finders }, name),
    })
  return { uuid: uuid.toLowerCase(), guild, holder, name: guild?.name ?? holder?.name }
}

/** A guild that is in no list may have held territories. */
async function holderNamed(sql: Visit['sql'], name: string) {
  const [row] = await sql.query<{ uuid: string; name: string; prefix: string | null }>(
    `select guild_uuid::text as uuid, guild_name as name, guild_prefix as prefix from analytics.territory_holder
      where guild_uuid::text = lower($1 collate "C") or guild_prefix = $1 or guild_name = $1 order by held_from desc limit 1`,
    [name],
  )
  return row
}

/** Guilds whose names are written nearly like this: of lists, and those that only hold or held territories. */
async function guildsLike({ sql, finders }: Pick<Visit, 'sql' | 'finders'>, name: string): Promise<string[]> {
  const listed = (await finders.keys.guild?.similar(sql, name)) ?? []
  const rows = await sql.query<{ name: string; prefix: string | null }>(
    `select distinct guild_name as name, guild_prefix as prefix from analytics.territory_holder where guild_name is not null limit 5000`,
  )
  const known = new Map(rows.map((row) => [row.prefix === null ? row.name : `${row.name} [${row.prefix}]`, row]))
  const textsOf = (label: string) => [known.get(label)?.name ?? label, known.get(label)?.prefix ?? '']
  const isListed = (label: string) =>
    listed.some((one) => one === label || one.startsWith(`${known.get(label)?.name} [`))
  return [...listed, ...nearest(name, known.keys(), textsOf).filter((label) => !isListed(label))]
}

/** The one guild that has a name now which others once had; undefined where the name is unknown. @throws what else was thrown */
function presentHolder(error: unknown): { readonly value: string } | undefined {
  if (error instanceof UnknownName) return undefined
  const holders = error instanceof AmbiguousName ? error.holders : []
  const [value, ...others] = new Set(holders.flatMap(({ uuid, until }) => (until === null ? [uuid] : [])))
  if (value === undefined || others.length > 0) throw error
  return { value }
}
