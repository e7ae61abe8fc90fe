import * as Plot from '@observablehq/plot'
import type { Sql } from '../../../db/database.ts'
import { draw } from '../drawing/draw.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import { legendLine } from '../drawing/swatch.ts'
import type { Period } from '../period.ts'
import { count, number } from '../words.ts'

interface Member {
  readonly username: string
  readonly rank: string
  readonly seen: Date | null
  readonly days: number | null
  readonly status: string
  readonly reason: string | null
}

const statuses = [
  { status: 'active', fill: 'var(--g2)', label: 'active: seen in the last seven days' },
  { status: 'inactive', fill: 'url(#g5-lines)', label: 'inactive' },
  { status: 'unknown', fill: 'url(#unknown)', label: 'cannot be known' },
]
const ranks = ['owner', 'chief', 'strategist', 'captain', 'recruiter', 'recruit']

/** d. Which members are active, at the end of the period. */
export async function membersFigure(sql: Sql, guild: string, { to }: Period): Promise<Figure> {
  const members = await sql.query<Member>(
    `select username, rank, last_seen as seen, days_inactive as days, status, reason from analytics.member_activity($1, $2)`,
    [guild, to],
  )
  const id = 'members'
  if (members.length === 0) return missing(id, 'Its members are not known', `wynnsync sync guilds --guild ${guild}`)
  const tally = new Map<string, { rank: string; status: string; members: number }>()
  for (const { rank, status } of members) {
    const cell = tally.get(`${rank} ${status}`) ?? { rank, status, members: 0 }
    tally.set(`${rank} ${status}`, { ...cell, members: cell.members + 1 })
  }
  const cells = [...tally.values()]
  const of = (wanted: string) => members.filter(({ status }) => status === wanted).length
  const place = (rank: string) => (ranks.includes(rank) ? ranks.indexOf(rank) : ranks.length)
  const domain = [...new Set(members.map(({ rank }) => rank))].sort(
    (a, b) => place(a) - place(b) || a.localeCompare(b, 'en'),
  )
  return {
    id,
    title: `${number(of('active'))} of ${count(members.length, 'member')} active, ${number(of('inactive'))} inactive, ${number(of('unknown'))} cannot be known`,
    lead: 'Members by rank at the end of the period. Members with a restriction do not count as inactive; the table gives the reason for each unknown.',
    legend: legendLine(statuses),
    picture: draw('Members by rank: active, inactive, unknown.', ({ isNarrow }) => ({
      height: domain.length * 28 + 24,
      marginLeft: isNarrow ? 72 : 90,
      marginRight: 20,
      marginTop: 2,
      marginBottom: 20,
      x: { label: null, ticks: 5, tickFormat: 'd', grid: true },
      y: { domain, label: null, tickSize: 0 },
      color: { type: 'identity' },
      marks: statuses.flatMap(({ status, fill }) => {
        const before = statuses
          .slice(
            0,
            statuses.findIndex((one) => one.status === status),
          )
          .map((one) => one.status)
        const start = (rank: string) =>
          cells
            .filter((one) => one.rank === rank && before.includes(one.status))
            .reduce((sum, one) => sum + one.members, 0)
        const bars = cells.filter((one) => one.status === status)
        const x1 = bars.map(({ rank }) => start(rank))
        const x2 = bars.map(({ members: amount }, index) => (x1[index] ?? 0) + amount)
        return [
          Plot.barX(bars, {
            x1,
            x2,
            y: 'rank',
            fill,
            stroke: 'var(--paper)',
            inset: 0.5,
            title: (one) => `${one.rank}: ${one.members} ${status}`,
          }),
          Plot.text(
            bars.filter((one) => one.members * (isNarrow ? 2.4 : 8) > members.length * 0.09),
            {
              x: (one) => start(one.rank) + one.members / 2,
              y: 'rank',
              text: (one) => String(one.members),
              fill: 'var(--ink)',
              stroke: 'var(--paper)',
              strokeWidth: 4,
              fontWeight: 700,
            },
          ),
        ]
      }),
    })),
    table: {
      columns: ['Member', 'Rank', 'Status', 'Last seen (UTC)', 'Days ago', 'Why it cannot be known'],
      rows: members.map(({ username, rank, seen, days, status, reason }) => [
        username,
        rank,
        status,
        seen,
        days,
        reason ?? '',
      ]),
    },
  }
}
