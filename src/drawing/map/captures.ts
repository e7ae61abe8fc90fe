import * as Plot from '@observablehq/plot'
import type { Sql } from '../../db/database.ts'
import { draw } from '../draw.ts'
import { type Figure, missing } from '../figure.ts'
import { expectedEvery, type Frame } from '../frame.ts'
import { observedOf } from '../period.ts'
import { legendLine } from '../swatch.ts'
import { coverageStrip, readWatched, seriesStep, stepSpan, timeAxis, timeMargins, unknownBands } from '../time-axis.ts'
import { count, every, length, moment, number, wholeTick } from '../words.ts'

interface Step {
  readonly at: Date
  readonly taken: number
  readonly retaken: number
}

/** b. Captures over time. */
export async function capturesFigure(sql: Sql, frame: Frame): Promise<Figure> {
  const step = seriesStep(frame, await expectedEvery(sql, 'territories'))
  const steps = await sql.query<Step>(
    `select moment.at, coalesce(captured.taken, 0) as taken, coalesce(captured.retaken, 0) as retaken
       from generate_series($1::timestamptz, $2::timestamptz - interval '1 microsecond', make_interval(secs => $3)) as moment(at)
       left join (select date_bin(make_interval(secs => $3), captured_at, $1) as at,
                         count(*) filter (where not is_recapture)::int as taken, count(*) filter (where is_recapture)::int as retaken
                    from analytics.territory_capture where captured_at >= $1 and captured_at < $2 group by 1) captured
         on captured.at = moment.at
      order by moment.at`,
    [frame.from, frame.to, step],
  )
  const total = steps.reduce((sum, { taken, retaken }) => sum + taken + retaken, 0)
  if (total === 0) {
    const id = 'captures'
    const title = 'No capture was seen in this period'
    // Where the map is watched, there is nothing to bring.
    return (await observedOf(sql, 'territories')) ? { id, title } : missing(id, title, 'wynnsync sync territories')
  }
  const watched = await readWatched(sql, 'territories', frame, step)
  const most = steps.reduce((a, b) => (b.taken + b.retaken > a.taken + a.retaken ? b : a))
  const span = {
    ...stepSpan(step, frame),
    insetLeft: 0.5,
    insetRight: 0.5,
  }
  return {
    id: 'captures',
    title: `${count(total, 'capture')}, most of them around ${moment(most.at, frame.writtenAt)}: ${number(most.taken + most.retaken)} in ${length(step)}`,
    lead: `Captures per ${every(step)}, by the game's own clock. A place that changed hands several times between two responses counts once; without observations, the bars are a lower bound.`,
    legend: legendLine([
      { fill: 'var(--g4)', label: 'taken from another guild, or unclaimed before' },
      { fill: 'url(#g1-lines)', label: 'taken again by its holder' },
      { fill: 'url(#unknown)', label: 'not watched' },
    ]),
    picture: draw('Captures over time, as bars.', (sheet) => [
      {
        height: sheet.isNarrow ? 180 : 220,
        ...timeMargins(sheet),
        x: timeAxis(frame, sheet),
        y: { label: null, ticks: 4, tickFormat: wholeTick, grid: true, nice: true },
        marks: [
          unknownBands(watched, step, frame),
          Plot.rect(steps, { ...span, y1: 0, y2: 'taken', fill: 'var(--g4)', title: described }),
          Plot.rect(steps, {
            ...span,
            y1: 'taken',
            y2: (one: Step) => one.taken + one.retaken,
            fill: 'url(#g1-lines)',
            title: described,
          }),
          Plot.ruleY([0]),
        ],
      },
      coverageStrip(watched, step, frame, sheet),
    ]),
    table: {
      columns: ['From (UTC)', 'Taken', 'Taken again', 'Coverage'],
      rows: steps.map(({ at, taken, retaken }, index) => [at, taken, retaken, watched[index]?.coverage ?? null]),
      note: 'Coverage: the share of the time for which an observation speaks; ? without a schedule.',
    },
  }
}

function described({ at, taken, retaken }: Step): string {
  return `${moment(at)}: ${taken} taken, ${retaken} taken again`
}
