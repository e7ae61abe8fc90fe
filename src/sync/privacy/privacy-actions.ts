import type { Sql } from '../../db/database.ts'
import { sha256 } from '../normalize/hash.ts'
import type { Removed } from './erase-person.ts'
import type { Person } from './personal.ts'

/** That something was removed: of whom, when, what kind of thing. */
export interface Action {
  /** Null where the player is not named; then `hash` tells. */
  readonly player: string | null
  /** SHA-256 of the uuid, in hex. */
  readonly hash: string | null
  readonly group: string
  readonly at: Date
}

/** What led to a removal. */
export interface Cause {
  /** What was observed until then does not come back. */
  readonly at: Date
  readonly policy: 'anonymize' | 'delete' | 'purge'
  readonly reason: string
  readonly runId: string | null
  /** Whether the uuid is kept, rather than its SHA-256. */
  readonly isNamed: boolean
}

/** SHA-256 of a player's uuid, in hex: recognizes a player who is not to be named. */
export function hashOf(playerUuid: string): string {
  return sha256(playerUuid.toLowerCase()).toString('hex')
}

/** Writes down that something was removed; nothing where nothing was there. Never what it was. */
export async function noteActions(sql: Sql, removed: readonly Removed[], cause: Cause): Promise<void> {
  if (removed.length === 0) return
  const { at, policy, reason, runId, isNamed } = cause
  await sql.query(
    `insert into sync.privacy_action (at, player_uuid, player_hash, field_group, policy, rows, reason, run_id)
     select $1, case when $8 then player::uuid end, case when not $8 then decode(hash, 'hex') end, field_group, $6,
            sum(rows), $7, $9
       from unnest($2::text[], $3::text[], $4::text[], $5::int[]) as removed(player, hash, field_group, rows)
      group by player, hash, field_group`,
    [
      at,
      removed.map((one) => one.playerUuid),
      removed.map((one) => hashOf(one.playerUuid)),
      removed.map((one) => one.fieldGroup),
      removed.map((one) => one.rows),
      policy,
      reason,
      isNamed,
      runId,
    ],
  )
}

/**
 * Removals at the instant of an answer or later, but for those that the answer itself led to: what it says of these people
 * is older than what was removed, and must not come back by it.
 */
export async function actionsSince(
  sql: Sql,
  people: readonly Person[],
  { at, runId }: { readonly at: Date; readonly runId: string },
): Promise<Action[]> {
  const late = 'at >= $2 and (at > $2 or run_id is distinct from $3)'
  return await sql.query<Action>(
    `select player_uuid::text as player, null as hash, field_group as "group", max(at) as at from sync.privacy_action
      where player_uuid = any($1::uuid[]) and ${late} group by 1, 3
     union all
     select null, encode(player_hash, 'hex'), field_group, max(at) from sync.privacy_action
      where player_hash is not null and ${late} group by 2, 3`,
    [people.map((one) => one.playerUuid), at, runId],
  )
}
