import { html } from 'hono/html'
import type { Sql } from '../../db/database.ts'
import { type Figure, missing } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import { observedOf, type Period, stepOf } from '../../drawing/period.ts'
import { count, length, moment, number } from '../../drawing/words.ts'
import { onlineTotalFigure, readWorldHours, type WorldHour, worldsFigure } from '../../drawing/worlds/worlds-chapter.ts'
import { grouped } from '../html/grouped.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'
import { sortedTable } from '../html/sorted-table.ts'
import { sparkline, tilesMarkup } from '../html/tiles.ts'

/** `/worlds`: the worlds with their players and how long they are up, the highest numbers, and population over time. */
export async function worldsPage(visit: Visit): Promise<Page> {
  const { sql } = visit
  const { frame, control } = await shownPeriod(visit, { path: '/worlds', of: ['online-players'] })
  // One is drawn while the database works for the next.
  const [peaks, table, total, lifecycle, grid] = await Promise.all([
    peaksFigure(visit),
    tableFigure(visit, frame),
    onlineTotalFigure(sql, frame),
    lifecycleFigure(visit, frame),
    worldsFigure(sql, frame),
  ])
  return {
    path: '/worlds',
    title: total.title,
    lead: `Players online, ${moment(frame.from, frame.writtenAt)} to ${moment(frame.to, frame.writtenAt)}.`,
    control,
    chapters: [
      chapterOf('now', 'Worlds', table, ...peaks),
      chapterOf('online', 'Players online', total),
      chapterOf('lifecycle', 'Up and down', lifecycle),
      chapterOf('hours', 'Hour by hour', grid),
    ],
  }
}

interface Peak {
  readonly span: string
  readonly total: number | null
  readonly at: Date | null
}

/** The highest numbers of players that any response has shown, as far as it was watched. */
async function peaksFigure({ sql, now }: Visit): Promise<Figure[]> {
  const seen = await observedOf(sql, 'online-players')
  if (!seen) return []
  const peaks = await sql.query<Peak>(
    `select wanted.span, most.total, most.at
       from (values (1, 'a day', $1::timestamptz - interval '24 hours'), (2, 'a week', $1::timestamptz - interval '168 hours'),
                    (3, 'all time', timestamptz '-infinity')) as wanted(place, span, since)
       left join lateral (
         select peak.total, peak.at
           from (select sample.total, greatest(sample.observed_at, wanted.since) as at from game.online_sample sample
                  where sample.total is not null and sample.observed_at <= $1
                    and sample.observed_at >= coalesce((select max(before.observed_at) from game.online_sample before
                                                         where before.observed_at <= wanted.since), wanted.since)
                 union all
                 select rolled.total_max, rolled.hour from game.online_hour rolled
                  where rolled.total_max is not null and rolled.hour >= wanted.since) peak
          order by peak.total desc, peak.at desc limit 1) most on true
      order by wanted.place`,
    [seen.last],
  )
  const tiles = peaks.map(({ span, total, at }) => ({
    ...{ value: number(total), href: '#online', bars: [], barsLabel: 'Nothing is drawn' },
    label: `${total === 1 ? 'player' : 'players'} at once, the most of ${span}${at === null ? '' : `, on ${moment(at, now)}`}`,
  }))
  const lead = 'As far as it was watched, up to the latest response.'
  return [{ id: 'peaks', title: 'The most at once', lead, picture: tilesMarkup(tiles) }]
}

interface World {
  readonly world: string
  /** Null: the latest response does not list it. */
  readonly online: number | null
  readonly since: Date | null
}

/** So many bars are drawn of each world. */
const BARS = 42

async function tableFigure({ sql, query }: Visit, frame: Frame): Promise<Figure> {
  const [seen, hours] = await Promise.all([observedOf(sql, 'online-players'), readWorldHours(sql, frame)])
  const up = await sql.query<World>('select world, online, up_since as since from analytics.world')
  if (!seen || (up.length === 0 && hours.length === 0))
    return missing('world-list', 'No world was seen yet', 'wynnsync sync online-players')
  const isUp = new Set(up.map(({ world }) => world))
  const down = [...new Set(hours.map(({ world }) => world))].filter((world) => !isUp.has(world))
  const rows = [...up, ...down.map((world) => ({ world, online: null, since: null }))]
  const seriesOf = seriesBy(hours, frame)
  const ofWorld = grouped(hours, ({ world }) => world)
  const highest = Math.max(1, ...hours.map(({ average }) => average ?? 0))
  const mostOf = (world: string) => {
    const known = (ofWorld.get(world) ?? []).flatMap(({ most }) => most ?? [])
    return known.length === 0 ? null : Math.max(...known)
  }
  const upFor = ({ since }: World) => (since === null ? null : (seen.last.getTime() - since.getTime()) / 1000)
  const table = sortedTable<World>(
    rows,
    [
      { key: 'world', heading: 'World', value: ({ world }) => world },
      {
        key: 'players',
        heading: 'Players',
        value: ({ online }) => online,
        cell: ({ online, since }) => (since === null ? '' : online),
        isFalling: true,
      },
      {
        key: 'hours',
        heading: 'Over the period',
        value: () => null,
        cell: ({ world }) => sparkline(seriesOf(world), `Players on ${world} over the period`, highest),
      },
      { key: 'since', heading: 'Up since (UTC)', value: ({ since }) => since, cell: ({ since }) => since ?? 'not up' },
      {
        key: 'uptime',
        heading: 'Up for',
        value: upFor,
        cell: (one) => (one.since === null ? '' : upFor(one) ? length(upFor(one) ?? 0) : 'seen once'),
        isFalling: true,
      },
      { key: 'most', heading: 'Most of the period', value: ({ world }) => mostOf(world), isFalling: true },
    ],
    { path: '/worlds', query, anchor: 'now', usual: 'players' },
  )
  return {
    id: 'world-list',
    title: `${count(up.length, 'world')} up at ${moment(seen.last, frame.writtenAt)}, with ${count(
      up.reduce((sum, { online }) => sum + (online ?? 0), 0),
      'listed player',
    )}`,
    lead: html`Up since: from the first response that listed it. Hatched was not watched; without a bar, the world was not up or empty.`,
    table,
    isTableShown: true,
  }
}

/** The average of each part of the period, of one world after the other: null where nothing at all is known, 0 where others are. */
function seriesBy(hours: readonly WorldHour[], period: Period): (world: string) => (number | null)[] {
  const step = stepOf(period, BARS, 3600) * 1000
  const parts = Math.max(1, Math.ceil((period.to.getTime() - period.from.getTime()) / step))
  const partOf = ({ hour }: WorldHour) =>
    Math.min(parts - 1, Math.max(0, Math.floor((hour.getTime() - period.from.getTime()) / step)))
  const known = hours.filter(({ average }) => average !== null)
  const watched = new Set(known.map(partOf))
  return (world) => {
    const own = known.filter((one) => one.world === world)
    return Array.from({ length: parts }, (_, place) => {
      const here = own.filter((one) => partOf(one) === place)
      if (here.length === 0) return watched.has(place) ? 0 : null
      return here.reduce((sum, { average }) => sum + (average ?? 0), 0) / here.length
    })
  }
}

async function lifecycleFigure({ sql }: { readonly sql: Sql }, { to, writtenAt }: Frame): Promise<Figure> {
  const events = await sql.query<{ world: string; event: string; at: Date }>(
    `select world, event, at from analytics.world_lifecycle where at < $1 order by at desc, world collate "C" limit 50`,
    [to],
  )
  const [last] = events
  if (!last) return missing('worlds-up', 'No world was seen going up or down yet', 'wynnsync sync online-players')
  return {
    id: 'worlds-up',
    title: `${last.world} went ${last.event} on ${moment(last.at, writtenAt)}`,
    lead: html`The latest ${count(events.length, 'change')} before the end of the period.`,
    table: { columns: ['At (UTC)', 'World', 'Went'], rows: events.map(({ at, world, event }) => [at, world, event]) },
  }
}
