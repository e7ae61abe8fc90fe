import type { Sql } from '../../db/database.ts'
import { type Figure, missing } from '../figure.ts'
import { type Frame, playerCell } from '../frame.ts'
import type { Period } from '../period.ts'
import { count, number } from '../words.ts'
import { memberBars, qualityLegend, qualityNote } from './member-bars.ts'

/** What a member gained of a counter in a period. */
export interface MemberGain {
  readonly player: string
  readonly username: string
  /** Null: not known. */
  readonly gained: number | null
  readonly quality: string
}

/** What members gained of several counters, those who gained most first: it takes longer to plan than to run, and is planned once. */
export async function memberGains(
  sql: Sql,
  guild: string,
  { from, to }: Period,
  ...counters: readonly string[]
): Promise<(counter: string) => readonly MemberGain[]> {
  const rows = await sql.query<MemberGain & { readonly counter: string }>(
    `select wanted.counter, member.player_uuid::text as player, member.username, member.delta as gained, member.quality
       from unnest($4::text[]) with ordinality as wanted(counter, place)
      cross join lateral analytics.member_counter($1, wanted.counter, $2, $3) with ordinality as member(player_uuid, username, delta, quality, at_most, nth)
      order by wanted.place, member.nth`,
    [guild, from, to, counters],
  )
  return (counter) => rows.filter((row) => row.counter === counter)
}

/** Where only so much is certain of some. */
function atLeast(some: readonly { readonly quality: string }[]): string {
  return some.some(({ quality }) => quality === 'at_least') ? 'at least ' : ''
}

/** d. How many wars each member fought in the period. */
export function warsFigure(rows: readonly MemberGain[], guild: string, frame: Frame): Figure {
  const id = 'wars'
  const known = rows.filter(({ gained }) => gained !== null)
  if (known.length === 0)
    return missing(id, 'How many wars its members fought is not known', `wynnsync sync guilds --guild ${guild}`)
  const fought = known.flatMap(({ username, gained, quality }) =>
    gained === null || gained <= 0 ? [] : [{ username, amount: gained, quality }],
  )
  const [first] = fought
  return {
    id,
    title: first
      ? `${first.username} fought most: ${atLeast([first])}${count(first.amount, 'war')} of ${atLeast(fought)}${number(fought.reduce((sum, { amount }) => sum + amount, 0))}`
      : 'No war of a member was observed in this period',
    lead: `Wars of each member in the period, by the counters that members do not hide: known of ${known.length} of ${count(rows.length, 'member')}. Several members fight one war together.`,
    ...(first && {
      legend: qualityLegend,
      picture: memberBars('Wars of the members who fought most.', fought, (amount) => number(amount)),
    }),
    table: {
      columns: ['Member', 'Wars', 'Quality'],
      rows: rows.map(({ player, username, gained, quality }) => [playerCell(frame, player, username), gained, quality]),
      note: qualityNote,
    },
  }
}
