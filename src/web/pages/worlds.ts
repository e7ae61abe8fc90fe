import { html } from 'hono/html'
import { type Figure, missing } from '../../analytics/report/drawing/figure.ts'
import { count, moment } from '../../analytics/report/words.ts'
import { onlineTotalFigure } from '../../analytics/report/worlds/online-total.ts'
import { worldsFigure } from '../../analytics/report/worlds/worlds-chapter.ts'
import { chapterOf, type Page, type Visit } from '../html/page.ts'
import { shownPeriod } from '../html/period.ts'

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
