import * as Plot from '@observablehq/plot'
import type { Sql } from '../../db/database.ts'
import { draw, type Picture, type Sheet } from '../draw.ts'
import { type Figure, missing } from '../figure.ts'
import type { Frame } from '../frame.ts'
import { type Moments, readMoments, type Span, spanMarks, spansOf } from '../moments.ts'
import { legendLine } from '../swatch.ts'
import { coverageStrip, timeAxis, timeMargins } from '../time-axis.ts'
import { moment, number, percent } from '../words.ts'

interface Sample {
  readonly at: Date
  readonly resource: string
  readonly stored: number | null
  readonly limit: number | null
  readonly generation: number | null
}

/** What is known of a resource in the storage of a territory. */
interface Stored {
  readonly name: string
  /** Where it was observed, in order of time. */
  readonly known: readonly Sample[]
  readonly latest: Sample
  /** How full its storage was at each moment: against its limit, or the most that was in it where none is known. */
  readonly fullness: readonly Span[]
}

const names: Readonly<Record<string, string>> = { EMERALD: 'emeralds', CROP: 'crops' }
const nameOf = (resource: string) => names[resource] ?? resource.toLowerCase().replaceAll('_', ' ')

/** b. What a territory produces and stores, over the period. */
export async function territoryStorageFigure(sql: Sql, territory: string, frame: Frame): Promise<Figure> {
  const id = 'storage'
  const unknown = 'What it produces and stores is not known'
  const moments = await readMoments(sql, 'territories', frame)
  if (!moments) return missing(id, unknown, 'wynnsync sync territories')
  const samples = await sql.query<Sample>(
    `select at, resource, stored, storage_limit as "limit", generation
       from (select * from analytics.territory_storage($1, $2, $3, make_interval(secs => $4))
              union all
             select * from analytics.territory_storage($1, $5, $3, make_interval(secs => $4))) sample
      order by at, resource collate "C"`,
    [territory, frame.from, frame.to, moments.step, moments.all.at(-1) ?? frame.from],
  )
  const all = storedOf(samples, moments, frame.to)
  if (all.length === 0) return { id, title: unknown, lead: 'The API did not send it in this period.' }
  const used = all.filter(({ known }) => known.some(({ stored, generation }) => (stored ?? 0) + (generation ?? 0) > 0))
  return {
    id,
    title: titleOf(all),
    lead: 'How full the storage is of each resource, and what is produced per hour, by the latest response. Hatched: not known.',
    legend: legendLine([
      { fill: 'var(--g4)', label: 'stored, against what there is room for' },
      { fill: 'url(#unknown)', label: 'not known' },
    ]),
    ...(used.length > 0 && { picture: picture(used, moments, frame) }),
    table: {
      columns: ['At (UTC)', 'Resource', 'Stored', 'Room for', 'Produced per hour'],
      rows: moments.all.flatMap((at) =>
        all.map(({ name, known }) => {
          const found = known.find((one) => one.at.getTime() === at.getTime())
          return [at, name, found?.stored ?? null, found?.limit ?? null, found?.generation ?? null]
        }),
      ),
    },
  }
}

/** Every resource that was observed, what is produced most first. */
function storedOf(samples: readonly Sample[], moments: Moments, end: Date): Stored[] {
  const { all: instants, isKnown } = moments
  const times = new Set(instants.flatMap((at) => (isKnown(at) ? [at.getTime()] : [])))
  const all = [...new Set(samples.map(({ resource }) => resource))].flatMap((resource) => {
    const byTime = new Map(
      samples.flatMap((one) =>
        one.resource === resource && times.has(one.at.getTime()) ? [[one.at.getTime(), one] as const] : [],
      ),
    )
    const known = [...byTime.values()]
    const latest = known.at(-1)
    if (!latest) return []
    const most = Math.max(1, ...known.map(({ stored }) => stored ?? 0))
    const points = instants.map((at) => {
      const { stored, limit } = byTime.get(at.getTime()) ?? { stored: null, limit: null }
      return { at, value: stored === null ? null : stored / (limit || most) }
    })
    return [{ name: nameOf(resource), known, latest, fullness: spansOf(points, end) }]
  })
  return all.sort((one, other) => (other.latest.generation ?? 0) - (one.latest.generation ?? 0))
}

function titleOf(all: readonly Stored[]): string {
  const made = all.flatMap(({ name, latest }) => (latest.generation ? [`${number(latest.generation)} ${name}`] : []))
  const full = all.flatMap(({ name, latest: { stored, limit } }) =>
    stored !== null && limit ? [{ name, share: stored / limit }] : [],
  )
  const [fullest] = full.sort((a, b) => b.share - a.share)
  const list = [made.slice(0, -1).join(', '), made.at(-1)].filter(Boolean).join(' and ')
  const produces = made.length > 0 ? `It produces ${list} an hour` : 'It produces nothing'
  if (!fullest) return produces
  return `${produces}; ${fullest.share > 0 ? `its storage is fullest of ${fullest.name}, ${percent(fullest.share)}` : 'its storage is empty'}`
}

function picture(used: readonly Stored[], moments: Moments, frame: Frame): Picture {
  const most = Math.max(0.1, ...used.flatMap(({ fullness }) => fullness.map(({ value }) => value ?? 0)))
  return draw('How full the storage is of each resource, over time.', (sheet) => [
    ...used.map((one, place) => row(one, { frame, sheet, most, isLast: place === used.length - 1 })),
    coverageStrip(moments.watched, moments.step, frame, sheet),
  ])
}

interface RowOptions {
  readonly frame: Frame
  readonly sheet: Sheet
  /** How full the fullest storage was. */
  readonly most: number
  readonly isLast: boolean
}

/** One resource, on the scale of all; the last row has the time axis. */
function row({ name, latest, fullness }: Stored, { frame, sheet, most, isLast }: RowOptions) {
  const title = ({ at, until, value }: Span) =>
    `${name}, ${moment(at)} to ${moment(until)}: ${value === null ? 'not known' : `${percent(value)} full`}`
  const label = { dy: -16, fill: 'var(--ink)' }
  return {
    height: isLast ? 88 : 66,
    ...timeMargins(sheet),
    marginTop: 20,
    marginBottom: isLast ? 26 : 4,
    x: isLast ? timeAxis(frame, sheet) : { ...timeAxis(frame, sheet), axis: null },
    y: { label: null, domain: [0, most], ticks: [0, most], tickFormat: percent, grid: true },
    marks: [
      ...spanMarks(fullness, title),
      Plot.text([`${name}: ${number(latest.generation)} an hour`], { ...label, frameAnchor: 'top-left' }),
      Plot.text([`${number(latest.stored)} of ${number(latest.limit)} stored`], { ...label, frameAnchor: 'top-right' }),
    ],
  }
}
