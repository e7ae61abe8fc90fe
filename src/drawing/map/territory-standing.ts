import * as Plot from '@observablehq/plot'
import type { Sql } from '../../db/database.ts'
import { draw, type Picture } from '../draw.ts'
import { type Figure, missing } from '../figure.ts'
import type { Frame } from '../frame.ts'
import { type Moments, readMoments } from '../moments.ts'
import { heat, legendLine } from '../swatch.ts'
import { coverageStrip, timeAxis, timeMargins } from '../time-axis.ts'
import { count, levelText, moment } from '../words.ts'

interface Standing {
  readonly from: Date
  readonly until: Date | null
  readonly hq: boolean | null
  readonly treasury: string | null
  readonly defences: string | null
}

/** A level from an instant to another; NULL is not known. */
interface Band {
  readonly what: string
  readonly from: Date
  readonly until: Date
  readonly level: string | null
}

/** Levels of treasury and defences, from the lowest. */
export const territoryLevels = ['VERY_LOW', 'LOW', 'MEDIUM', 'HIGH', 'VERY_HIGH']
/** How strongly a level is coloured; one that is new is shown as the middle. */
const strength = (level: string | null) =>
  heat(territoryLevels.includes(level ?? '') ? territoryLevels.indexOf(level ?? '') : 2, 4)

/** b. Treasury and defences of a territory, over the period. */
export async function territoryStandingFigure(sql: Sql, territory: string, frame: Frame): Promise<Figure> {
  const id = 'standing'
  const unknown = 'Its treasury and defences are not known'
  const moments = await readMoments(sql, 'territories', frame)
  if (!moments) return missing(id, unknown, 'wynnsync sync territories')
  const rows = await sql.query<Standing>(
    `select valid_from as "from", valid_until as until, is_hq as hq, treasury, defences
       from analytics.territory_standing($1, $2, $3)`,
    [territory, frame.from, frame.to],
  )
  const [latest] = rows.slice(-1)
  if (!latest || rows.every(({ treasury, defences }) => treasury === null && defences === null))
    return { id, title: unknown, lead: 'The API did not send them in this period.' }
  const bands = (['treasury', 'defences'] as const).flatMap((what) => bandsOf(rows, what, moments, frame))
  const changes = rows.filter((one, place) => place > 0 && differs(one, rows[place - 1])).length
  return {
    id,
    title: `Treasury ${levelText(latest.treasury)}, defences ${levelText(latest.defences)}; ${count(changes, 'change')} in this period`,
    lead: 'The treasury grows with the time that the territory is held. Hatched: not known.',
    legend: legendLine([
      ...territoryLevels.map((level) => ({ fill: 'var(--heat)', opacity: strength(level), label: levelText(level) })),
      { fill: 'url(#unknown)', label: 'not known' },
    ]),
    picture: picture(bands, moments, frame),
    table: {
      columns: ['From (UTC)', 'Until (UTC)', 'Treasury', 'Defences', 'Headquarters'],
      rows: rows.map(({ from, until, hq, treasury, defences }) => [
        from,
        until ?? 'now',
        treasury === null ? null : levelText(treasury),
        defences === null ? null : levelText(defences),
        hq,
      ]),
    },
  }
}

function differs(one: Standing, before: Standing | undefined): boolean {
  return one.treasury !== before?.treasury || one.defences !== before?.defences
}

/** The levels of one kind, cut where it was not observed; equal neighbours as one. */
function bandsOf(rows: readonly Standing[], what: 'treasury' | 'defences', { blind }: Moments, frame: Frame): Band[] {
  const cuts = [...rows.map(({ from }) => from), ...rows.flatMap(({ until }) => until ?? [])]
  const edges = [frame.from, ...cuts, ...blind.flatMap(({ from, to }) => [from, to]), frame.to]
  const times = [...new Set(edges.map((at) => at.getTime()))]
    .filter((at) => at >= frame.from.getTime() && at <= frame.to.getTime())
    .sort((a, b) => a - b)
  const bands: Band[] = []
  for (const [place, time] of times.slice(0, -1).entries()) {
    const from = new Date(time)
    const until = new Date(times[place + 1] ?? time)
    const row = rows.find((one) => one.from <= from && (one.until === null || one.until > from))
    const isBlind = blind.some((one) => one.from <= from && one.to > from)
    const level = isBlind ? null : (row?.[what] ?? null)
    const before = bands.at(-1)
    if (before?.level === level) bands[bands.length - 1] = { ...before, until }
    else bands.push({ what, from, until, level })
  }
  return bands
}

function picture(bands: readonly Band[], moments: Moments, frame: Frame): Picture {
  const title = ({ what, from, until, level }: Band) =>
    `${what} ${moment(from)} to ${moment(until)}: ${level === null ? 'not known' : levelText(level)}`
  const span = { x1: 'from', x2: 'until', y: 'what', insetTop: 1, insetBottom: 1, title }
  const known = bands.filter(({ level }) => level !== null)
  return draw('Treasury and defences over time, as coloured bands.', (sheet) => {
    const least = (frame.to.getTime() - frame.from.getTime()) * (sheet.isNarrow ? 0.2 : 0.08)
    return [
      {
        height: 86,
        ...timeMargins(sheet),
        marginTop: 2,
        marginBottom: 24,
        x: timeAxis(frame, sheet),
        y: { domain: ['treasury', 'defences'], label: null, tickSize: 0, tickPadding: 0 },
        opacity: { type: 'identity' },
        marks: [
          Plot.barX(
            bands.filter(({ level }) => level === null),
            { ...span, fill: 'url(#unknown)' },
          ),
          Plot.barX(known, { ...span, fill: 'var(--heat)', fillOpacity: ({ level }: Band) => strength(level) }),
          Plot.text(
            known.filter(({ from, until }) => until.getTime() - from.getTime() > least),
            {
              x: ({ from, until }: Band) => new Date((from.getTime() + until.getTime()) / 2),
              y: 'what',
              text: ({ level }: Band) => levelText(level),
              fill: ({ level }: Band) => (strength(level) > 0.55 ? 'var(--on-heat)' : 'var(--ink)'),
              pointerEvents: 'none',
            },
          ),
        ],
      },
      coverageStrip(moments.watched, moments.step, frame, sheet),
    ]
  })
}
