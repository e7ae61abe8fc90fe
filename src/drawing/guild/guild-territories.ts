import type { Sql } from '../../db/database.ts'
import { guildColour } from '../colours.ts'
import { draw } from '../draw.ts'
import { type Figure, missing } from '../figure.ts'
import type { Frame } from '../frame.ts'
import { mapSql } from '../map/holds.ts'
import { readMoments, type Span, spanMarks, spansOf } from '../moments.ts'
import { legendLine } from '../swatch.ts'
import { coverageStrip, timeAxis, timeMargins } from '../time-axis.ts'
import { count, instant, number, wholeTick } from '../words.ts'

interface Guild {
  readonly uuid: string
  readonly name: string | undefined
}

/** Holds of which the same instants show something: those from one place in their order up to another. */
interface Held {
  readonly began: number
  readonly ended: number
  readonly holds: number
}

/** d. How many territories the guild held over time, in its colour. Reads its own holds of the period alone. */
export async function guildTerritoriesFigure(sql: Sql, { uuid: guild, name }: Guild, frame: Frame): Promise<Figure> {
  const id = 'guild-territories'
  const moments = await readMoments(sql, 'territories', frame)
  if (!moments) return missing(id, 'How many territories it held is not known', 'wynnsync sync territories')
  const held = await readHeld(sql, guild, frame, moments.all)
  const sizes = moments.all.map((at, place) => ({ at, value: moments.isKnown(at) ? heldAt(held, place) : null }))
  const known = sizes.flatMap(({ value }) => (value === null ? [] : [value]))
  const fill = name === undefined ? undefined : guildColour(name)
  const least = Math.min(...known)
  const most = Math.max(...known)
  if (known.length === 0) return { id, title: 'How many territories it held in this period is not known' }
  const isWatched = known.length === sizes.length
  const when = isWatched ? 'in this period' : 'when the map was watched'
  if (most === 0) return { id, title: `It held no territory ${when}` }
  const atMost = count(most, 'territory', 'territories')
  return {
    id,
    title:
      least === most
        ? `It held ${atMost} ${isWatched ? 'throughout this period' : when}`
        : `It held ${number(least)} to ${atMost} ${when}, ${number(known.at(-1))} ${isWatched ? 'at its end' : 'when it last was'}`,
    lead: 'Territories held at each moment. Hatched: not watched.',
    legend: legendLine([
      { fill: fill ?? 'var(--g4)', label: 'territories held' },
      { fill: 'url(#unknown)', label: 'not watched' },
    ]),
    picture: draw('Territories that the guild held over time.', (sheet) => [
      {
        height: sheet.isNarrow ? 150 : 180,
        ...timeMargins(sheet),
        x: timeAxis(frame, sheet),
        y: { label: null, domain: [0, most * 1.1], ticks: Math.min(4, most), tickFormat: wholeTick, grid: true },
        marks: spanMarks(spansOf(sizes, frame.to), described, fill),
      },
      coverageStrip(moments.watched, moments.step, frame, sheet),
    ]),
    table: { columns: ['At (UTC)', 'Territories'], rows: sizes.map(({ at, value }) => [at, value]) },
  }
}

/** Postgres lays the holds over the instants: a guild may have thousands in a week. */
async function readHeld(sql: Sql, guild: string, { from, to }: Frame, instants: readonly Date[]): Promise<Held[]> {
  // An instant shows what began at it or before: after it is a microsecond later.
  const after = instants.map((at) => at.toISOString().replace('Z', '001Z'))
  return await sql.query<Held>(
    `select began, ended, count(*)::int as holds
       from (select width_bucket(held_from, $3::timestamptz[]) as began, width_bucket(held_until, $3::timestamptz[]) as ended
               from ${mapSql.held('$1', '$2')} known where guild_uuid = $4::text::uuid) hold
      where began < ended group by began, ended`,
    [from, to, after, guild],
  )
}

function heldAt(held: readonly Held[], place: number): number {
  return held.reduce((sum, { began, ended, holds }) => (began <= place && place < ended ? sum + holds : sum), 0)
}

function described({ at, until, value }: Span): string {
  const said = value === null ? 'not watched' : count(value, 'territory', 'territories')
  return `${instant(at)} to ${instant(until)}: ${said}`
}
