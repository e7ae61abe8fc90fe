import type { Sql } from '../../db/database.ts'

/** How far a watch is; a row of sync.watch_delivery. */
export interface DeliveryState {
  readonly watch: string
  readonly number: number
  readonly sending: number | null
  readonly attempts: number
  readonly retryAt: Date | null
  readonly failingSince: Date | null
  readonly error: string | null
  readonly deliveredAt: Date | null
}

const columns = `watch, number, sending, attempts, retry_at as "retryAt", failing_since as "failingSince", error,
  delivered_at as "deliveredAt"`

/** The state of every watch that ran, by name. */
export async function readDeliveries(sql: Sql): Promise<DeliveryState[]> {
  return await sql.query<DeliveryState>(`select ${columns} from sync.watch_delivery order by watch collate "C"`)
}

/** Begins watches that are new with what comes next, and forgets those that are gone. */
export async function matchDeliveries(sql: Sql): Promise<void> {
  await sql.query(
    `insert into sync.watch_delivery (watch, number, attempts)
     select name, coalesce((select max(last) from sync.outbox_head), 0), 0 from sync.watch
     on conflict (watch) do nothing`,
  )
  await sql.query('delete from sync.watch_delivery where watch not in (select name from sync.watch)')
}

export async function writeDelivery(sql: Sql, state: DeliveryState): Promise<void> {
  await sql.query(
    `update sync.watch_delivery set number = $2, sending = $3, attempts = $4, retry_at = $5, failing_since = $6,
            error = $7, delivered_at = $8 where watch = $1`,
    [
      state.watch,
      state.number,
      state.sending,
      state.attempts,
      state.retryAt,
      state.failingSince,
      state.error,
      state.deliveredAt,
    ],
  )
}

/** A change that a watch may send. */
interface WatchedChange {
  readonly number: number
  readonly writtenAt: Date
}

/** Changes of one read. */
export const mostChanges = 1000

/** How long a change is news, ms: for as long the outbox keeps it at least. */
const NEWS_LAST_MS = 86_400_000

/**
 * News from some sources after a number, in order. What is older is none: the process was away for long, a receiver took nothing, or the
 * database came back from a backup. @param upto the last number; null: the latest @param now ms since the epoch
 */
export async function readNews(
  sql: Sql,
  sources: readonly string[],
  { after, upto, now }: { readonly after: number; readonly upto: number | null; readonly now: number },
): Promise<WatchedChange[]> {
  return await sql.query<WatchedChange>(
    `select number, at as "writtenAt" from sync.outbox
      where number > $1 and ($2::bigint is null or number <= $2) and at >= $4 and ${isNews('$3')}
      order by number limit ${mostChanges}`,
    [after, upto, sources, new Date(now - NEWS_LAST_MS)],
  )
}

/** SQL condition of changes in `sync.outbox` that watches look at. @param sources parameter of a statement */
export const isNews = (sources: string) => `not change @> '{"late": true}'
        and case change->>'event' when 'change' then change->>'resource' else change->>'event' end = any(${sources})`
