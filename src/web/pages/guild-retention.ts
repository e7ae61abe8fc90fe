import { html } from 'hono/html'
import type { Sql } from '../../db/database.ts'
import { type Figure, listFigure } from '../../drawing/figure.ts'
import { count, number } from '../../drawing/words.ts'
import { csvLink } from '../html/links.ts'

/** So many days before the end of a period those who joined are counted: a year, and the 90 days that are waited for. */
const RETENTION_DAYS = 455

interface Retention {
  readonly joinedIn: Date
  readonly joined: number
  readonly after30: number | null
  readonly after90: number | null
  readonly unknown30: number
  readonly unknown90: number
}

/** Who of those who joined stayed, by month of joining; undefined where no one was seen to join. */
export async function retentionFigure(sql: Sql, uuid: string, to: Date): Promise<Figure | undefined> {
  const from = new Date(to.getTime() - RETENTION_DAYS * 86_400_000)
  const months = await sql.query<Retention>(
    `select joined_in as "joinedIn", joined, still_after_30d as "after30", still_after_90d as "after90",
            unknown_after_30d as "unknown30", unknown_after_90d as "unknown90"
       from analytics.member_retention($1::text::uuid, $2, $3) order by joined_in desc`,
    [uuid, from, to],
  )
  if (months.length === 0) return undefined
  const [joined, judged, stayed] = months.reduce(
    ([all, known, still], one) => [
      all + one.joined,
      known + (one.after30 === null ? 0 : one.joined - one.unknown30),
      still + (one.after30 ?? 0),
    ],
    [0, 0, 0],
  )
  const title =
    judged === 0
      ? `Whether the ${count(joined, 'member')} who joined stayed for 30 days is not known yet`
      : `${number(stayed)} of ${number(judged)} who joined stayed for 30 days`
  const csv = csvLink('member_retention', { guild: uuid, from_time: from, to_time: to })
  return listFigure('retention', title, {
    columns: ['Joined in', 'Joined', 'Still there after 30 days', 'Not known', 'After 90 days', 'Not known'],
    rows: months.map((one) => [
      one.joinedIn.toISOString().slice(0, 7),
      one.joined,
      one.after30,
      one.unknown30,
      one.after90,
      one.unknown90,
    ]),
    note: html`Of those who joined in the ${RETENTION_DAYS} days before the end of the period. Not known: it is too early, or no response came around that time. ${csv}`,
  })
}
