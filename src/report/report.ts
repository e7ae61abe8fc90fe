import { html, raw } from 'hono/html'
import type { Sql } from '../db/database.ts'
import { documentText, policyOf } from '../drawing/document.ts'
import { type Chapter, chapterMarkup } from '../drawing/figure.ts'
import type { Frame } from '../drawing/frame.ts'
import { freshnessFigure } from '../drawing/freshness.ts'
import type { Markup } from '../drawing/html-table.ts'
import { captureMatrixFigure } from '../drawing/map/capture-matrix.ts'
import { capturesFigure } from '../drawing/map/captures.ts'
import { empiresFigure } from '../drawing/map/empires.ts'
import { mapFigure } from '../drawing/map/map.ts'
import { mapFrameOf } from '../drawing/map/map-frame.ts'
import { type Period, periodOf } from '../drawing/period.ts'
import { instant, moment } from '../drawing/words.ts'
import { onlineTotalFigure } from '../drawing/worlds/online-total.ts'
import { worldsFigure } from '../drawing/worlds/worlds-chapter.ts'
import { balanceFigure } from './balance.ts'
import { gapsFigure } from './gaps.ts'
import { biggestGuild, guildChapter } from './guild-chapter.ts'
import { patchFigure } from './patch-chapter.ts'
import { poolsFigure } from './pools.ts'

/** What a report is wanted about. */
export interface Wanted extends Partial<Period> {
  /** Uuid of the guild that gets a page; the biggest one when left out. */
  readonly guild?: string | undefined
  readonly writtenAt: Date
  /** Print every row of the tables, not only the first ones. */
  readonly tables?: boolean
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

const policy = [...policyOf(), `form-action 'none'`].join('; ')

/** The whole page, of one file that needs no other. */
async function pageOf(
  chapters: readonly Chapter[],
  { from, to, writtenAt }: Frame,
  { version, tables }: { readonly version: string; readonly tables: boolean },
): Promise<string> {
  const period = `${moment(from)} to ${moment(to)}`
  return await documentText({
    title: `wynnsync: ${period}`,
    version,
    head: html`<meta http-equiv="Content-Security-Policy" content="${raw(policy)}">`,
    body: html`<header><h1>What happened, ${period}</h1>
<p class="soft">Written ${instant(writtenAt)}. All times are UTC. Hatched (on paper, dashed) is unknown, not zero.</p>
<nav aria-label="Findings"><dl>${chapters.map(contents)}</dl></nav></header>
<main class="${tables ? '' : 'brief'}">${chapters.map(chapterMarkup)}</main>
<footer>wynnsync ${version}, from the schema <code>analytics</code>; <code>wynnsync query --list</code> shows what else can be
asked. Not affiliated with the makers of the game or of its API.</footer>`,
  })
}

function contents({ id, heading, figures }: Chapter): Markup {
  const findings = figures.map((one) => html`<a href="#${one.id}">${one.title}</a>`)
  return html`<div><dt><a href="#${id}">${heading}</a></dt><dd>${findings}</dd></div>`
}
