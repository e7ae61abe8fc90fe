import * as Plot from '@observablehq/plot'
import type { Sql } from '../../../db/database.ts'
import { draw } from '../drawing/draw.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import { type Frame, playerCell } from '../drawing/frame.ts'
import { legendLine } from '../drawing/swatch.ts'
import { stepSpan, timeAxis, timeMargins } from '../drawing/time-axis.ts'
import { stepOf } from '../period.ts'
import { count, every, moment, number, wholeTick } from '../words.ts'

interface Move {
  readonly at: Date
  readonly event: string
  readonly player: string
  readonly username: string
  readonly fromRank: string
  readonly toRank: string
  readonly other: string
}

/** d. Who joined and left, and whose rank changed. */
export async function movesFigure(sql: Sql, guild: string, frame: Frame): Promise<Figure> {
  const moves = await sql.query<Move>(
    `select event.at, event.event, event.player_uuid::text as player, event.username, coalesce(event.from_rank, '') as "fromRank",
            coalesce(event.to_rank, '') as "toRank", coalesce(other.name, '') as other
       from analytics.membership_event event
       left join analytics.guild other on other.guild_uuid = event.other_guild_uuid
      where event.guild_uuid = $1 and event.at >= $2 and event.at < $3 order by event.at, event.username collate "C", event.event collate "C"`,
    [guild, frame.from, frame.to],
  )
  const id = 'moves'
  const of = (...events: string[]) => moves.filter(({ event }) => events.includes(event))
  if (moves.length === 0)
    return missing(id, 'No join, leave or change of rank was observed', `wynnsync sync guilds --guild ${guild}`)
  const step = Math.max(3600, stepOf(frame, 42))
  const bars = [...tally(of('joined'), frame.from, step), ...tally(of('left'), frame.from, step, -1)]
  return {
    id,
    title: `${count(of('joined').length, 'member')} joined, ${number(of('left').length)} left; ${count(of('promoted', 'demoted').length, 'rank')} changed`,
    lead: `Joins above the line and leaves below it, per ${every(step)}. Joining has the API's own time, everything else the time when it was first seen.`,
    legend: legendLine([
      { fill: 'var(--g4)', label: 'joined' },
      { fill: 'url(#g5-lines)', label: 'left' },
    ]),
    ...(bars.length > 0 && {
      picture: draw('Joins and leaves over time.', (sheet) => ({
        height: 150,
        ...timeMargins(sheet),
        x: timeAxis(frame, sheet),
        y: { label: null, ticks: 4, tickFormat: (value: number) => wholeTick(Math.abs(value)), grid: true, nice: true },
        marks: [
          Plot.rect(bars, {
            ...stepSpan(step, frame),
            y1: 0,
            y2: 'amount',
            fill: (one) => (one.amount > 0 ? 'var(--g4)' : 'url(#g5-lines)'),
            insetLeft: 0.5,
            insetRight: 0.5,
            title: (one) => `${moment(one.at)}: ${Math.abs(one.amount)} ${one.amount > 0 ? 'joined' : 'left'}`,
          }),
          Plot.ruleY([0]),
        ],
      })),
    }),
    table: {
      columns: ['At (UTC)', 'What', 'Member', 'Rank before', 'Rank after', 'From or to'],
      rows: moves.map(({ at, event, player, username, fromRank, toRank, other }) => [
        ...[at, event, playerCell(frame, player, username), fromRank, toRank, other],
      ]),
    },
  }
}

function tally(moves: readonly Move[], from: Date, step: number, sign = 1) {
  const amounts = new Map<number, number>()
  for (const { at } of moves) {
    const place = Math.floor((at.getTime() - from.getTime()) / (step * 1000))
    amounts.set(place, (amounts.get(place) ?? 0) + sign)
  }
  return [...amounts].map(([place, amount]) => ({ at: new Date(from.getTime() + place * step * 1000), amount }))
}
