import type { Sql } from '../../../db/database.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import { type Frame, playerCell } from '../drawing/frame.ts'
import { percent } from '../words.ts'
import { memberBars, qualityLegend, qualityNote } from './member-bars.ts'

interface Contribution {
  readonly player: string
  readonly username: string
  readonly rank: string
  readonly contributed: number | null
  readonly share: number | null
  readonly position: number
  readonly quality: string
}

/** d. Who contributed how much in the period, and how sure that is. */
export async function contributionFigure(sql: Sql, guild: string, frame: Frame): Promise<Figure> {
  const rows = await sql.query<Contribution>(
    `select player_uuid::text as player, username, rank, contributed, share, position, quality
       from analytics.member_contribution($1, $2, $3)`,
    [guild, frame.from, frame.to],
  )
  const id = 'contribution'
  const known = rows.filter(({ contributed }) => contributed !== null)
  if (known.length === 0) {
    return missing(
      id,
      'What its members contributed in this period is not known',
      `wynnsync sync guilds --guild ${guild}`,
    )
  }
  const given = known.flatMap(({ username, contributed, quality }) =>
    contributed === null || contributed <= 0 ? [] : [{ username, amount: contributed, quality }],
  )
  const [first] = given
  const share = known.find(({ contributed }) => (contributed ?? 0) > 0)?.share
  return {
    id,
    title: first
      ? `${first.username} contributed most: ${first.quality === 'at_least' ? 'at least ' : ''}${experience(first.amount)} experience${share == null ? '' : `, ${percent(share)} of the guild's`}`
      : 'No contribution was observed in this period',
    lead: `Experience contributed in the period; ${given.length} of ${known.length} members gave something.`,
    legend: qualityLegend,
    ...(first && { picture: memberBars('Experience contributed by the most active members.', given, experience) }),
    table: {
      columns: ['Member', 'Rank', 'Contributed', 'Share', 'Place', 'Quality'],
      rows: rows.map((one) => [
        ...[playerCell(frame, one.player, one.username), one.rank, one.contributed, percent(one.share)],
        ...[one.position, one.quality],
      ]),
      note: qualityNote,
    },
  }
}

/** `7.1 bn`: experience comes in billions. */
function experience(value: number): string {
  if (value >= 1e9) return `${(value / 1e9).toFixed(1)} bn`
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} m`
  return value.toLocaleString('en-US')
}
