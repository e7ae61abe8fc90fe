import { html } from 'hono/html'
import { nearest } from '../../base/text/nearest.ts'
import { type Figure, listFigure, missing } from '../../drawing/figure.ts'
import { expectedEvery } from '../../drawing/frame.ts'
import type { Table } from '../../drawing/html-table.ts'
import { empiresFigure } from '../../drawing/map/empires.ts'
import { mapFrameOf } from '../../drawing/map/map-frame.ts'
import { territoryLevels, territoryStandingFigure } from '../../drawing/map/territory-standing.ts'
import { territoryStorageFigure } from '../../drawing/map/territory-storage.ts'
import { count, length, levelText, moment, number } from '../../drawing/words.ts'
import type { Holder } from '../../questions/asking/names.ts'
import { csvLink, guildLink, link } from '../html/links.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { type HeldPlace, seenText } from '../html/places-map.ts'
import { type Column, pageOf, sortedTable } from '../html/sorted-table.ts'
import { Problem } from '../http/problems.ts'
import { captureTable, latestCaptures } from './captures.ts'

interface Territory extends Omit<HeldPlace, 'x1' | 'z1' | 'x2' | 'z2'> {
  /** Whether it is known who holds it: else one without a holder is not free. */
  readonly isKnown: boolean
}

const HOUR = 3_600_000

/** So many holds of a territory are listed. */
const LISTED_HOLDS = 100
/** So many captures of a territory are listed. */
const LISTED_CAPTURES = 100
/** The hold that is confirmed longest is found among so many that lasted longest. */
const LONGEST_HOLDS = 500

const columns = `territory, guild_uuid::text as uuid, guild_name as name, guild_prefix as prefix, held_from as since,
  is_hq as hq, treasury, defences, observed_at as observed,
  not exists (select from sync.unsent span where span.resource = 'territories' and span.field in ('/guild', '/guild/uuid') and span.until_at is null)
    and not exists (select from sync.unread span where span.resource = 'territories/holds' and span.key = territory.territory
                       and span.until_at is null) as "isKnown"`

const headings: readonly Column<Territory>[] = [
  {
    key: 'name',
    heading: 'Territory',
    value: ({ territory }) => territory,
    cell: ({ territory }) => link('territories', territory),
  },
  {
    key: 'guild',
    heading: 'Held by',
    value: ({ name, uuid }) => name ?? uuid,
    cell: ({ uuid, name, prefix, isKnown }) => (uuid === null && !isKnown ? null : guildLink(uuid, name, prefix)),
  },
  { key: 'since', heading: 'Since (UTC)', value: ({ since }) => since, isFalling: true },
  {
    key: 'treasury',
    heading: 'Treasury',
    value: ({ treasury }) => heightOf(treasury),
    cell: ({ treasury }) => level(treasury),
    isFalling: true,
  },
  {
    key: 'defences',
    heading: 'Defences',
    value: ({ defences }) => heightOf(defences),
    cell: ({ defences }) => level(defences),
    isFalling: true,
  },
]

/** `/territories?sort=&page=&from=&to=`: all of them with their holders, and how much each guild held in a period. */
export async function territoriesPage(visit: Visit): Promise<Page> {
  const { sql, query } = visit
  const { frame, control } = await shownPeriod(visit, { path: '/territories', of: ['territories'] })
  const page = pageOf('/territories', query)
  const [empires, rows] = await Promise.all([
    mapFrameOf(sql, frame).then((mapFrame) => empiresFigure(sql, mapFrame)),
    sql.query<Territory>(`select ${columns} from analytics.territory order by territory collate "C"`),
  ])
  // Hundreds of numbers a guild: wynnsync query guild_territory_count has them.
  const { table: _, ...drawn } = empires
  const held = rows.filter(({ uuid }) => uuid !== null)
  const table = shownTable(rows, page, query)
  const figure: Figure =
    rows.length === 0
      ? missing('list', 'No territory is known yet', 'wynnsync sync territories')
      : listFigure(
          'list',
          page.past(table.rows.length) ??
            `${count(held.length, 'territory has', 'territories have')} a holder, of ${rows.length}${seenText(rows, visit.now)}`,
          table,
        )
  return {
    path: '/territories',
    title: figure.title,
    lead: 'Every territory and who holds it; above, how many each guild held in the period.',
    control,
    links: page.links(rows.length),
    chapters: [
      chapterOf('empires', 'Territories of each guild', drawn),
      chapterOf('territories', 'Territories', figure),
    ],
  }
}

/** The territories of a page, sorted by the column that the address names. */
function shownTable(rows: readonly Territory[], page: ReturnType<typeof pageOf>, query: URLSearchParams): Table {
  const { columns, rows: sorted } = sortedTable(rows, headings, {
    path: '/territories',
    query,
    anchor: 'list',
    usual: 'name',
  })
  const shown = sorted.slice(page.offset, page.offset + page.size)
  return { columns, rows: shown, note: page.range(shown.length, rows.length) }
}

const heightOf = (level: string | null) => (level === null ? null : territoryLevels.indexOf(level))

const level = (value: string | null) => (value === null ? null : levelText(value))

interface Hold extends Omit<Holder, 'prefix'> {
  /** The last response that showed it. */
  readonly shown: Date
  /** As far as responses show it. */
  readonly seconds: number
}

/** `/territories/NAME`: who holds it, what it is worth, and who held it how long. */
export async function territoryPage(visit: Visit): Promise<Page> {
  const { sql, name, finders } = visit
  const [territory] = await sql.query<Territory>(`select ${columns} from analytics.territory where territory = $1`, [
    name,
  ])
  const holds = await sql.query<Hold>(
    `select guild_uuid::text as uuid, guild_name as name, held_from as since, held_until as until,
            confirmed_until as shown, extract(epoch from confirmed_for)::double precision as seconds
       from analytics.territory_hold where territory = $1 order by held_from desc limit ${LISTED_HOLDS}`,
    [name],
  )
  if (!territory && holds.length === 0)
    throw new Problem('not-found', {
      detail: `territory not found: ${name}`,
      similar: nearest(name, (await finders.exact.territory?.(sql)) ?? []),
    })
  const path = `/territories/${encodeURIComponent(name)}`
  const { frame, control, kept } = await shownPeriod(visit, { path, of: ['territories'] })
  // One is drawn while the database works for the next.
  const [storage, standing, captures, every, longest] = await Promise.all([
    territoryStorageFigure(sql, name, frame),
    territoryStandingFigure(sql, name, frame),
    latestCaptures(sql, { territory: name }, LISTED_CAPTURES + 1),
    expectedEvery(sql, 'territories'),
    longestHold(sql, name),
  ])
  const all = html`The latest ${number(LISTED_CAPTURES)}; <a href="${kept(`/captures?territory=${encodeURIComponent(name)}`)}" rel="nofollow">those of a period</a>.`
  const unobserved = unobservedSince(territory, visit.now, every)
  return {
    path,
    control,
    title: `${titleOf(name, territory)}${unobserved ? `, as of ${moment(unobserved, visit.now)}` : ''}`,
    lead: `${leadOf(territory)}${unobserved ? ` Not observed since ${moment(unobserved, visit.now)} UTC.` : ''}`,
    chapters: [
      chapterOf('holds', 'Holds', holdsFigure(name, territory, holds, longest, visit.now)),
      chapterOf('economy', 'Economy', storage, standing),
      chapterOf('taken', 'Captures', {
        id: 'captures',
        title:
          captures.length > LISTED_CAPTURES
            ? `The latest ${LISTED_CAPTURES} captures`
            : `${count(captures.length, 'capture')} seen`,
        table: {
          ...captureTable(captures.slice(0, LISTED_CAPTURES)),
          note: captures.length > LISTED_CAPTURES ? all : undefined,
        },
        isTableShown: captures.length > 0,
      }),
    ],
  }
}

/** When it was last observed, where that is longer ago than a late observation explains. */
function unobservedSince(row: Territory | undefined, now: Date, every: number): Date | undefined {
  const observed = row?.observed ?? undefined
  const late = Math.max(HOUR, 2.5 * every * 1000)
  return observed && now.getTime() - observed.getTime() > late ? observed : undefined
}

function titleOf(territory: string, row: Territory | undefined): string {
  if (!row) return `${territory} is not on the map any more`
  if (row.uuid === null) return row.isKnown ? `No guild holds ${territory}` : `Who holds ${territory} is not known`
  const { since, observed } = row
  const held = since && observed ? ` for ${length(Math.max(0, observed.getTime() - since.getTime()) / 1000)}` : ''
  return `${row.name ?? row.uuid}${row.prefix === null ? '' : ` [${row.prefix}]`} holds ${territory}${held}`
}

function leadOf(row: Territory | undefined): string {
  if (!row) return 'Who held it, and when.'
  const { treasury, defences, hq, uuid, isKnown } = row
  const owner = uuid !== null ? '' : isKnown ? 'It is unowned. ' : 'It is not known who holds it. '
  return `${owner}Treasury ${levelText(treasury)}, defences ${levelText(defences)}${hq ? ', headquarters of its guild' : ''}.`
}

/** The hold that responses show longest, with how many there are in all: more than are listed. */
async function longestHold(
  sql: Visit['sql'],
  territory: string,
): Promise<(Hold & { readonly all: number }) | undefined> {
  const [longest] = await sql.query<Hold & { readonly all: number }>(
    `select guild_uuid::text as uuid, guild_name as name, held_from as since, held_until as until, confirmed_until as shown,
            extract(epoch from confirmed_for)::double precision as seconds, long.all
       -- Which responses show a hold is looked up of the longest alone: a territory may have thousands, of which the index says when the next one began.
       from (select own.valid_from, (own.all - free.holds)::int as all
               from (select valid_from, count(*) over () as all, coalesce(lead(valid_from) over (order by valid_from), now()) - valid_from as most
                       from game.territory_hold where territory = $1) own
              cross join (select count(*) as holds from game.territory_hold where territory = $1 and guild_uuid is null) free
              order by own.most desc limit ${LONGEST_HOLDS}) long
       join analytics.territory_hold hold on hold.territory = $1 and hold.held_from = long.valid_from
      order by confirmed_for desc, held_from desc limit 1`,
    [territory],
  )
  return longest
}

function holdsFigure(
  name: string,
  row: Territory | undefined,
  holds: readonly Hold[],
  longest: Awaited<ReturnType<typeof longestHold>>,
  now: Date,
): Figure {
  if (!longest && row && !row.isKnown)
    return { id: 'hold-list', title: 'Who held it is not known', lead: 'No response says it now.' }
  if (!longest) {
    const until = row?.observed ? `, at the latest on ${moment(row.observed, now)} UTC` : ''
    return { id: 'hold-list', title: 'It is unowned', lead: `No guild held ${name} whenever it was observed${until}.` }
  }
  return listFigure(
    'hold-list',
    `Held longest by ${longest.name ?? longest.uuid}: ${length(longest.seconds)} from ${moment(longest.since, now)}, as far as responses show it`,
    {
      columns: ['Guild', 'From (UTC)', 'Last shown (UTC)', 'Until (UTC)', 'Held for at least'],
      rows: holds.map(({ uuid, name, since, shown, until, seconds }) => [
        guildLink(uuid, name),
        since,
        shown,
        until ?? '',
        { value: seconds, shown: length(seconds) },
      ]),
      note:
        longest.all > holds.length
          ? html`The latest ${number(holds.length)} of ${number(longest.all)}; ${csvLink('territory_hold', { territory: name }, 'CSV of all')}.`
          : undefined,
    },
  )
}
