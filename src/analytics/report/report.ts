import type { Sql } from '../../db/database.ts'
import { balanceFigure } from './content/balance.ts'
import { poolsFigure } from './content/pools.ts'
import type { Chapter } from './drawing/figure.ts'
import { freshnessFigure } from './freshness/freshness.ts'
import { gapsFigure } from './freshness/gaps.ts'
import { biggestGuild, guildChapter } from './guild/guild-chapter.ts'
import { captureMatrixFigure } from './map/capture-matrix.ts'
import { capturesFigure } from './map/captures.ts'
import { empiresFigure } from './map/empires.ts'
import { mapFigure } from './map/map.ts'
import { mapFrameOf } from './map/map-frame.ts'
import { pageOf } from './page.ts'
import { patchFigure } from './patch/patch-chapter.ts'
import { type Period, periodOf } from './period.ts'
import { onlineTotalFigure } from './worlds/online-total.ts'
import { worldsFigure } from './worlds/worlds-chapter.ts'

/** What a report is wanted about. */
export interface Wanted extends Partial<Period> {
  /** Uuid of the guild that gets a page; the biggest one when left out. */
  readonly guild?: string | undefined
  readonly writtenAt: Date
  /** Print every row of the tables, not only the first ones. */
  readonly tables?: boolean
  /** Version of the program, for the foot of the page. */
  readonly version: string
}

/** A report: one HTML file that needs no other. */
export interface Report extends Period {
  readonly guild: string | null
  readonly html: string
}

/** Queries schema `analytics` and writes the results as a page with pictures. */
export async function composeReport(
  sql: Sql,
  { version, tables = false, writtenAt, ...wanted }: Wanted,
): Promise<Report> {
  const period = await periodOf(sql, wanted, writtenAt)
  const guild = wanted.guild ?? (await biggestGuild(sql))
  const frame = await mapFrameOf(sql, { ...period, guild, writtenAt })
  const territories = [mapFigure, empiresFigure, capturesFigure, captureMatrixFigure]
  const chapters: Chapter[] = [
    { id: 'territories', heading: 'Territories', figures: await each(territories, (draw) => draw(sql, frame)) },
    await guildChapter(sql, frame),
    {
      id: 'players',
      heading: 'Players online',
      figures: await each([onlineTotalFigure, worldsFigure], (draw) => draw(sql, frame)),
    },
    { id: 'game', heading: 'The last patch', figures: [await patchFigure(sql, frame)] },
    {
      id: 'content',
      heading: 'Pools and balance',
      figures: await each([poolsFigure, balanceFigure], (draw) => draw(sql, frame)),
    },
    {
      id: 'completeness',
      heading: 'How complete this is',
      figures: [await freshnessFigure(sql, writtenAt), await gapsFigure(sql, frame)],
    },
  ]
  return { ...period, guild, html: await pageOf(chapters, frame, { version, tables }) }
}

/** One after the other: an embedded database runs one query at a time. */
async function each<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = []
  for (const item of items) results.push(await work(item))
  return results
}
