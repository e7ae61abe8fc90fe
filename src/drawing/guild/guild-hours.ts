import * as Plot from '@observablehq/plot'
import type { Sql } from '../../db/database.ts'
import { draw } from '../draw.ts'
import { type Figure, missing } from '../figure.ts'
import type { Period } from '../period.ts'
import { heat, heatLegend } from '../swatch.ts'
import { number, percent } from '../words.ts'

interface Hour {
  readonly dow: number
  readonly hour: number
  readonly average: number | null
  readonly most: number | null
  readonly coverage: number | null
}

const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']
const dayOf = ({ dow }: Hour) => days[dow - 1] ?? ''
const two = (hour: number) => String(hour).padStart(2, '0')

/** How many members are online at each hour of the week. */
export async function hoursOfWeek(sql: Sql, guild: string, { from, to }: Period): Promise<readonly Hour[]> {
  return await sql.query<Hour>(
    `select dow, hour, online_avg as average, online_max as most, coverage from analytics.guild_online_heatmap($1, $2, $3)`,
    [guild, from, to],
  )
}

/** d. When the guild is online: a heat map of the week. */
export async function guildHoursFigure(sql: Sql, guild: string, period: Period): Promise<Figure> {
  const hours = await hoursOfWeek(sql, guild, period)
  const known = hours.filter(({ average }) => average !== null)
  const [first, ...rest] = known
  const id = 'guild-hours'
  if (!first) return missing(id, 'When it is online is not known', `wynnsync sync guilds --guild ${guild}`)
  const busiest = rest.reduce((a, b) => ((b.average ?? 0) > (a.average ?? 0) ? b : a), first)
  const most = busiest.average ?? 0
  const axes = { x: 'hour', y: (one: Hour) => dayOf(one) }
  return {
    id,
    title: `Busiest on ${dayOf(busiest)} at ${two(busiest.hour)}:00 UTC: ${number(most, 1)} members online`,
    lead: "Members online by hour of the week, by the guild's own count, hidden ones included. Hatched: not observed; blank: not in the period.",
    legend: heatLegend(most, 'members'),
    picture: draw('Members online by hour of the week, as a grid.', ({ isNarrow }) => ({
      height: 7 * 26 + 26,
      marginLeft: isNarrow ? 36 : 84,
      marginRight: 4,
      marginTop: 22,
      marginBottom: 4,
      x: {
        axis: 'top',
        domain: Array.from({ length: 24 }, (_, hour) => hour),
        tickFormat: (hour: number) => (hour % (isNarrow ? 6 : 3) === 0 ? `${two(hour)}:00` : ''),
        label: null,
        tickSize: 0,
      },
      y: { domain: days, label: null, tickSize: 0, tickFormat: (name: string) => (isNarrow ? name.slice(0, 3) : name) },
      opacity: { type: 'identity' },
      marks: [
        Plot.cell(
          hours.filter(({ average }) => average === null),
          { ...axes, inset: 0.5, fill: 'url(#unknown)', title: described },
        ),
        Plot.cell(known, {
          ...axes,
          inset: 0.5,
          fill: 'var(--heat)',
          fillOpacity: (one: Hour) => heat(one.average ?? 0, most),
          title: described,
        }),
        isNarrow
          ? null
          : Plot.text(known, {
              ...axes,
              text: (one: Hour) => number(one.average, 0),
              fill: (one: Hour) => ((one.average ?? 0) > most * 0.55 ? 'var(--on-heat)' : 'var(--ink)'),
              pointerEvents: 'none',
            }),
      ],
    })),
    table: {
      columns: ['Day', 'Hour (UTC)', 'Online, average', 'Online, most', 'Coverage'],
      rows: hours.map((one) => [dayOf(one), `${two(one.hour)}:00`, one.average, one.most, one.coverage]),
    },
  }
}

function described(one: Hour): string {
  const cell = `${dayOf(one)} ${two(one.hour)}:00`
  if (one.average === null) return `${cell}: not observed`
  return `${cell}: ${number(one.average, 1)} on average, ${number(one.most)} at most; ${percent(one.coverage)} of these hours known`
}
