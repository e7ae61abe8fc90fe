import * as Plot from '@observablehq/plot'
import type { Sql } from '../../../db/database.ts'
import { draw, type Picture } from '../drawing/draw.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import { expectedEvery, type Frame } from '../drawing/frame.ts'
import { heat, heatLegend } from '../drawing/swatch.ts'
import { coverageStrip, seriesStep, stepSpan, timeAxis, timeMargins } from '../drawing/time-axis.ts'
import { stepsOf } from '../period.ts'
import { every, moment, number } from '../words.ts'
import { type OnlineStep, readOnline } from './online-total.ts'
import { type Cell, cellsOf, type Hour } from './world-cells.ts'

/** c. Who is online where: a heat map of worlds and time. */
export async function worldsFigure(sql: Sql, frame: Frame): Promise<Figure> {
  const hours = await sql.query<Hour>(
    `select world, hour, online_avg as average, online_max as most, coverage from analytics.world_peak($1, $2)`,
    [frame.from, frame.to],
  )
  const [first, ...rest] = hours
  if (!first) return missing('worlds', 'No observation of the worlds in this period', 'wynnsync sync online-players')
  const fullest = rest.reduce((a, b) => ((b.most ?? 0) > (a.most ?? 0) ? b : a), first)
  const poll = Math.max(2400, await expectedEvery(sql, 'online-players'))
  const fine = seriesStep(frame, poll, 170)
  const gridOf = async (step: number) => ({ step, watched: await readOnline(sql, frame, step) })
  const grids = { wide: await gridOf(fine), narrow: await gridOf(seriesStep(frame, poll, 40)) }
  const worlds = [...new Set(hours.map(({ world }) => world))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  )
  const most = Math.max(...hours.map(({ average }) => average ?? 0))
  const cells = cellsOf(hours, grids.wide.watched, frame, fine)
  return {
    id: 'worlds',
    title: `${fullest.world} was the fullest world: ${number(fullest.most)} players on ${moment(fullest.hour)}`,
    lead: `Listed players per world and ${every(fine)}, averages of the time that was watched. Blank: the world was not up. Half hatched: less than nine tenths were watched.`,
    legend: heatLegend(most, 'players'),
    picture: picture(hours, grids, worlds, most, frame),
    table: {
      columns: ['From (UTC)', ...worlds],
      rows: stepsOf(frame, fine).map((at) => [
        at,
        ...worlds.map(
          (world) => cells.averages.get(`${at.getTime()} ${world}`) ?? (cells.known.has(at.getTime()) ? '' : null),
        ),
      ]),
      note: 'Averages; blank: the world was not up; ?: not observed.',
    },
  }
}

interface Steps {
  readonly step: number
  readonly watched: readonly OnlineStep[]
}

function picture(
  hours: readonly Hour[],
  grids: { readonly wide: Steps; readonly narrow: Steps },
  worlds: readonly string[],
  most: number,
  frame: Frame,
): Picture {
  return draw('Players per world over time, as a grid.', (sheet) => {
    const { step, watched } = sheet.isNarrow ? grids.narrow : grids.wide
    const drawn = cellsOf(hours, watched, frame, step)
    const span = {
      ...stepSpan(step, frame),
      y: 'world',
      insetTop: 0.5,
      insetRight: 0.5,
    }
    return [
      {
        height: worlds.length * (sheet.isNarrow ? 13 : 15) + 24,
        ...timeMargins(sheet),
        marginTop: 2,
        marginBottom: 22,
        x: timeAxis(frame, sheet),
        y: { domain: worlds, label: null, tickSize: 0 },
        marks: [
          Plot.barX(
            watched
              .filter(({ at }) => !drawn.known.has(at.getTime()))
              .flatMap(({ at }) => worlds.map((world) => ({ at, world }))),
            { ...stepSpan(step, frame), y: 'world', fill: 'url(#unknown)' },
          ),
          Plot.barX(drawn.cells, {
            ...span,
            fill: 'var(--heat)',
            fillOpacity: (one: Cell) => heat(one.average, most),
            title: described,
          }),
          Plot.barX(
            drawn.cells.filter(({ coverage }) => coverage !== null && coverage < 0.9),
            { ...span, fill: 'url(#unknown)', fillOpacity: 0.5 },
          ),
        ],
        opacity: { type: 'identity' },
      } as Plot.PlotOptions,
      coverageStrip(watched, step, frame, sheet),
    ]
  })
}

function described({ world, at, average, coverage }: Cell): string {
  const watched = coverage === null ? '' : `, ${number(coverage * 100)} % watched`
  return `${world}, ${moment(at)}: ${number(average, 1)}${watched}`
}
