import * as Plot from '@observablehq/plot'
import type { Sql } from '../../../db/database.ts'
import { draw, type Picture } from '../drawing/draw.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import { type Frame, playerCell } from '../drawing/frame.ts'
import { legendLine } from '../drawing/swatch.ts'
import { count, number, wholeTick } from '../words.ts'

interface Member {
  readonly player: string
  readonly username: string
  readonly rank: string
  readonly seen: Date | null
  readonly days: number | null
  readonly status: string
  readonly reason: string
}

const statuses = [
  { status: 'active', fill: 'var(--g2)', label: 'active: seen in the last seven days' },
  { status: 'inactive', fill: 'url(#g5-lines)', label: 'inactive' },
  { status: 'unknown', fill: 'url(#unknown)', label: 'cannot be known' },
]
const ranks = ['owner', 'chief', 'strategist', 'captain', 'recruiter', 'recruit']

/** d. Which members are active, at the end of the period. */
export async function membersFigure(sql: Sql, guild: string, frame: Frame): Promise<Figure> {
  const members = await sql.query<Member>(
    `select player_uuid::text as player, username, rank, last_seen as seen, days_inactive as days, status, coalesce(reason, '') as reason from analytics.member_activity($1, (select least($2::timestamptz, last_at) from analytics.observed()))`,
    [guild, frame.to],
  )
  const id = 'members'
  if (members.length === 0) return missing(id, 'Its members are not known', `wynnsync sync guilds --guild ${guild}`)
  const of = (wanted: string) => members.filter(({ status }) => status === wanted).length
  return {
    id,
    title: `${number(of('active'))} of ${count(members.length, 'member')} active, ${number(of('inactive'))} inactive, ${number(of('unknown'))} cannot be known`,
    lead: 'Members by rank at the end of the period. Members with a restriction do not count as inactive; the table gives the reason for each unknown.',
    legend: legendLine(statuses),
    picture: picture(members),
    table: {
      columns: ['Member', 'Rank', 'Status', 'Last seen (UTC)', 'Days ago', 'Why it cannot be known'],
      rows: members.map(({ player, username, rank, status, seen, days, reason }) => [
        ...[playerCell(frame, player, username), rank, status, seen, days, reason],
      ]),
    },
  }
}

/** How many members of a rank have a status, and how many of that rank have one that is drawn before it. */
interface Bar {
  readonly rank: string
  readonly status: string
  readonly fill: string
  readonly start: number
  readonly end: number
}

function picture(members: readonly Member[]): Picture {
  const place = (rank: string) => (ranks.includes(rank) ? ranks.indexOf(rank) : ranks.length)
  const domain = [...new Set(members.map(({ rank }) => rank))].sort(
    (a, b) => place(a) - place(b) || a.localeCompare(b, 'en'),
  )
  const bars = domain.flatMap((rank) => barsOf(rank, members))
  const amount = ({ start, end }: Bar) => end - start
  return draw('Members by rank: active, inactive, unknown.', ({ isNarrow }) => ({
    height: domain.length * 28 + 24,
    marginLeft: isNarrow ? 72 : 90,
    marginRight: 20,
    marginTop: 2,
    marginBottom: 20,
    x: { label: null, ticks: 5, tickFormat: wholeTick, grid: true },
    y: { domain, label: null, tickSize: 0 },
    color: { type: 'identity' },
    marks: [
      Plot.barX(bars, {
        x1: 'start',
        x2: 'end',
        y: 'rank',
        fill: 'fill',
        stroke: 'var(--paper)',
        inset: 0.5,
        title: (bar) => `${bar.rank}: ${amount(bar)} ${bar.status}`,
      }),
      Plot.text(
        bars.filter((bar) => amount(bar) * (isNarrow ? 2.4 : 8) > members.length * 0.09),
        {
          x: (bar) => (bar.start + bar.end) / 2,
          y: 'rank',
          text: (bar) => String(amount(bar)),
          fill: 'var(--ink)',
          stroke: 'var(--paper)',
          strokeWidth: 4,
          fontWeight: 700,
        },
      ),
    ],
  }))
}

function barsOf(rank: string, members: readonly Member[]): Bar[] {
  let end = 0
  const bars = statuses.map(({ status, fill }) => {
    const start = end
    end += members.filter((member) => member.rank === rank && member.status === status).length
    return { rank, status, fill, start, end }
  })
  return bars.filter((bar) => bar.end > bar.start)
}
