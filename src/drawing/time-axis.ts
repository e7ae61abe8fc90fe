import * as Plot from '@observablehq/plot'
import type { Sql } from '../db/database.ts'
import type { Sheet } from './draw.ts'
import { type Period, stepOf } from './period.ts'
import { percent, tick } from './words.ts'

/** Coverage of one step of a period: a share, or NULL without a schedule. */
export interface Watched {
  readonly at: Date
  readonly coverage: number | null
}

/** What is left and right of an axis, in pixels. */
interface Margins {
  readonly marginLeft: number
  readonly marginRight: number
}

/** Left and right of every picture over time, so that those below each other share an axis. */
export const timeMargins = ({ isNarrow }: Sheet) => ({ marginLeft: isNarrow ? 50 : 56, marginRight: isNarrow ? 8 : 16 })

/** Half the width of a letter of a label, and a little more. */
const HALF_LETTER = 3.2

/** The time axis, in UTC. A label that would stick out of the sheet is left out. */
export function timeAxis(period: Period, sheet: Sheet, margins: Margins = timeMargins(sheet)): Plot.ScaleOptions {
  const { marginLeft, marginRight } = margins
  return {
    type: 'utc',
    domain: [period.from, period.to],
    ticks: sheet.isNarrow ? 4 : 10,
    tickFormat: fittingTick(period, { marginLeft, marginRight, width: sheet.width - marginLeft - marginRight }),
    label: null,
  }
}

/** Labels of an axis of `width` pixels, with room beside it: only those that fit. */
export function fittingTick(
  { from, to }: Period,
  { width, marginLeft, marginRight }: Margins & { readonly width: number },
): (at: Date) => string {
  return (at) => {
    const text = tick(at)
    const x = ((at.getTime() - from.getTime()) / (to.getTime() - from.getTime())) * width
    const half = text.length * HALF_LETTER
    return x - half >= -marginLeft && x + half <= width + marginRight ? text : ''
  }
}

/** How well each step of the period was watched. */
export async function readWatched(sql: Sql, resource: string, { from, to }: Period, step: number): Promise<Watched[]> {
  return await sql.query<Watched>(
    `select at, coverage from analytics.watched($1, $2, $3, make_interval(secs => $4), $2)`,
    [resource, from, to, step],
  )
}

/** The end of a step, which the end of the period cuts. */
function endOf(at: Date, step: number, { to }: Period): Date {
  return new Date(Math.min(at.getTime() + step * 1000, to.getTime()))
}

/** Where a step begins and ends on the time axis, for marks of records with `at`. */
export function stepSpan(step: number, period: Period) {
  return { x1: 'at', x2: ({ at }: { readonly at: Date }) => endOf(at, step, period) }
}

/** A strip below a picture over time: as high as the share that was watched, hatched where that is not known or nothing was. */
export function coverageStrip(cells: readonly Watched[], step: number, period: Period, sheet: Sheet): Plot.PlotOptions {
  const span = stepSpan(step, period)
  const title = ({ at, coverage }: Watched) =>
    `${tick(at)}: ${coverage === null ? 'no schedule known' : `${percent(coverage)} observed`}`
  return {
    height: 30,
    marginTop: 2,
    marginBottom: 12,
    ...timeMargins(sheet),
    x: { ...timeAxis(period, sheet), axis: null },
    y: { domain: [0, 1], axis: null },
    marks: [
      Plot.rect(
        cells.filter(({ coverage }) => !coverage),
        { ...span, y1: 0, y2: 1, fill: 'url(#unknown)', title },
      ),
      Plot.rect(
        cells.filter(({ coverage }) => coverage),
        { ...span, y1: 0, y2: 'coverage', fill: 'var(--cover)', title },
      ),
      Plot.text(['watched'], { frameAnchor: 'left', dx: -4, textAnchor: 'end', fill: 'var(--soft)' }),
    ],
  }
}

/** The same as bands behind a picture, where a step is not known at all. */
export function unknownBands(cells: readonly Watched[], step: number, period: Period): Plot.Markish {
  return Plot.rect(
    cells.filter(({ coverage }) => coverage === 0),
    { ...stepSpan(step, period), fill: 'url(#unknown)', title: () => 'not watched' },
  )
}

/** The step of a picture over time: long enough that one expected observation, a little late or early, lies in each. */
export function seriesStep(period: Period, every: number, most = 96): number {
  return stepOf(period, most, every * 1.5)
}
