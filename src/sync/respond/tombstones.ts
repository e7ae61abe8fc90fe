import type { Sql } from '../../db/database.ts'

/** Further back no clock is given up, ms. */
const kept = 30 * 24 * 3_600_000

/** Remembers which response ended versions that responses lacked: when it is given up, they go on. Forgets what is a month old. */
export async function rememberTombstones(
  sql: Sql,
  resource: string,
  ended: readonly { readonly key: string; readonly at: Date }[],
  confirmedAt: Date,
): Promise<void> {
  if (ended.length === 0) return
  await sql.query('delete from sync.tombstone where resource = $1 and confirmed_at < $2', [
    resource,
    new Date(confirmedAt.getTime() - kept),
  ])
  await sql.query(
    `insert into sync.tombstone (resource, key, valid_until, confirmed_at)
     select $1, ended.key, ended.at, $4 from unnest($2::text[], $3::timestamptz[]) as ended(key, at)
     on conflict (resource, key) do update set valid_until = excluded.valid_until, confirmed_at = excluded.confirmed_at`,
    [resource, ended.map(({ key }) => key), ended.map(({ at }) => at), confirmedAt],
  )
}
