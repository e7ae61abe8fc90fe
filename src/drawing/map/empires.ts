import * as Plot from '@observablehq/plot'
import type { Sql } from '../../db/database.ts'
import { draw, type Picture } from '../draw.ts'
import { type Figure, missing } from '../figure.ts'
import type { Shown } from '../guild/roster.ts'
import { observedOf, type Period } from '../period.ts'
import { fittingTick, timeAxis } from '../time-axis.ts'
import { count, number, shortened } from '../words.ts'
import { mapSql, type VisitHold } from './holds.ts'
import type { MapFrame } from './map-frame.ts'

/** How many territories each guild held at the observed moments, ms since the epoch. */
interface Empires {
  readonly guilds: readonly Shown[]
  readonly moments: readonly number[]
  /** Null in a gap: some places may have had other holders. */
  readonly size: (guild: Shown, at: number) => number | null
  /** Those of the moments that lie in no gap. */
  readonly known: readonly number[]
  readonly largest: number
}

/** b. Empire sizes over time: a small picture for each of the biggest guilds, all on the same scale. */
export async function empiresFigure(sql: Sql, frame: MapFrame): Promise<Figure> {
  const empires = await readEmpires(sql, frame)
  const { guilds, moments, size, known } = empires
  const first = known[0]
  const last = known.at(-1)
  if (first === undefined || last === undefined) {
    return missing('empires', 'No observation of the owners in this period', 'wynnsync sync territories')
  }
  const rise = (guild: Shown) => (size(guild, last) ?? 0) - (size(guild, first) ?? 0)
  const sorted = [...guilds].sort((a, b) => rise(b) - rise(a))
  const moved = [...new Set([sorted[0], sorted.at(-1)])].filter((guild) => guild && rise(guild) !== 0)
  const listed = guilds.slice(0, 20)
  return {
    id: 'empires',
    title:
      moved.map((guild) => guild && changeText(guild, rise(guild))).join('; ') ||
      'No guild held more or fewer at the end than at the beginning',
    lead: `Territories held by the guilds that held most in the period, all on the same scale. The number is the latest one, and they are in its order.${known.length < moments.length ? ' Where nothing is drawn, the map was not observed.' : ''}`,
    picture: picture(empires, last, frame),
    table: {
      columns: ['At (UTC)', ...listed.map(({ prefix }) => prefix)],
      rows: moments.map((at) => [new Date(at), ...listed.map((guild) => size(guild, at))]),
      note:
        guilds.length > listed.length
          ? `The ${count(guilds.length - listed.length, 'smallest guild')} left out: wynnsync query guild_territory_count.`
          : undefined,
    },
  }
}

async function readEmpires(sql: Sql, { from, to, holds, roster }: MapFrame): Promise<Empires> {
  const { moments, between } = holds
  // At each moment how many more than at the one before; then the sums of it.
  const sizes = new Map(roster.shown.map(({ uuid }) => [uuid, new Int32Array(moments.length + 1)]))
  const add = (guild: string, place: number, change: number) => {
    const own = sizes.get(guild)
    if (own) own[place] = (own[place] ?? 0) + change
  }
  const visitHolds = holds.over(moments)
  const countHold: VisitHold = (began, ended, guild) => {
    add(guild, began, 1)
    add(guild, ended, -1)
  }
  for (const territory of holds.amounts.keys()) visitHolds(territory, countHold)
  for (const own of sizes.values())
    for (let place = 1; place < own.length; place++) own[place] = (own[place] ?? 0) + (own[place - 1] ?? 0)
  // Outside of what was observed, holds are known that reach there, but not who held the rest.
  const seen = await observedOf(sql, 'territories')
  const isSeen = (at: number) =>
    seen !== null && at + between > seen.first.getTime() && at - between < seen.last.getTime()
  const gaps = await sql.query<Period>(
    `select begins as "from", least(ends, $2) as "to" from ${mapSql.gaps('$1', '$2')} each`,
    [from, to],
  )
  const isUnknown = (at: number) => gaps.some((gap) => gap.from.getTime() <= at && at < gap.to.getTime())
  const isHeld = (place: number) => [...sizes.values()].some((own) => (own[place] ?? 0) > 0)
  const placeOf = new Map(moments.map((at, place) => [at.getTime(), place]))
  const shown = [...placeOf].flatMap(([at, place]) => (isSeen(at) && (isUnknown(at) || isHeld(place)) ? [at] : []))
  return {
    guilds: roster.shown.filter(({ uuid }) => sizes.get(uuid)?.some((size) => size > 0)),
    moments: shown,
    known: shown.filter((at) => !isUnknown(at)),
    size: ({ uuid }, at) => (isUnknown(at) ? null : (sizes.get(uuid)?.[placeOf.get(at) ?? -1] ?? 0)),
    largest: Math.max(...[...sizes.values()].flatMap((own) => [...own])),
  }
}

/** Beside the small areas, in pixels. */
const MARGIN = 2

function picture({ guilds, moments, size, largest }: Empires, last: number, frame: MapFrame): Picture {
  return draw('Territories held over time, a small area for each guild.', ({ isNarrow, width }) => {
    const columns = isNarrow ? 2 : 4
    const padding = 0.06
    // Of one small area, as a scale of bands divides the width.
    const each = ((width - 2 * MARGIN) / (columns + padding)) * (1 - padding)
    const shown = guilds
      .slice(0, isNarrow ? 12 : 16)
      .sort((a, b) => (size(b, last) ?? 0) - (size(a, last) ?? 0))
      .map((guild, index) => ({ ...guild, fx: index % columns, fy: Math.floor(index / columns) }))
    const points = shown.flatMap((guild) =>
      moments.map((at) => ({ ...guild, at: new Date(at), size: size(guild, at) })),
    )
    const cell = { fx: 'fx', fy: 'fy' }
    const line = { ...cell, x: 'at', y: 'size', z: 'uuid', curve: 'step-after' } as const
    const label = { ...cell, dy: 2, fill: 'var(--ink)' }
    return {
      height: Math.ceil(shown.length / columns) * (isNarrow ? 74 : 86) + 24,
      width,
      margin: 0,
      marginLeft: MARGIN,
      marginRight: MARGIN,
      marginBottom: 22,
      fx: { axis: null, padding },
      fy: { axis: null, padding: 0.12 },
      x: {
        ...timeAxis(frame, { width, isNarrow }),
        ticks: 2,
        tickFormat: fittingTick(frame, { width: each, marginLeft: 0, marginRight: 0 }),
      },
      y: { axis: null, domain: [0, largest * 1.35] },
      marks: [
        Plot.areaY(points, { ...line, fill: (one: Shown) => one.fill }),
        Plot.lineY(points, { ...line, stroke: 'var(--ink)', strokeWidth: 0.75 }),
        Plot.ruleY(shown, { ...cell, y: () => 0, stroke: 'var(--rule)' }),
        Plot.text(shown, {
          ...label,
          frameAnchor: 'top-left',
          text: ({ prefix, name }: Shown) => `${shortened(prefix, 6)} ${shortened(name, isNarrow ? 13 : 22)}`,
        }),
        Plot.text(shown, {
          ...label,
          frameAnchor: 'top-right',
          text: (guild: Shown) => number(size(guild, last)),
          fontWeight: 700,
        }),
      ],
    }
  })
}

function changeText(guild: Shown, change: number): string {
  return `${guild.name} ${change > 0 ? 'gained' : 'lost'} ${number(Math.abs(change))}`
}
