import { html } from 'hono/html'
import { type Figure, missing } from '../../analytics/report/drawing/figure.ts'
import { freshnessFigure } from '../../analytics/report/freshness/freshness.ts'
import { gapsFigure } from '../../analytics/report/freshness/gaps.ts'
import { count, instant, moment } from '../../analytics/report/words.ts'
import { onlineTotalFigure } from '../../analytics/report/worlds/online-total.ts'
import { worldsFigure } from '../../analytics/report/worlds/worlds-chapter.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'

/** `/status`: how fresh and complete each resource is. */
export async function statusPage(visit: Visit): Promise<Page> {
  const { sql, now } = visit
  const { frame, control } = await shownPeriod(visit, { path: '/status' })
  const fresh = await freshnessFigure(sql, now)
  return {
    path: '/status',
    title: fresh.title,
    lead: `How fresh and complete the history is, as of ${instant(now)} UTC.`,
    control,
    chapters: [chapterOf('completeness', 'Resources', fresh, await gapsFigure(sql, frame))],
  }
}

/** `/worlds`: population of the worlds, and when they went up and down. */
export async function worldsPage(visit: Visit): Promise<Page> {
  const { sql } = visit
  const { frame, control } = await shownPeriod(visit, { path: '/worlds', of: ['online-players'] })
  // One is drawn while the database works for the next.
  const [total, worlds, lifecycle] = await Promise.all([
    onlineTotalFigure(sql, frame),
    worldsFigure(sql, frame),
    lifecycleFigure(visit),
  ])
  return {
    path: '/worlds',
    title: total.title,
    lead: `Players online, ${moment(frame.from)} to ${moment(frame.to)}.`,
    control,
    chapters: [chapterOf('online', 'Players online', total, worlds), chapterOf('lifecycle', 'Up and down', lifecycle)],
  }
}

async function lifecycleFigure({ sql }: Visit): Promise<Figure> {
  const events = await sql.query<{ world: string; event: string; at: Date }>(
    `select world, event, at from analytics.world_lifecycle order by at desc, world collate "C" limit 50`,
  )
  const [last] = events
  if (!last) return missing('worlds-up', 'No world was seen going up or down yet', 'wynnsync sync online-players')
  return {
    id: 'worlds-up',
    title: `${last.world} went ${last.event} on ${moment(last.at)}`,
    lead: html`The latest ${count(events.length, 'change')}.`,
    table: { columns: ['At (UTC)', 'World', 'Went'], rows: events.map(({ at, world, event }) => [at, world, event]) },
    isTableShown: true,
  }
}
