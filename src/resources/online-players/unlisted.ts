import type { Sql } from '../../db/database.ts'
import type { Answered } from '../../sync/declare/resource.ts'
import type { OnlineFacts } from './normalize.ts'

/** The response that a listing ends with, and what it knows. */
interface Unlisting extends Pick<Answered, 'at' | 'pendingClaims' | 'corroborate' | 'isBurst'> {
  readonly previousAt: Date | null
  readonly facts: OnlineFacts
  /** How many are hidden in the response; null: unknown. */
  readonly hidden: number | null
  /** The same of the response before. */
  readonly hiddenBefore: number | null
}

/**
 * Ends the listings of players whom the response lacks; returns how many ended. Only those whom several responses in a row lack, where one
 * response is not enough: it lists players under keys that cannot be read, its count is hard to believe, it lacks most players, or
 * it counts the many whom it lacks.
 */
export async function closeUnlisted(sql: Sql, response: Unlisting): Promise<number> {
  const { at, previousAt, facts, hidden, hiddenBefore, pendingClaims, corroborate, isBurst } = response
  const { players, unread = 0, isDoubted = false } = facts
  const missing = await sql.query<{ player: string }>(
    `select player_uuid::text as player from game.player_listing open
      where last_listed_at is null
        and not exists (select from unnest($1::uuid[]) as listed(player_uuid) where listed.player_uuid = open.player_uuid)`,
    [players],
  )
  const waiting = new Map((await pendingClaims('unlisted')).map(({ subject, firstAt }) => [subject, firstAt]))
  const keys = missing.map(({ player }) => player)
  const stillCounted = hidden === null || hiddenBefore === null ? 0 : hidden - hiddenBefore
  const [open] = await sql.query<{ count: number }>(
    'select count(*)::int as count from game.player_listing where last_listed_at is null',
  )
  const of = open?.count ?? 0
  const isUnsure =
    unread > 0 ||
    isDoubted ||
    isBurst(keys.length, of, 'unlisted') ||
    (isBurst(keys.length, of) && stillCounted > keys.length / 2)
  const gone = isUnsure ? (await corroborate('unlisted', keys)).map(({ subject }) => subject) : keys
  if (!isUnsure && waiting.size > 0) await corroborate('unlisted', [])
  if (gone.length === 0) return 0
  const ended = await sql.query(
    `update game.player_listing listing
        set last_listed_at = greatest(first_listed_at, case when gone.missed_at is null then $4::timestamptz else
              (select max(run.observed_at) from sync.run
                where run.resource = 'online-players' and run.status in ('ok', 'unchanged', 'partial') and run.observed_at < gone.missed_at) end),
            first_unlisted_at = $3, logout_latest = case when $5::int = 0 then $3::timestamptz end
       from unnest($1::uuid[], $2::timestamptz[]) as gone(player_uuid, missed_at)
      where listing.player_uuid = gone.player_uuid and last_listed_at is null
      returning 1`,
    [gone, gone.map((key) => waiting.get(key) ?? null), at, previousAt, hidden],
  )
  return ended.length
}
