import { quoted } from '../../db/bulk/copy-columns.ts'
import { countOf } from '../../db/count-of.ts'
import type { Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { inProfiles } from '../../resources/personal.ts'
import { engineNaming } from '../../sync/privacy/named-columns.ts'
import { privacyLock } from '../../sync/privacy/privacy.ts'
import type { LakeTable } from '../tables.ts'
import type { RowRules } from './staged-file.ts'

/** Columns that say when something was observed, or when it changed: never later than the export. */
const OBSERVED =
  `valid_from valid_until observed_at observed_from captured_at held_from changed_at received_at started_at finished_at
  hour announced_at began_at ended_at earliest latest fell_at fine_since coarse_since averaged_until
  first_at last_at first_received_at last_received_at from_at until_at
  first_listed_at last_listed_at last_unlisted_at first_unlisted_at login_earliest logout_latest`.split(/\s+/)

/** What a row of a table must fulfil, from the catalogue, and which columns stay out, since they could name a player. */
export async function rulesOf(
  sql: Sql,
  table: string,
  until: Date,
): Promise<RowRules & { readonly leftOut: readonly string[] }> {
  const columns = await sql.query<{ name: string; required: boolean; indexed: boolean }>(
    `select attname::text as name, attnotnull as required,
            exists (select from pg_index where indrelid = attrelid and attnum = any(indkey)) as indexed
       from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [table],
  )
  const names = (which: (column: (typeof columns)[number]) => boolean) => columns.filter(which).map(({ name }) => name)
  return {
    // How often recordings should have been observed holds from 1970 on.
    observed: table === 'sync.expectation' ? [] : OBSERVED,
    until,
    required: names(({ required }) => required),
    indexed: names(({ indexed }) => indexed),
    leftOut: namedIn(
      table,
      names(() => true),
    ),
  }
}

/** SQL: whether a player hides anything here, or something of the player was removed. */
export const isRestricted = (player: string): string =>
  `exists (select from sync.privacy_restriction rule where not rule.is_pending and rule.player_uuid::text = ${player}::text)
    or exists (select from sync.privacy_action action where action.player_uuid::text = ${player}::text)
    or exists (select from sync.privacy_action action where action.player_hash = sha256(convert_to(lower(${player}::text), 'UTF8')))`

/** Makes of staged rows what may come into a table: how many were removed because of whom they name. */
export async function withoutPeople(sql: Sql, staged: string, table: LakeTable): Promise<number> {
  await rebuildDocuments(sql, table.name, staged)
  return await removeRestricted(sql, staged, table)
}

/**
 * Removes from a staged table the rows about players who hide anything here, or of whom something was removed: what a lake
 * says of them does not come back. Rows under a restriction that is pending stay: views mask them, and what confirms it
 * removes them, which waits until they are in the tables. Returns how many there were.
 */
async function removeRestricted(
  sql: Sql,
  staged: string,
  { name, types, keyed }: Pick<LakeTable, 'name' | 'types' | 'keyed'>,
): Promise<number> {
  const column = 'player_uuid' in types ? 'player_uuid' : name === 'sync.observation' ? 'key' : keyed
  if (column === undefined) return 0
  await lockForTransaction(sql, privacyLock, 'shared')
  // Each part of a key may be a player.
  const condition = keyed
    ? `exists (select from unnest(string_to_array(staged.${keyed}, '/')) part(uuid) where ${isRestricted('part.uuid')})`
    : isRestricted(`staged.${column}`)
  return await countOf(sql, `delete from ${staged} staged where ${condition} returning 1`)
}

const namingOf = (name: string) => [...engineNaming, ...inProfiles.naming].find(({ table }) => table === name)

/** Columns of a table that is not about players, but could name one in its text. */
function namedIn(name: string, columns: readonly string[]): string[] {
  if (columns.includes('player_uuid')) return []
  const named = (namingOf(name)?.columns ?? []).flatMap((column) => (column.naming === 'text' ? [column.name] : []))
  // By these a response counts as known: of the responses that this database receives.
  return name === 'sync.run' ? [...named, 'content_hash', 'reload', 'body_hash', 'normalized'] : named
}

/**
 * Makes the documents anew that stay out because they could name a player, of the columns that cannot. Their content hash is
 * that of the response: the next one with this content is no change.
 */
async function rebuildDocuments(sql: Sql, table: string, staged: string): Promise<void> {
  const naming = namingOf(table)
  if (!naming?.columns.some(({ name, naming }) => name === 'document' && naming === 'text')) return
  const kept = Object.keys(naming.exempt).filter((name) => name !== 'hash')
  const fields = kept.map((name) => `'${name}', ${quoted(name)}`)
  await sql.query(`update ${staged} set document = jsonb_strip_nulls(jsonb_build_object(${fields.join(', ')}))`)
}
