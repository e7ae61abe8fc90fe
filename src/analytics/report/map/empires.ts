import * as Plot from '@observablehq/plot'
import type { Sql } from '../../../db/database.ts'
import { draw } from '../drawing/draw.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import { expectedEvery, type Frame, observedOf } from '../drawing/frame.ts'
import { seriesStep, timeAxis } from '../drawing/time-axis.ts'
import type { Shown } from '../guild/roster.ts'
import { count, number, shortened } from '../words.ts'

interface Size {
  readonly at: Date
  readonly uuid: string
  readonly territories: number
}

/** b. Empire sizes over time: a small picture for each of the biggest guilds, all on the same scale. */
export async function empiresFigure(sql: Sql, frame: Frame): Promise<Figure> {
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
  const moments = [...new Set(sizes.map(({ at }) => at.getTime()))].filter(isSeen)
  const [first, last] = [moments[0], moments.at(-1)]
  if (first === undefined || last === undefined) {
    return missing('empires', 'No observation of the owners in this period', 'wynnsync sync territories')
  }
  const byGuild = new Map<string, Map<number, number>>()
  for (const { at, uuid, territories } of sizes) {
    byGuild.set(uuid, (byGuild.get(uuid) ?? new Map()).set(at.getTime(), territories))
  }
  const guilds = frame.roster.shown.filter(({ uuid }) => byGuild.has(uuid))
  const size = (guild: Shown, at: number) => byGuild.get(guild.uuid)?.get(at) ?? 0
  const rise = (guild: Shown) => size(guild, last) - size(guild, first)
  const sorted = [...guilds].sort((a, b) => rise(b) - rise(a))
  const [winner, loser] = [sorted[0], sorted.at(-1)]
  return {
    id: 'empires',
    title: `${changeText(winner, winner && rise(winner))}; ${changeText(loser, loser && rise(loser))}`,
    lead: 'Territories held, all guilds on the same scale, the biggest first. The number is the latest one.',
    picture: draw('Territories held over time, a small area for each guild.', ({ isNarrow, width }) => {
      const columns = isNarrow ? 2 : 4
      const shown = guilds.slice(0, isNarrow ? 12 : 16)
      const cell = new Map(
        shown.map((guild, index) => [guild.uuid, { fx: index % columns, fy: Math.floor(index / columns) }]),
      )
      const points = shown.flatMap((guild) =>
        moments.map((at) => ({
          ...cell.get(guild.uuid),
          guild,
          at: new Date(at),
          y: size(guild, at),
        })),
      )
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
        y: { axis: null, domain: [0, Math.max(...sizes.map(({ territories }) => territories)) * 1.35] },
        marks: [
          Plot.areaY(points, {
            fx: 'fx',
            fy: 'fy',
            x: 'at',
            y: 'y',
            z: 'guild',
            curve: 'step-after',
            fill: (one) => one.guild.fill,
          }),
          Plot.lineY(points, {
            fx: 'fx',
            fy: 'fy',
            x: 'at',
            y: 'y',
            z: 'guild',
            curve: 'step-after',
            stroke: 'var(--ink)',
            strokeWidth: 0.75,
          }),
          Plot.ruleY(shown, {
            fx: (one) => cell.get(one.uuid)?.fx,
            fy: (one) => cell.get(one.uuid)?.fy,
            y: () => 0,
            stroke: 'var(--rule)',
          }),
          Plot.text(shown, {
            fx: (one) => cell.get(one.uuid)?.fx,
            fy: (one) => cell.get(one.uuid)?.fy,
            frameAnchor: 'top-left',
            text: (one) => `${shortened(one.prefix, 6)} ${shortened(one.name, isNarrow ? 13 : 22)}`,
            dy: 2,
            fill: 'var(--ink)',
          }),
          Plot.text(shown, {
            fx: (one) => cell.get(one.uuid)?.fx,
            fy: (one) => cell.get(one.uuid)?.fy,
            frameAnchor: 'top-right',
            text: (one) => number(size(one, last)),
            dy: 2,
            fontWeight: 700,
            fill: 'var(--ink)',
          }),
        ],
      }
    }),
    table: {
      columns: ['At (UTC)', ...guilds.slice(0, 20).map(({ prefix }) => prefix)],
      rows: moments.map((at) => [new Date(at), ...guilds.slice(0, 20).map((guild) => size(guild, at))]),
      note:
        guilds.length > 20
          ? `The ${count(guilds.length - 20, 'smallest guild')} left out: wynnsync query guild_territory_count.`
          : undefined,
    },
  }
}

function changeText(guild: Shown | undefined, change = 0): string {
  if (!guild) return ''
  if (change === 0) return `${guild.name} stayed as it was`
  return `${guild.name} ${change > 0 ? 'gained' : 'lost'} ${number(Math.abs(change))}`
}
