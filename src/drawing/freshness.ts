import type { Sql } from '../db/database.ts'
import { type Figure, missing } from './figure.ts'
import { count, length, number } from './words.ts'

export interface Fresh {
  readonly resource: string
  readonly observed: Date | null
  readonly changed: Date | null
  readonly received: Date | null
  readonly status: string | null
  readonly every: number | null
}

export async function readFreshness(sql: Sql): Promise<Fresh[]> {
  return await sql.query<Fresh>(
    `select resource, last_observed_at as observed, last_changed_at as changed, last_received_at as received,
            last_status as status, extract(epoch from expected_every)::double precision as every
       from analytics.freshness order by resource collate "C"`,
  )
}

/** The title names so many; the table has all. */
const NAMED_RESOURCES = 6

/** f. How fresh each resource was when the report was written. */
export async function freshnessFigure(sql: Sql, writtenAt: Date): Promise<Figure> {
  const rows = await readFreshness(sql)
  if (rows.length === 0) return missing('freshness', 'Nothing was synced yet', 'wynnsync sync')
  const late = rows.filter((row) => isLate(row, writtenAt))
  const watched = rows.filter(({ every }) => every !== null).length
  const rest = rows.length > watched ? `, ${number(rows.length - watched)} without a schedule` : ''
  return {
    id: 'freshness',
    title:
      watched === 0
        ? 'No schedule is known, so nothing counts as late'
        : late.length === 0
          ? `Nothing was late: ${count(watched, 'resource')}${rest}`
          : `${number(late.length)} of ${count(watched, 'resource')} late${late.length > NAMED_RESOURCES ? '' : `: ${late.map(({ resource }) => resource).join(', ')}`}`,
    lead: 'As of when this page was written.',
    isTableShown: true,
    table: {
      columns: ['Resource', 'Last seen (UTC)', 'Age', 'Last change (UTC)', 'Expected every', 'Last run', 'Late'],
      rows: rows.map((row) => [
        row.resource,
        row.observed,
        row.observed === null ? '–' : length((writtenAt.getTime() - row.observed.getTime()) / 1000),
        row.changed,
        row.every === null ? 'no schedule' : length(row.every),
        row.status ?? 'never ran',
        isLate(row, writtenAt),
      ]),
    },
  }
}

/** The rule of `analytics.freshness`, as of an instant. */
export function isLate({ every, received, observed }: Fresh, writtenAt: Date): boolean {
  if (every === null) return false
  if (received === null || observed === null) return true
  const age = (at: Date) => (writtenAt.getTime() - at.getTime()) / 1000
  return age(received) > 1.5 * every || age(observed) > 2.5 * every + 120
}
