import * as Plot from '@observablehq/plot'
import type { Sql } from '../../db/database.ts'
import { draw, gridCells, type Picture } from '../draw.ts'
import { type Figure, missing } from '../figure.ts'
import { expectedEvery, type Frame } from '../frame.ts'
import { rowsOf } from '../html-table.ts'
import { type Period, stepOf, stepsOf } from '../period.ts'
import { heat, heatLegend, legendLine } from '../swatch.ts'
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
    title: `The most seen at once: ${number(peak.peak)} players, around ${moment(peak.at, frame.writtenAt)}; ${percent(share)} of all hid`,
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
            { ...span, fill: 'url(#unknown)', title: describedStep },
          ),
          Plot.rect(known, {
            ...span,
            y1: 0,
            y2: (one: OnlineStep) => (one.total ?? 0) - (one.hidden ?? 0),
            fill: 'var(--g4)',
            title: describedStep,
          }),
          Plot.rect(counted, {
            ...span,
            y1: (one: OnlineStep) => (one.total ?? 0) - (one.hidden ?? 0),
            y2: 'total',
            fill: 'url(#g1-lines)',
            title: describedStep,
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

function describedStep({ at, total, peak, hidden }: OnlineStep): string {
  if (total === null) return `${moment(at)}: not known`
  return `${moment(at)}: ${number(total)} online, ${number(peak)} at most, ${number(hidden)} hidden`
}

/** Players online in one step; NULL without an observation, or where the API sent no count. */
interface OnlineStep {
  readonly at: Date
  readonly total: number | null
  readonly peak: number | null
  readonly hidden: number | null
  readonly coverage: number | null
}

/** Totals in every step of the period; `step` in seconds. */
async function readOnline(sql: Sql, { from, to }: Period, step: number): Promise<OnlineStep[]> {
  return await sql.query<OnlineStep>(
    `select at, total_avg as total, total_max as peak, hidden_avg as hidden, coverage
       from analytics.online_total($1, $2, make_interval(secs => $3))`,
    [from, to, step],
  )
}

/** So many cells of worlds and steps are drawn in all: each has its text, and a page is sent whole. */
const CELLS = { wide: 800, narrow: 400 }

/** c. Who is online where: a heat map of worlds and time. */
export async function worldsFigure(sql: Sql, frame: Frame): Promise<Figure> {
  const poll = Math.max(2400, await expectedEvery(sql, 'online-players'))
  const { known } = await readWorldBars(sql, frame)
  const worlds = [...new Set(known.map(({ world }) => world))].sort((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  )
  const gridOf = async (cells: number, most: number) =>
    await readGrid(sql, frame, seriesStep(frame, poll, Math.min(most, Math.max(12, cells / worlds.length))))
  const wide = await gridOf(CELLS.wide, 96)
  const narrow = await gridOf(CELLS.narrow, 40)
  const [first, ...rest] = wide.cells.values()
  if (!first) return missing('worlds', 'No observation of the worlds in this period', 'wynnsync sync online-players')
  const fullest = rest.reduce((a, b) => ((b.most ?? 0) > (a.most ?? 0) ? b : a), first)
  const most = rest.reduce((highest, { average }) => Math.max(highest, average), first.average)
  return {
    id: 'worlds',
    title: `${fullest.world} was the fullest world: ${number(fullest.most)} players, around ${moment(fullest.at, frame.writtenAt)}`,
    lead: `Listed players per world and ${every(wide.step)}, averages of the time that was watched. Blank: the world was not up. Half hatched: less than nine tenths were watched.`,
    legend: heatLegend(most, 'players'),
    picture: picture({ wide, narrow }, worlds, most, frame),
    table: {
      columns: ['From (UTC)', ...worlds],
      rows: stepsOf(frame, wide.step).map((at) => [
        at,
        ...worlds.map(
          (world) => wide.cells.get(`${at.getTime()} ${world}`)?.average ?? (wide.known.has(at.getTime()) ? '' : null),
        ),
      ]),
      note: 'Averages; blank: the world was not up; ?: not observed.',
    },
  }
}

function picture(
  grids: { readonly wide: Grid; readonly narrow: Grid },
  worlds: readonly string[],
  most: number,
  frame: Frame,
): Picture {
  return draw('Players per world over time, as a grid.', (sheet) => {
    const { step, watched, known, ...grid } = sheet.isNarrow ? grids.narrow : grids.wide
    const span = stepSpan(step, frame)
    const cells = [...grid.cells.values()].map((cell) => {
      const { at: x1, world: y, average, coverage } = cell
      return { x1, x2: span.x2(cell), y, opacity: heat(average, most), title: described(cell), coverage }
    })
    const unknown = watched
      .filter(({ at }) => !known.has(at.getTime()))
      .flatMap((one) => worlds.map((y) => ({ x1: one.at, x2: span.x2(one), y, opacity: 1 })))
    const hardly = cells.flatMap(({ title: _, coverage, ...cell }) =>
      coverage !== null && coverage < 0.9 ? [{ ...cell, opacity: 0.5 }] : [],
    )
    return [
      {
        height: worlds.length * (sheet.isNarrow ? 13 : 15) + 24,
        ...timeMargins(sheet),
        marginTop: 2,
        marginBottom: 22,
        x: timeAxis(frame, sheet),
        y: { type: 'band', domain: worlds, label: null, tickSize: 0 },
        marks: [
          gridCells(unknown, 'url(#unknown)'),
          gridCells(cells, 'var(--heat)'),
          gridCells(hardly, 'url(#unknown)'),
        ],
      },
      coverageStrip(watched, step, frame, sheet),
    ]
  })
}

function described({ world, at, average, coverage }: WorldStep): string {
  const watched = coverage === null ? '' : `, ${number(coverage * 100)} % watched`
  return `${world}, ${moment(at)}: ${number(average, 1)}${watched}`
}

/**
 * The averages of the known hours of each world and step, and of their coverage, as far as any is known.
 * @param step in seconds; steps begin at `from`
 */
async function readWorldSteps(sql: Sql, { from, to }: Period, step: number): Promise<WorldStep[]> {
  return await sql.query<WorldStep>(
    `select world, greatest($1, date_bin(make_interval(secs => $3), hour, $1)) as at, avg(online_avg) as average, max(online_max) as most,
            case when bool_and(coverage is not null) then avg(coverage) end as coverage
       from analytics.world_peak($1, $2) where online_avg is not null group by 1, 2 order by 2, world collate "C"`,
    [from, to, step],
  )
}

/** So many bars are drawn of each world. */
const BARS_OF_WORLD = 42

/** Those of as many bars as stand in a table, and where their steps begin. */
export async function readWorldBars(
  sql: Sql,
  period: Period,
): Promise<{ readonly begins: readonly Date[]; readonly known: readonly WorldStep[] }> {
  const step = stepOf(period, BARS_OF_WORLD, 3600)
  return { begins: stepsOf(period, step), known: await readWorldSteps(sql, period, step) }
}

/** One world in one step. */
interface WorldStep {
  readonly world: string
  readonly at: Date
  readonly average: number
  readonly most: number | null
  readonly coverage: number | null
}

interface Grid {
  /** In seconds. */
  readonly step: number
  readonly watched: readonly OnlineStep[]
  /** By `step world`. */
  readonly cells: ReadonlyMap<string, WorldStep>
  /** The steps (ms since the epoch) of which anything is known. */
  readonly known: ReadonlySet<number>
}

async function readGrid(sql: Sql, frame: Frame, step: number): Promise<Grid> {
  const watched = await readOnline(sql, frame, step)
  const cells = await readWorldSteps(sql, frame, step)
  const known = new Set(watched.filter(({ total }) => total !== null).map(({ at }) => at.getTime()))
  for (const { at } of cells) known.add(at.getTime())
  return { step, watched, cells: new Map(cells.map((one) => [`${one.at.getTime()} ${one.world}`, one])), known }
}
