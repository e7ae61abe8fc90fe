import * as Plot from '@observablehq/plot'
import type { Sql } from '../db/database.ts'
import { draw, type Picture } from '../drawing/draw.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import type { Frame } from '../drawing/frame.ts'
import { stepOf } from '../drawing/period.ts'
import { legendLine } from '../drawing/swatch.ts'
import { stepSpan, timeAxis, type Watched } from '../drawing/time-axis.ts'
import { count, every, moment, number, percent } from '../drawing/words.ts'

interface Gap {
  readonly resource: string
  readonly began: Date
  readonly ended: Date
  readonly missed: number
  readonly reason: string
}

type Cell = Watched & { readonly resource: string }

/** So many gaps are listed: where a resource is observed more seldom than expected, one lies between any two observations. */
const LISTED_GAPS = 500

/** f. What was watched how well, and what was missed why. */
export async function gapsFigure(sql: Sql, frame: Frame): Promise<Figure> {
  const { from, to } = frame
  const step = stepOf(frame, 84)
  const cells = await sql.query<Cell>(
    `select resource, cell.at, cell.coverage
       from analytics.freshness
      cross join lateral analytics.watched(resource, $1, $2, make_interval(secs => $3), $1) cell order by resource collate "C", cell.at`,
    [from, to, step],
  )
  if (cells.length === 0) return missing('gaps', 'Nothing was watched yet', 'wynnsync start')
  const gaps = await readGaps(sql, frame)
  const missed = gaps.reduce((sum, gap) => sum + (gap.missed ?? 0), 0)
  const resources = [...new Set(cells.map(({ resource }) => resource))]
  return {
    id: 'gaps',
    title: cells.every(({ coverage }) => coverage === null)
      ? 'No schedule is known, so nothing counts as missed'
      : missed === 0
        ? 'No expected observation is missing in this period'
        : `${count(missed, 'expected observation')} missed in ${count(gaps.length, 'gap')}`,
    lead: `Share of the time that was observed, per ${every(step)}. Time without an observation is unknown, not zero.`,
    legend: legendLine([
      { fill: 'var(--cover)', label: 'watched as often as expected' },
      { fill: 'var(--cover)', opacity: 0.4, label: 'partly' },
      { fill: 'url(#unknown)', label: 'not observed, or no schedule known' },
    ]),
    picture: picture(cells, resources, step, frame),
    table: {
      columns: ['Resource', 'From (UTC)', 'To (UTC)', 'Missed', 'Why'],
      rows: gaps
        .slice(-LISTED_GAPS)
        .map(({ resource, began, ended, missed, reason }) => [
          resource,
          began,
          ended,
          missed ?? 'none expected',
          reason,
        ]),
      note:
        gaps.length === 0
          ? `No gap; the latest moment of this period is ${moment(to)}.`
          : gaps.length > LISTED_GAPS
            ? `The last ${number(LISTED_GAPS)} of ${number(gaps.length)} gaps.`
            : `${number(gaps.length)} gaps.`,
    },
  }
}

function picture(cells: readonly Cell[], resources: readonly string[], step: number, frame: Frame): Picture {
  return draw('How well each resource was watched over time.', (sheet) => {
    const margins = { marginLeft: sheet.isNarrow ? 92 : 110, marginRight: 12 }
    const span = { ...stepSpan(step, frame), y: 'resource', insetTop: 1, insetBottom: 1 }
    return {
      height: resources.length * 20 + 24,
      ...margins,
      marginTop: 2,
      marginBottom: 22,
      x: { ...timeAxis(frame, sheet, margins), ...(sheet.isNarrow && { ticks: 3 }) },
      y: { domain: resources, label: null, tickSize: 0 },
      opacity: { type: 'identity' },
      marks: [
        Plot.barX(
          cells.filter(({ coverage }) => !coverage),
          { ...span, fill: 'url(#unknown)', title: described },
        ),
        Plot.barX(
          cells.filter(({ coverage }) => coverage),
          {
            ...span,
            fill: 'var(--cover)',
            fillOpacity: (one: Cell) => 0.25 + 0.75 * (one.coverage ?? 0),
            title: described,
          },
        ),
      ],
    }
  })
}

async function readGaps(sql: Sql, frame: Frame) {
  const gaps = await sql.query<Gap>(
    `select resource, gap.began_at as began, gap.ended_at as ended, gap.missed, gap.reason
       from analytics.freshness cross join lateral analytics.unobserved(resource, $1, $2) gap order by gap.began_at, resource collate "C"`,
    [frame.from, frame.to],
  )
  return gaps.map((gap) => ({ ...gap, missed: missedIn(gap, frame) })).filter(({ missed }) => missed !== 0)
}

/** How many of a gap's missed observations lie in the period; NULL where none were expected. They divide it evenly. */
function missedIn({ began, ended, missed }: Gap, { from, to }: Frame): number | null {
  if (missed === 0) return null
  const apart = (ended.getTime() - began.getTime()) / (missed + 1)
  const before = (at: Date) => Math.min(missed, Math.max(0, Math.ceil((at.getTime() - began.getTime()) / apart) - 1))
  return before(to) - before(from)
}

function described({ resource, at, coverage }: Cell): string {
  return `${resource}, ${moment(at)}: ${coverage === null ? 'no schedule known' : `${percent(coverage)} observed`}`
}
