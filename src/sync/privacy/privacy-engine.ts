import type { KeptTable, Personal } from '../declare/personal.ts'

/** Instead of the reason, which may quote the value. */
const instead = 'removed for privacy'

interface Statement {
  readonly table: string
  readonly text: string
}

const isOf = (key: string) =>
  `(${key} = who.player or starts_with(${key}, who.player || '/') or ${key} like '%/' || who.player)`

const unread = (resources: string): Statement => ({
  table: 'sync.quarantine',
  text: `update sync.quarantine kept set raw = 'null', reason = '${instead}' from who
    where kept.resource in (${resources}) and kept.raw::text <> 'null'
      and kept.first_seen_at <= who.until
      and (${isOf('kept.key')} or strpos(lower(kept.raw::text), who.player) > 0
           or exists (select from unnest(who.names) as name
                       where strpos(kept.raw::text, '"' || name || '"') > 0 or kept.path like '%/' || name))`,
})

/**
 * That a field of a player is back is found by the key. Below a player, such as of a character, the key may be hidden itself.
 * @param isWhole everything about the players goes
 */
const examples = (isWhole: boolean): Statement => {
  const named = `${isOf('kept.key')}${isWhole ? '' : ` and (kept.key <> who.player or starts_with(kept.kind, 'unknown'))`}`
  return {
    table: 'sync.drift',
    text: `update sync.drift kept set example = null, key = case when ${named} then '' else kept.key end from who
      where kept.first_seen_at <= who.until
        and (${named} or kept.example is not null and (${isOf('kept.key')} or strpos(lower(kept.example::text), who.player) > 0))`,
  }
}

const changes = (resources: string): Statement => ({
  table: 'game.field_change',
  text: `delete from game.field_change kept using who
    where kept.resource in (${resources}) and ${isOf('kept.key')} and kept.changed_at <= who.until`,
})

/**
 * Of a table that has versions of players under the keys of a history, once rows of it have gone: what is claimed about the keys where all
 * went, and when those could not be read of which nothing is left.
 */
export function keyStatements(
  { table, absences, versionsOf }: Pick<KeptTable, 'table' | 'absences' | 'versionsOf'>,
  isWhole: boolean,
): Statement[] {
  const claimed = `delete from sync.claim kept using who where kept.resource = '${absences}' and ${isOf('kept.subject')}`
  const key = versionsOf?.map((column) => `version.${column}::text`).join(` || '/' || `)
  const lacked = `delete from sync.unread kept using who
    where kept.resource = '${absences}' and ${isOf('kept.key')} and kept.from_at <= who.until
      and not exists (select from ${table} version where version.player_uuid = who.player::uuid and ${key} = kept.key)`
  return [
    ...(absences && isWhole ? [counted({ table: 'sync.claim', text: claimed }, [])] : []),
    ...(absences && key ? [counted({ table: 'sync.unread', text: lacked }, [])] : []),
  ]
}

const named: Statement = {
  table: 'sync.privacy_action',
  text: `update sync.privacy_action kept set player_uuid = null, player_hash = sha256(who.player::bytea) from who
    where kept.player_uuid = who.player::uuid`,
}

/**
 * What removes players from the engine's own tables: records it could not understand, examples of what was new, changes
 * by field. What it did not understand cannot be taken apart by rule, so all of it goes, also the record of a whole guild
 * that mentions the player; that there was such a record stays. To be run before the tables that tell the players' names.
 *
 * @param names tables and columns with players' names
 * @param isWhole everything about the players goes, not what one rule hides
 * @returns statements with `$1` players and `$2` until when; each gives rows of player and n
 */
export function engineStatements(
  { responses }: Personal,
  names: readonly { readonly table: string; readonly username: string }[],
  isWhole: boolean,
): Statement[] {
  const resources = Object.keys(responses)
    .map((name) => `'${name}'`)
    .join(', ')
  return [unread(resources), examples(isWhole), changes(resources)].map((statement) => counted(statement, names))
}

/** Keeps of what was removed only the hash of the uuid. */
export function anonymizingStatement(): Statement {
  return counted(named, [])
}

function counted(
  { table, text }: Statement,
  names: readonly { readonly table: string; readonly username: string }[],
): Statement {
  const named = names.map(
    (one) => `select ${one.username} from ${one.table} where player_uuid = asked.player_uuid and ${one.username} <> ''`,
  )
  return {
    table,
    text: `with who as materialized (
        select asked.player_uuid::text as player, asked.until,
               ${named.length > 0 ? `array(${named.join(' union ')})` : `'{}'::text[]`} as names
          from unnest($1::uuid[], $2::timestamptz[]) as asked(player_uuid, until)),
      gone as (${text} returning who.player)
      select player, count(*)::int as n from gone group by 1`,
  }
}
