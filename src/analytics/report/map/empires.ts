import * as Plot from '@observablehq/plot'
import type { Sql } from '../../../db/database.ts'
import { draw, type Picture } from '../drawing/draw.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import { expectedEvery, type MapFrame, observedOf } from '../drawing/frame.ts'
import { seriesStep, timeAxis } from '../drawing/time-axis.ts'
import type { Shown } from '../guild/roster.ts'
import { count, number, shortened } from '../words.ts'

interface Size {
  readonly at: Date
  readonly uuid: string
  readonly territories: number
}

/** How many territories each guild held at the observed moments, ms since the epoch. */
interface Empires {
  readonly guilds: readonly Shown[]
  readonly moments: readonly number[]
  readonly size: (guild: Shown, at: number) => number
  readonly largest: number
}

/** b. Empire sizes over time: a small picture for each of the biggest guilds, all on the same scale. */
export async function empiresFigure(sql: Sql, frame: MapFrame): Promise<Figure> {
  const empires = await readEmpires(sql, frame)
  const { guilds, moments, size } = empires
  const [first, last] = [moments[0], moments.at(-1)]
  if (first === undefined || last === undefined) {
    return missing('empires', 'No observation of the owners in this period', 'wynnsync sync territories')
  }
  const rise = (guild: Shown) => size(guild, last) - size(guild, first)
  const sorted = [...guilds].sort((a, b) => rise(b) - rise(a))
  const [winner, loser] = [sorted[0], sorted.at(-1)]
  const listed = guilds.slice(0, 20)
  return {
    id: 'empires',
    title: `${changeText(winner, winner && rise(winner))}; ${changeText(loser, loser && rise(loser))}`,
    lead: 'Territories held by the guilds that held most in the period, all on the same scale. The number is the latest one, and they are in its order.',
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

async function readEmpires(sql: Sql, frame: MapFrame): Promise<Empires> {
  const step = seriesStep(frame, await expectedEvery(sql, 'territories'))
  const sizes = await sql.query<Size>(
    // The last moment, too: what it has is what the map has.
    `select at, guild_uuid::text as uuid, territories from analytics.guild_territory_count($1, $2, make_interval(secs => $3))
      union all
     select at, guild_uuid::text, territories from analytics.guild_territory_count($4, $2, interval '1 day') order by at`,
    [frame.from, frame.to, step, new Date(frame.to.getTime() - 1)],
  )
  // Outside of what was observed, holds are known that reach there, but not who held the rest.
  const seen = await observedOf(sql, 'territories')
  const isSeen = (at: number) =>
    seen !== null && at + step * 1000 > seen.first.getTime() && at - step * 1000 < seen.last.getTime()
  const byGuild = new Map<string, Map<number, number>>()
  for (const { at, uuid, territories } of sizes) {
    byGuild.set(uuid, (byGuild.get(uuid) ?? new Map()).set(at.getTime(), territories))
  }
  return {
    guilds: frame.roster.shown.filter(({ uuid }) => byGuild.has(uuid)),
    moments: [...new Set(sizes.map(({ at }) => at.getTime()))].filter(isSeen),
    size: ({ uuid }, at) => byGuild.get(uuid)?.get(at) ?? 0,
    largest: Math.max(...sizes.map(({ territories }) => territories)),
  }
}

function picture({ guilds, moments, size, largest }: Empires, last: number, frame: MapFrame): Picture {
  return draw('Territories held over time, a small area for each guild.', ({ isNarrow, width }) => {
    const columns = isNarrow ? 2 : 4
    const shown = guilds
      .slice(0, isNarrow ? 12 : 16)
      .sort((a, b) => size(b, last) - size(a, last))
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
      marginLeft: 2,
      marginRight: 2,
      marginBottom: 22,
      fx: { axis: null, padding: 0.06 },
      fy: { axis: null, padding: 0.12 },
      x: { ...timeAxis(frame, { width, isNarrow }), ticks: 2 },
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

function changeText(guild: Shown | undefined, change = 0): string {
  if (!guild) return ''
  if (change === 0) return `${guild.name} stayed as it was`
  return `${guild.name} ${change > 0 ? 'gained' : 'lost'} ${number(Math.abs(change))}`
}
