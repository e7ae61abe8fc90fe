import * as Plot from '@observablehq/plot'
import type { Sql } from '../../db/database.ts'
import { draw } from '../draw.ts'
import { type Figure, missing } from '../figure.ts'
import { expectedEvery, type Frame } from '../frame.ts'
import { rowsOf } from '../html-table.ts'
import type { Period } from '../period.ts'
import { legendLine } from '../swatch.ts'
import { coverageStrip, seriesStep, stepSpan, timeAxis, timeMargins } from '../time-axis.ts'
import { every, moment, number, percent } from '../words.ts'

/** c. How many are online in all over time, and how many of them hide. */
export async function onlineTotalFigure(sql: Sql, frame: Frame): Promise<Figure> {
  const step = seriesStep(frame, await expectedEvery(sql, 'online-players'))
  const steps = await readOnline(sql, frame, step)
  const known = steps.filter(({ total }) => total !== null)
  const [first, ...rest] = known
  if (!first)
    return missing('online-total', 'No observation of who was online in this period', 'wynnsync sync online-players')
  const peak = rest.reduce((a, b) => ((b.peak ?? 0) > (a.peak ?? 0) ? b : a), first)
  const counted = known.filter(({ hidden }) => hidden !== null)
  const sum = (of: (one: OnlineStep) => number | null) => counted.reduce((total, one) => total + (of(one) ?? 0), 0)
  const share = counted.length > 0 ? sum(({ hidden }) => hidden) / sum(({ total }) => total) : null
  const span = stepSpan(step, frame)
  return {
    id: 'online-total',
    title: `At most ${number(peak.peak)} players at once, around ${moment(peak.at)}; ${percent(share)} of all hid`,
    lead: `Players online, averages per ${every(step)}; who hides is counted by the API and listed nowhere.`,
    legend: legendLine([
      { fill: 'var(--g4)', label: 'listed' },
      { fill: 'url(#g1-lines)', label: 'hidden' },
      { fill: 'url(#unknown)', label: 'not known' },
    ]),
    picture: draw('Players online over time, listed and hidden.', (sheet) => [
      {
        height: sheet.isNarrow ? 180 : 220,
        ...timeMargins(sheet),
        x: timeAxis(frame, sheet),
        y: { label: null, ticks: 4, grid: true, nice: true, zero: true },
        marks: [
          Plot.rect(
            steps.filter(({ total }) => total === null),
            { ...span, fill: 'url(#unknown)', title: described },
          ),
          Plot.rect(known, {
            ...span,
            y1: 0,
            y2: (one: OnlineStep) => (one.total ?? 0) - (one.hidden ?? 0),
            fill: 'var(--g4)',
            title: described,
          }),
          Plot.rect(counted, {
            ...span,
            y1: (one: OnlineStep) => (one.total ?? 0) - (one.hidden ?? 0),
            y2: 'total',
            fill: 'url(#g1-lines)',
            title: described,
          }),
          Plot.ruleY([0]),
        ],
      },
      coverageStrip(steps, step, frame, sheet),
    ]),
    table: {
      columns: ['From (UTC)', 'Online, average', 'Online, most', 'Hidden, average', 'Coverage'],
      rows: rowsOf(steps, 'at', 'total', 'peak', 'hidden', 'coverage'),
    },
  }
}

function described({ at, total, peak, hidden }: OnlineStep): string {
  if (total === null) return `${moment(at)}: not known`
  return `${moment(at)}: ${number(total)} online, ${number(peak)} at most, ${number(hidden)} hidden`
}

/** Players online in one step; NULL without an observation, or where the API sent no count. */
export interface OnlineStep {
  readonly at: Date
  readonly total: number | null
  readonly peak: number | null
  readonly hidden: number | null
  readonly coverage: number | null
}

/** Totals in every step of the period; `step` in seconds. */
export async function readOnline(sql: Sql, { from, to }: Period, step: number): Promise<OnlineStep[]> {
  return await sql.query<OnlineStep>(
    `select at, total_avg as total, total_max as peak, hidden_avg as hidden, coverage
       from analytics.online_total($1, $2, make_interval(secs => $3))`,
    [from, to, step],
  )
}
