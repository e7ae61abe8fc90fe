import { html } from 'hono/html'
import type { Sql } from '../../db/database.ts'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import { rosterOf } from '../../drawing/guild/roster.ts'
import type { Cell, Table } from '../../drawing/html-table.ts'
import { captureMatrixFigure } from '../../drawing/map/capture-matrix.ts'
import { capturesFigure } from '../../drawing/map/captures.ts'
import { mapSql, readHolders } from '../../drawing/map/holds.ts'
import { count, length, moment, number } from '../../drawing/words.ts'
import { csvLink, guildLink, link, searchForm } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { pageOf, sortLink } from '../html/sorted-table.ts'

interface Capture {
  readonly at: Date
  readonly territory: string
  readonly from: string | null
  readonly fromUuid: string | null
  readonly to: string
  readonly toUuid: string
  readonly again: boolean
}

interface Wanted {
  readonly territory?: string | null
  readonly guild?: string | null
  readonly before?: Date | null
}

const captureColumns = `captured_at as at, territory, from_guild_name as "from", from_guild_uuid::text as "fromUuid",
            to_guild_name as "to", to_guild_uuid::text as "toUuid", is_recapture as again`

/** The latest captures, before an instant, of one territory, or by and from one guild, where that is given. */
export async function latestCaptures(
  sql: Sql,
  { territory = null, guild = null, before = null }: Wanted,
  most: number,
): Promise<Capture[]> {
  return await sql.query<Capture>(
    `select ${captureColumns}
       from analytics.territory_capture where ($1::text is null or territory = $1)
        and ($2::text is null or to_guild_uuid = $2::text::uuid or from_guild_uuid = $2::text::uuid)
        and ($4::timestamptz is null or captured_at < $4)
      order by captured_at desc, territory collate "C" limit $3`,
    [territory, guild, most, before],
  )
}

/** What the list can be sorted by: in the address, its heading, and in SQL. */
const headings = [
  ['at', 'At (UTC)', 'at'],
  ['territory', 'Territory', 'territory collate "C"'],
  ['by', 'Taken by', '"to" collate "C"'],
  ['from', 'From', '"from" collate "C"'],
] as const

export function captureTable(captures: readonly Capture[]): Table {
  return {
    columns: headings.map(([, heading]) => heading),
    rows: captures.map(({ at, territory, from, fromUuid, to, toUuid, again }) => [
      at,
      link('territories', territory),
      guildLink(toUuid, to),
      again ? 'itself' : guildLink(fromUuid, from),
    ]),
  }
}

const CAPTURES_OF_PAGE = 100
/** By another heading than time, so many of the latest are sorted. */
const SORTED_CAPTURES = 10_000

/** Rows of who takes from whom: the picture has the guilds that fight most. */
const LISTED_PAIRS = 60

/** SQL: whether a capture is wanted: by or from a guild of this uuid, prefix or name, of the place that is called so, or where none is, of those with such a name. */
const isWanted = `captured_at >= $1 and captured_at < $2 and ($4 in ('', territory)
             or strpos(lower(territory collate "C"), lower($4 collate "C")) > 0 and not exists (select from game.territory where territory = $4))
        and ($3 = '' or lower($3 collate "C") in (to_guild_uuid::text, from_guild_uuid::text)
             or strpos(lower(concat(to_guild_name, E'\\n', from_guild_name) collate "C"), lower($3 collate "C")) > 0
             or array[to_guild_uuid, from_guild_uuid] && (
                  select array_agg(guild_uuid)
                    from (select guild_uuid, prefix from game.guild_listing where valid_until = 'infinity'
                           union all select guild_uuid, guild_prefix from analytics.territory) named
                   where lower(prefix collate "C") = lower($3 collate "C")))`

/** The captures of a page of the list, and how many there are. */
async function listed({ sql, query }: Visit, { from, to }: Frame) {
  const guild = query.get('guild') ?? ''
  const territory = query.get('territory') ?? ''
  const sort = query.get('sort') ?? 'at'
  const isOther = sort.startsWith('-')
  const [by, , column] = headings.find(([key]) => key === sort.replace(/^-/, '')) ?? headings[0]
  const isFalling = (by === 'at') !== isOther
  const page = pageOf('/captures', query, CAPTURES_OF_PAGE)
  const found = await sql.query<Capture & { readonly total: number }>(
    `select page.*, of.total from (select count(*)::int as total from analytics.territory_capture where ${isWanted}) of
       left join lateral (
         select * from (
           select ${captureColumns} from analytics.territory_capture where ${isWanted}${by === 'at' ? '' : ` order by captured_at desc limit ${SORTED_CAPTURES}`}) wanted
          order by ${column} ${isFalling ? 'desc' : 'asc'} nulls last, at desc, territory collate "C" limit ${CAPTURES_OF_PAGE} offset $5) page on true`,
    [from, to, guild, territory, page.offset],
  )
  const total = found[0]?.total ?? 0
  const shown = found.filter(({ at }) => at !== null)
  const reached = by === 'at' ? total : Math.min(total, SORTED_CAPTURES)
  const { rows } = captureTable(shown)
  const columns = headings.map(([key, heading]) =>
    sortLink({ key, heading }, { by, isOther, isFalling }, { path: '/captures', query, anchor: 'latest' }),
  )
  const sorted = reached < total ? `Sorted: the latest ${number(SORTED_CAPTURES)} of ${number(total)}. ` : ''
  const of = { captured_at: [from, to] as const, ...(territory !== '' && { territory }) }
  // The question has no guild that is either side, and no part of a name.
  const isAsked = guild === '' && (territory === '' || shown.every((one) => one.territory === territory))
  const note = isAsked ? html`${sorted}${csvLink('territory_capture', of)}` : sorted
  return {
    total,
    of: `${territory === '' ? '' : ` of ${territory}`}${guild === '' ? '' : ` by or from ${guild}`}`,
    links: page.links(reached),
    figure: listFigure('latest', page.range(shown.length, reached) ?? count(total, 'capture'), { columns, rows, note }),
  }
}

/** `/captures?guild=&territory=&sort=&page=&from=&to=`: who took what from whom in a period. */
export async function capturesPage(visit: Visit): Promise<Page> {
  const { sql, query } = visit
  const { frame, control, kept } = await shownPeriod(visit, { path: '/captures', of: ['territories'] })
  // The pictures are of all captures of the period, and stand before the first of them.
  const isWhole = ['guild', 'territory', 'page'].every((name) => !query.has(name))
  // One is drawn while the database works for the next.
  const [drawn, { total, of, links, figure }] = await Promise.all([
    isWhole ? drawnOf(sql, frame) : [],
    listed(visit, frame),
  ])
  const [captures] = drawn
  const fields = [
    ['guild', 'Guild'],
    ['territory', 'Territory'],
  ] as const
  return {
    path: '/captures',
    feed: '/feeds/captures.atom',
    title: captures?.title ?? `${count(total, 'capture')}${of}`,
    lead: `Territories that changed hands, ${moment(frame.from, frame.writtenAt)} to ${moment(frame.to, frame.writtenAt)}.`,
    control: html`${control}${searchForm('/captures', fields, query)}<p class="at"><a href="${kept('/records')}">Records of the map</a></p>`,
    links,
    chapters: [
      ...(drawn.length > 0 ? [chapterOf('war', 'Who takes from whom', ...drawn)] : []),
      ...(total > 0 ? [chapterOf('list', 'Captures', figure)] : []),
    ],
  }
}

async function drawnOf(sql: Sql, frame: Frame): Promise<readonly Figure[]> {
  const [captures, { table, ...matrix }] = await Promise.all([
    capturesFigure(sql, frame),
    readHolders(sql, frame.to).then((guilds) => captureMatrixFigure(sql, { ...frame, roster: rosterOf(guilds) })),
  ])
  if (!table || table.rows.length <= LISTED_PAIRS) return [captures, { ...matrix, ...(table && { table }) }]
  const all = csvLink('capture_matrix', { from_time: frame.from, to_time: frame.to }, 'CSV of all')
  const note = html`The first ${number(LISTED_PAIRS)} of ${number(table.rows.length)} pairs; ${all}.`
  return [captures, { ...matrix, table: { ...table, rows: table.rows.slice(0, LISTED_PAIRS), note } }]
}

interface MapRecord {
  readonly record: string
  readonly territory: string | null
  readonly uuid: string | null
  readonly name: string | null
  readonly value: number
  readonly from: Date
  readonly to: Date
  readonly quality: string
  readonly most: number | null
}

/** SQL: what was found, with the name of the guild then. */
const named = `
  select found.record, found.territory, found.guild_uuid::text as uuid, guild.guild_name as name, found.value::float8 as value,
         found.begins as "from", found.ends as "to"
    from found
    left join lateral (select hold.guild_name from analytics.territory_hold hold where hold.guild_uuid = found.guild_uuid and hold.held_from <= found.ends
                        order by hold.held_from desc limit 1) guild on true`

const captureRecords = `
  with capture as materialized (
    select territory, to_guild_uuid as guild_uuid, captured_at from analytics.territory_capture where captured_at >= $1 and captured_at < $2),
  found as (
    (select 'most captures in a day' as record, null as territory, guild_uuid, count(*) as value,
            date_bin('1 day', captured_at, timestamptz 'epoch') as begins, date_bin('1 day', captured_at, timestamptz 'epoch') + interval '24 hours' as ends
       from capture group by guild_uuid, begins order by value desc, begins, guild_uuid limit 1)
     union all
    (select 'most contested place', territory, null, count(*), min(captured_at), max(captured_at)
       from capture group by territory order by count(*) desc, territory collate "C" limit 1))
  ${named}`

/** SQL: until when a response showed a hold, at the latest until its end: only what lasted longer than the longest shown of a few can have been shown longer. */
const shown = `(select least(one.confirmed_until, one.held_until, $2) as until from analytics.territory_hold one
                 where one.territory = hold.territory and one.held_from = hold.held_from) shown`
const longest = (n: number) =>
  `(select * from hold where begins < ends order by ends - begins desc, begins, territory collate "C" limit ${n})`

/** A week may have 60,000 holds, which two sessions read at once. */
const holdSql = `
  with hold as materialized (
    select held.territory, held.guild_uuid, held.held_from, greatest(held.held_from, $1::timestamptz) as begins,
           least(held.held_until, analytics.territory_unknown_from(held.held_until, gap.begins, gap.ends), $2::timestamptz) as ends
      from ${mapSql.held('$1', '$2')} held cross join analytics.territory_gaps($1, $2) gap where held.guild_uuid is not null)`

/** Of the longest it is looked up what confirmed them. */
const longestHold = `${holdSql},
  found as (
    select 'longest confirmed hold' as record, hold.territory, hold.guild_uuid, extract(epoch from shown.until - hold.begins) as value,
           hold.begins, shown.until as ends
      from (select * from ${longest(1000)} hold
             where ends - begins >= (select coalesce(max(shown.until - hold.begins), '0') from ${longest(20)} hold cross join lateral ${shown})) hold
     cross join lateral ${shown}
     where shown.until > hold.begins
     order by shown.until - hold.begins desc, hold.begins, hold.territory collate "C" limit 1)
  ${named}`

/** By the instant of those guilds alone that, with all they won in an hour, had as many as the most that any had when one ended. */
const largestEmpire = `${holdSql},
  of_hour as materialized (
    select guild_uuid, sum(sum(won - lost)) over until as held, sum(sum(won - lost)) over until + sum(lost) as most
      from (select guild_uuid, date_bin('1 hour', begins, timestamptz 'epoch') as hour, count(*)::int as won, 0 as lost
              from hold where begins < ends group by 1, 2
             union all
            select guild_uuid, date_bin('1 hour', ends, timestamptz 'epoch'), 0, count(*)::int from hold where begins < ends group by 1, 2) side
     group by guild_uuid, hour
    window until as (partition by guild_uuid order by hour)),
  change as materialized (
    select guild_uuid, moment.at, moment.more
      from hold cross join lateral (values (begins, 1), (ends, -1)) as moment(at, more)
     where begins < ends and guild_uuid in (select guild_uuid from of_hour where most >= (select max(held) from of_hour))),
  empire as materialized (
    select guild_uuid, at, sum(more) over (partition by guild_uuid order by at) as held
      from change order by 3 desc, at, guild_uuid limit 1),
  found as (
    select 'largest empire' as record, null as territory, empire.guild_uuid, empire.held as value, empire.at as begins,
           (select min(change.at) from change where change.guild_uuid = empire.guild_uuid and change.at > empire.at) as ends
      from empire)
  ${named}`

const missedSql = `
  select exists (select from analytics.unobserved('territories', $1, $2)) or gap.begins is not null or watch.first_at > $1 as missed
    from analytics.watch('territories') watch cross join analytics.territory_gaps($1, $2) gap`

/** The records of a period, from what responses show: each is certain, and exact where no response was missing. */
async function recordsBetween(sql: Sql, { from, to }: Frame): Promise<MapRecord[]> {
  const record = async (statement: string) =>
    await sql.query<Omit<MapRecord, 'quality' | 'most'>>(statement, [from, to])
  const [[watched], ...found] = await Promise.all([
    sql.query<{ missed: boolean }>(missedSql, [from, to]),
    ...[largestEmpire, longestHold, captureRecords].map(record),
  ])
  const isExact = watched?.missed === false
  return found
    .flat()
    .sort((a, b) => (a.record < b.record ? -1 : 1))
    .map((one) => ({ ...one, quality: isExact ? 'exact' : 'at_least', most: isExact ? one.value : null }))
}

async function recordsOfAllTime(sql: Sql): Promise<MapRecord[]> {
  return await sql.query<MapRecord>(
    `select record, territory, guild_uuid::text as uuid, guild_name as name, value, from_time as "from", to_time as "to", quality, at_most as most
       from analytics.territory_record order by record collate "C"`,
  )
}

/** `/records`: the most captures in a day, the longest hold, the largest empire and the most contested place, of all time or of a period. */
export async function recordsPage(visit: Visit): Promise<Page> {
  const { frame, control, isWhole } = await shownPeriod(visit, { path: '/records', of: ['territories'] })
  const records = await (isWhole ? recordsOfAllTime(visit.sql) : recordsBetween(visit.sql, frame))
  const said = (record: string, value: number | null) =>
    value === null
      ? '?'
      : record === 'longest confirmed hold'
        ? length(value)
        : record === 'largest empire'
          ? count(value, 'territory', 'territories')
          : count(value, 'capture')
  const rows = records.map((one): Cell[] => [
    one.record,
    one.territory === null ? '' : link('territories', one.territory),
    one.uuid === null ? '' : guildLink(one.uuid, one.name),
    `${one.quality === 'exact' ? '' : 'at least '}${said(one.record, one.value)}`,
    one.quality === 'exact' ? '' : said(one.record, one.most),
    one.from,
    one.to,
  ])
  const columns = ['Record', 'Territory', 'Guild', 'How much', 'At most', 'From (UTC)', 'Until (UTC)']
  const figure =
    records.length === 0
      ? isWhole
        ? missing('record-list', 'No record of the map is known yet', 'wynnsync sync territories')
        : { id: 'record-list', title: 'The map was not seen in this period' }
      : listFigure('record-list', count(records.length, 'record'), {
          columns,
          rows,
          note: isWhole ? csvLink('territory_record', {}) : undefined,
        })
  return {
    path: '/records',
    title: records.length === 0 ? figure.title : 'Records of the map',
    lead: `What is certain${isWhole ? ' since the history began' : `, ${moment(frame.from, frame.writtenAt)} to ${moment(frame.to, frame.writtenAt)}`}; “at least” where it was not watched throughout.`,
    control,
    chapters: [chapterOf('records', 'Records', figure)],
  }
}
