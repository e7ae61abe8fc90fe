import * as Plot from '@observablehq/plot'
import type { Sql } from '../../../db/database.ts'
import { draw } from '../drawing/draw.ts'
import { type Figure, missing } from '../drawing/figure.ts'
import { rowsOf } from '../drawing/html-table.ts'
import { legendLine } from '../drawing/swatch.ts'
import type { Period } from '../period.ts'
import { percent, shortened } from '../words.ts'

interface Contribution {
  readonly username: string
  readonly rank: string
  readonly contributed: number | null
  readonly share: number | null
  readonly position: number
  readonly quality: string
}

const qualities = [
  { fill: 'var(--g4)', label: 'exact' },
  { fill: 'url(#g4-lines)', label: 'at least: not watched from the beginning, or the counter fell' },
]

/** d. Who contributed how much in the period, and how sure that is. */
export async function contributionFigure(sql: Sql, guild: string, { from, to }: Period): Promise<Figure> {
  const rows = await sql.query<Contribution>(
    `select username, rank, contributed, share, position, quality from analytics.member_contribution($1, $2, $3)`,
    [guild, from, to],
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
  const given = known.filter(({ contributed }) => (contributed ?? 0) > 0)
  const [first] = given
  const shown = rows.map((row) => ({ ...row, share: percent(row.share) }))
  return {
    id,
    title: first
      ? `${first.username} contributed most: ${experience(first.contributed)} experience, ${percent(first.share)} of the guild's`
      : 'No contribution was observed in this period',
    lead: `Experience contributed in the period; ${given.length} of ${known.length} members gave something.`,
    legend: legendLine(qualities),
    ...(first && { picture: bars(given) }),
    table: {
      columns: ['Member', 'Rank', 'Contributed', 'Share', 'Place', 'Quality'],
      rows: rowsOf(shown, 'username', 'rank', 'contributed', 'share', 'position', 'quality'),
      note: 'Quality: exact; partial: not watched from the beginning; clamped: the counter dipped and came back; reset: it fell for good; unknown: no response about the guild.',
    },
  }
}

function bars(given: readonly Contribution[]) {
  return draw('Experience contributed by the most active members.', ({ isNarrow }) => {
    const shown = given.slice(0, isNarrow ? 10 : 15)
    return {
      height: shown.length * 22 + 8,
      marginLeft: isNarrow ? 110 : 170,
      marginRight: isNarrow ? 56 : 80,
      marginTop: 2,
      marginBottom: 6,
      x: { axis: null },
      // By place, because two members may have been called the same.
      y: { domain: shown.map((_, place) => place), axis: null },
      marks: [
        Plot.barX(shown, {
          x: 'contributed',
          y: (_, place: number) => place,
          fill: (one) => (one.quality === 'exact' ? 'var(--g4)' : 'url(#g4-lines)'),
          inset: 2,
          title: (one) => `${one.username}, ${one.rank}: ${experience(one.contributed)} (${one.quality})`,
        }),
        Plot.text(shown, {
          x: 0,
          y: (_, place: number) => place,
          text: (one) => shortened(one.username, isNarrow ? 16 : 24),
          textAnchor: 'end',
          dx: -6,
          fill: 'var(--ink)',
        }),
        Plot.text(shown, {
          x: 'contributed',
          y: (_, place: number) => place,
          text: (one) => experience(one.contributed),
          textAnchor: 'start',
          dx: 5,
          fill: 'var(--ink)',
        }),
      ],
    }
  })
}

/** `7.1 bn`: experience comes in billions. */
function experience(value: number | null): string {
  if (value === null) return '?'
  if (value >= 1e9) return `${(value / 1e9).toFixed(1)} bn`
  if (value >= 1e6) return `${(value / 1e6).toFixed(1)} m`
  return value.toLocaleString('en-US')
}
