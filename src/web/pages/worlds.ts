import { html } from 'hono/html'
import type { Sql } from '../../db/database.ts'
import { type Figure, missing } from '../../drawing/figure.ts'
import type { Frame } from '../../drawing/frame.ts'
import { observedOf } from '../../drawing/period.ts'
import { count, length, moment, number } from '../../drawing/words.ts'
import { onlineTotalFigure, readWorldBars, worldsFigure } from '../../drawing/worlds/worlds-chapter.ts'
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
    `select wanted.span, most.total, coalesce(exact.at, most.at) as at
       from (values (1, 'a day', $1::timestamptz - interval '24 hours'), (2, 'a week', $1::timestamptz - interval '168 hours'),
                    (3, 'all time', timestamptz '-infinity')) as wanted(place, span, since)
      cross join (select coalesce(max(one.averaged_until), '-infinity') as until from sync.tier one where one.sample_table = 'game.online_sample') averaged
      -- Of all time, full hours are read where there are any, and samples since then.
      cross join lateral (select case when wanted.since = '-infinity' then averaged.until else wanted.since end as since) fine
       left join lateral (
         select peak.total, peak.at, peak.is_hour
           from (select sample.total, greatest(sample.observed_at, wanted.since) as at, false as is_hour from game.online_sample sample
                  where sample.total is not null and sample.observed_at <= $1
                    and sample.observed_at >= coalesce((select max(before.observed_at) from game.online_sample before
                                                         where before.observed_at <= fine.since), fine.since)
                 union all
                 select rolled.total_max, rolled.hour, true from game.online_hour rolled
                  where rolled.total_max is not null and rolled.hour >= wanted.since and rolled.hour <= $1) peak
          order by peak.total desc, peak.at desc limit 1) most on true
       left join lateral (select max(sample.observed_at) as at from game.online_sample sample
                           where most.is_hour and sample.total = most.total and sample.observed_at >= most.at
                             and sample.observed_at < most.at + interval '1 hour') exact on true
      order by wanted.place`,
    [seen.last],
  )
  const tiles = peaks.map(({ span, total, at }) => ({
    value: number(total),
    href: '#online',
    bars: [],
    barsLabel: 'Nothing is drawn',
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

async function tableFigure({ sql, query }: Visit, frame: Frame): Promise<Figure> {
  const [seen, { begins, known: steps }] = await Promise.all([
    observedOf(sql, 'online-players'),
    readWorldBars(sql, frame),
  ])
  const up = await sql.query<World>('select world, online, up_since as since from analytics.world')
  if (!seen || (up.length === 0 && steps.length === 0))
    return missing('world-list', 'No world was seen yet', 'wynnsync sync online-players')
  const isUp = new Set(up.map(({ world }) => world))
  const ofWorld = grouped(steps, ({ world }) => world)
  const down = [...ofWorld.keys()].filter((world) => !isUp.has(world))
  const rows = [...up, ...down.map((world) => ({ world, online: null, since: null }))]
  const parts = begins.map((at) => at.getTime())
  const watched = new Set(steps.map(({ at }) => at.getTime()))
  // Null where nothing at all is known, 0 where other worlds are.
  const seriesOf = (world: string) => {
    const own = new Map((ofWorld.get(world) ?? []).map(({ at, average }) => [at.getTime(), average]))
    return parts.map((at) => own.get(at) ?? (watched.has(at) ? 0 : null))
  }
  const highest = steps.reduce((most, { average }) => Math.max(most, average), 1)
  const mostOf = (world: string) =>
    (ofWorld.get(world) ?? []).reduce<number | null>(
      (highest, { most }) => (most === null ? highest : Math.max(highest ?? 0, most)),
      null,
    )
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
