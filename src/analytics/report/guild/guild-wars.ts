import type { Sql } from '../../../db/database.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import { type Frame, playerCell } from '../drawing/frame.ts'
import { count, number } from '../words.ts'
import { memberBars, qualityLegend, qualityNote } from './member-bars.ts'

/** d. How many wars each member fought in the period. */
export async function warsFigure(sql: Sql, guild: string, frame: Frame): Promise<Figure> {
  const rows = await sql.query<{ player: string; username: string; wars: number | null; quality: string }>(
    `select player_uuid::text as player, username, delta as wars, quality
       from analytics.member_counter($1, 'wars', $2, $3)`,
    [guild, frame.from, frame.to],
  )
  const id = 'wars'
  const known = rows.filter(({ wars }) => wars !== null)
  if (known.length === 0)
    return missing(id, 'How many wars its members fought is not known', `wynnsync sync guilds --guild ${guild}`)
  const fought = known.flatMap(({ username, wars, quality }) =>
    wars === null || wars <= 0 ? [] : [{ username, amount: wars, quality }],
  )
  const [first] = fought
  return {
    id,
    title: first
      ? `${first.username} fought most: ${count(first.amount, 'war')} of ${number(fought.reduce((sum, { amount }) => sum + amount, 0))}`
      : 'No war of a member was observed in this period',
    lead: `Wars of each member in the period, by the counters that members do not hide: known of ${known.length} of ${count(rows.length, 'member')}. Several members fight one war together.`,
    ...(first && {
      legend: qualityLegend,
      picture: memberBars('Wars of the members who fought most.', fought, (amount) => number(amount)),
    }),
    table: {
      columns: ['Member', 'Wars', 'Quality'],
      rows: rows.map(({ player, username, wars, quality }) => [playerCell(frame, player, username), wars, quality]),
      note: qualityNote,
    },
  }
}
