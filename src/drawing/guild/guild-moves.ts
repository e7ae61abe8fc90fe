import * as Plot from '@observablehq/plot'
import type { Sql } from '../../db/database.ts'
import { draw } from '../draw.ts'
import { type Figure, missing } from '../figure.ts'
import { type Frame, playerCell } from '../frame.ts'
import { stepOf } from '../period.ts'
import { legendLine } from '../swatch.ts'
import { stepSpan, timeAxis, timeMargins } from '../time-axis.ts'
import { count, every, moment, number, wholeTick } from '../words.ts'

interface Move {
  readonly at: Date
  /** The last response that did not show it yet. */
  readonly notBefore: Date | null
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
    `select event.at, event.not_before as "notBefore", event.event, event.player_uuid::text as player, event.username, coalesce(event.from_rank, '') as "fromRank",
            coalesce(event.to_rank, '') as "toRank",
            -- Of a guild that is gone, the last name.
            coalesce(analytics.counted_name('guild', event.other_guild_uuid, null), event.other_guild_uuid::text, '') as other
       from analytics.membership_event event
      where event.guild_uuid = $1 and event.at >= $2 and event.at < $3 order by event.at, event.username collate "C", event.event collate "C"`,
    [guild, frame.from, frame.to],
  )
  const id = 'moves'
  const of = (...events: string[]) => moves.filter(({ event }) => events.includes(event))
  if (moves.length === 0)
    return missing(id, 'No join, leave or change of rank was observed', `wynnsync sync guilds --guild ${guild}`)
  const step = Math.max(3600, stepOf(frame, 42))
  // Joining has a time of its own. What else happened some time in more than a cell is in none, and maybe not in the period.
  const isDated = ({ at, notBefore, event }: Move) =>
    event === 'joined' || (notBefore !== null && at.getTime() - notBefore.getTime() <= step * 1000)
  const dated = (...events: string[]) => of(...events).filter(isDated)
  const inPeriod = (...events: string[]) =>
    of(...events).filter((move) => isDated(move) || (move.notBefore !== null && move.notBefore >= frame.from)).length
  const bars = [...tally(dated('joined'), frame.from, step), ...tally(dated('left'), frame.from, step, -1)]
  return {
    id,
    title: `${count(inPeriod('joined'), 'member')} joined, ${number(inPeriod('left'))} left; ${count(inPeriod('promoted', 'demoted'), 'rank')} changed`,
    lead: [
      `Joins above the line and leaves below it, per ${every(step)}. Joining has the API's own time, everything else the time when it was first seen.`,
      ...undatedMoves(
        of('left', 'promoted', 'demoted').filter((move) => !isDated(move)),
        frame.writtenAt,
      ),
    ].join(' '),
    ...(bars.length > 0 && {
      legend: legendLine([
        { fill: 'var(--g4)', label: 'joined' },
        { fill: 'url(#g5-lines)', label: 'left' },
      ]),
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
      columns: ['At (UTC)', 'What', 'Member', 'Rank before', 'Rank after', 'From or to', 'Not before (UTC)'],
      rows: moves.map(({ at, event, player, username, fromRank, toRank, other, notBefore }) => [
        at,
        event,
        playerCell(frame, player, username),
        fromRank,
        toRank,
        other,
        notBefore,
      ]),
    },
  }
}

/** What happened in times without responses, one sentence for each of these times. */
function undatedMoves(moves: readonly Move[], now: Date): string[] {
  const spans = new Map<string, Move[]>()
  for (const move of moves) {
    const span = `${move.notBefore ? moment(move.notBefore, now) : 'an unknown time'} .. ${moment(move.at, now)}`
    spans.set(span, [...(spans.get(span) ?? []), move])
  }
  return [...spans].map(([span, some]) => {
    const left = some.filter(({ event }) => event === 'left').length
    const parts = [
      left > 0 && `${number(left)} left`,
      some.length > left && `${count(some.length - left, 'rank')} changed`,
    ]
    return `Some time in ${span}, ${parts.filter(Boolean).join(' and ')}: counted in no cell.`
  })
}

function tally(moves: readonly Move[], from: Date, step: number, sign = 1) {
  const amounts = new Map<number, number>()
  for (const { at } of moves) {
    const place = Math.floor((at.getTime() - from.getTime()) / (step * 1000))
    amounts.set(place, (amounts.get(place) ?? 0) + sign)
  }
  return [...amounts].map(([place, amount]) => ({ at: new Date(from.getTime() + place * step * 1000), amount }))
}
