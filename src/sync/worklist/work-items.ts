import type { Sql } from '../../db/database.ts'
import type { LastAccepted } from '../validate/validate-snapshot.ts'

/** Answers are cached this long (API reference 2.3): asking earlier brings the same copy. Milliseconds. */
const shortestInterval = 120_000
/** A claimed key that nobody reports on is free again after this time, in ms: its holder died. */
export const lease = 300_000
/** What the API no longer has is asked for again after this time, in ms: within a day, for it may be back. */
export const goneInterval = 20 * 3_600_000

/**
 * Takes the most urgent keys of a worklist: staleness times weight, a day for what nobody asked yet.
 * @param holder whose lease it is: the id of a run
 */
export async function claimKeys(
  sql: Sql,
  resource: string,
  count: number,
  now: number,
  holder: string,
): Promise<string[]> {
  const rows = await sql.query<{ key: string }>(
    // Materialized: as a plain subquery the planner may run it several times and lock more keys each time.
    `with urgent as materialized (
       select resource, key from sync.work_item
        where resource = $1 and (leased_until is null or leased_until < $2)
          and (checked_at is null or checked_at <= $4) and (gone_at is null or checked_at <= $5)
        order by extract(epoch from $2 - coalesce(checked_at, $2 - interval '1 day')) * weight desc, key
        limit $6 for update skip locked)
     update sync.work_item item set leased_until = $3, leased_by = $7 from urgent
      where item.resource = urgent.resource and item.key = urgent.key
      returning item.key`,
    [
      resource,
      new Date(now),
      new Date(now + lease),
      new Date(now - shortestInterval),
      new Date(now - goneInterval),
      count,
      holder,
    ],
  )
  return rows.map(({ key }) => key)
}

/** Takes named keys, whatever their turn; puts them on the list when they are not there yet. */
export async function claimNamed(
  sql: Sql,
  resource: string,
  keys: readonly string[],
  now: number,
  holder: string,
): Promise<string[]> {
  await sql.query(
    `insert into sync.work_item (resource, key, leased_until, leased_by)
     select $1, key, $3, $4 from unnest($2::text[]) as named(key)
     on conflict (resource, key) do update set leased_until = excluded.leased_until, leased_by = excluded.leased_by`,
    [resource, keys, new Date(now + lease), holder],
  )
  return [...keys]
}

/** The last accepted answer about a key, its row locked until the transaction ends. */
export async function lastOfKey(
  sql: Sql,
  resource: string,
  key: string,
): Promise<(LastAccepted & { living: number }) | undefined> {
  const [row] = await sql.query<{ observed_at: Date | null; content_hash: Uint8Array | null; records: number | null }>(
    // What was produced before a tombstone does not undo it.
    `select greatest(observed_at, gone_at) as observed_at, content_hash, records
       from sync.work_item where resource = $1 and key = $2 and observed_at is not null for update`,
    [resource, key],
  )
  if (!row?.observed_at) return undefined
  const { observed_at: observedAt, content_hash: contentHash = null, records } = row
  // A tombstone leaves no hash: whatever comes then is not the same.
  return {
    observedAt: observedAt.getTime(),
    contentHash: contentHash ?? new Uint8Array(),
    // One record for one key: an older program counted quarantined pieces too.
    records: Math.min(records ?? 1, 1),
    living: 1,
  }
}

/** What became of asking for a key. */
export interface Checked {
  readonly key: string
  /** Ms since the epoch. */
  readonly now: number
  /** Set when an answer was accepted. */
  readonly accepted?: { readonly observedAt: Date; readonly contentHash: Uint8Array; readonly records: number }
  /** Set when an answer shows the key, whatever came of it: `long ago` when it is older than what is known. */
  readonly shown?: 'now' | 'long ago'
}

/** Gives a claimed key back and remembers what was learned. */
export async function recordChecked(sql: Sql, resource: string, { key, now, accepted, shown }: Checked): Promise<void> {
  await sql.query(
    `update sync.work_item set checked_at = greatest(checked_at, $3), leased_until = null, leased_by = null,
            observed_at = coalesce($4, observed_at), first_observed_at = coalesce(first_observed_at, $4),
            content_hash = coalesce($5, content_hash), records = coalesce($6, records),
            gone_at = case when $7 then null else gone_at end,
            refusal = case when $8 then null else refusal end,
            refused_since = case when $8 then null else refused_since end,
            refused_times = case when $8 then null else refused_times end
      where resource = $1 and key = $2`,
    [
      resource,
      key,
      new Date(now),
      accepted?.observedAt ?? null,
      accepted?.contentHash ?? null,
      accepted?.records ?? null,
      shown === 'now',
      shown !== undefined,
    ],
  )
}

/**
 * Gives a key back that could not be asked for. It keeps its turn, but not before a while: at the head of the list, one
 * answer that always fails would keep all others waiting.
 */
export async function postponeKey(sql: Sql, resource: string, key: string, now: number): Promise<void> {
  await sql.query('update sync.work_item set leased_until = $3, leased_by = null where resource = $1 and key = $2', [
    resource,
    key,
    new Date(now + shortestInterval),
  ])
}

/** Gives a claimed key back that was not asked for after all: it keeps its turn. */
export async function releaseKey(sql: Sql, resource: string, key: string): Promise<void> {
  await sql.query('update sync.work_item set leased_until = null, leased_by = null where resource = $1 and key = $2', [
    resource,
    key,
  ])
}
