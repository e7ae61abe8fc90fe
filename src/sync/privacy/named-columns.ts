import type { Sql } from '../../db/database.ts'
import type { Naming, NamingTable } from '../../db/naming.ts'
import { deleteUnusedBodies } from '../archive/bodies.ts'
import { namesOf, type Removed } from '../archive/erase-archived.ts'
import type { Personal } from '../declare/personal.ts'
import { accessNaming } from '../tables/access.ts'
import { rawNaming } from '../tables/archive.ts'
import { evidenceNaming } from '../tables/claim.ts'
import { ledgerNaming } from '../tables/ledger.ts'
import { outboxNaming } from '../tables/outbox.ts'
import { privacyNaming } from '../tables/privacy.ts'
import { retentionNaming } from '../tables/retention.ts'
import { sourceNaming } from '../tables/source.ts'
import { watchNaming } from '../tables/state.ts'
import { unsentNaming } from '../tables/unsent.ts'
import { verificationNaming } from '../tables/verification.ts'

/** Every table of the engine, with the columns that can name a player. */
export const engineNaming: readonly NamingTable[] = [
  ...evidenceNaming,
  ...unsentNaming,
  ...ledgerNaming,
  ...watchNaming,
  ...sourceNaming,
  ...outboxNaming,
  ...retentionNaming,
  ...rawNaming,
  ...privacyNaming,
  ...accessNaming,
  ...verificationNaming,
]

interface NamedPlayer {
  readonly playerUuid: string
  /** What the player is and was called. */
  readonly names: readonly string[]
}

interface RemoveNamesOptions {
  /** Also rows that the program needs for as long as it requests the player, and rows that only a full scan finds. */
  readonly isPurge: boolean
  /** Resource and key of all responses about the players: otherwise the only rows of large tables that are searched. */
  readonly keys: readonly { readonly resource: string; readonly key: string }[]
}

/** Tables with a row per response, which have an index on resource and key. */
const large = ['sync.observation', 'sync.raw_answer']

const replacement = 'removed'

/** Removes what names players from the tables that count and explain responses. Rows with counts stay. */
export async function removeNames(
  sql: Sql,
  personal: Personal,
  named: readonly NamedPlayer[],
  { isPurge, keys }: RemoveNamesOptions,
): Promise<Removed[]> {
  const removed: Removed[] = []
  const bodies: Uint8Array[] = []
  for (const { playerUuid, names } of named) {
    for (const table of [...engineNaming, ...personal.naming]) {
      const isNarrow = !isPurge && large.includes(table.table)
      for (const statement of statementsOf(table, isPurge, isNarrow)) {
        const parameters = [uuidPattern(playerUuid), namePattern(playerUuid, names), Object.keys(personal.responses)]
        const ofKeys = [keys.map((one) => one.resource), keys.map((one) => one.key)]
        const rows = await sql.query<{ hash?: Uint8Array }>(
          statement,
          isNarrow ? [...parameters, ...ofKeys] : parameters,
        )
        for (const { hash } of rows) if (hash) bodies.push(hash)
        if (rows.length > 0)
          removed.push({ playerUuid, fieldGroup: 'everything', table: table.table, rows: rows.length })
      }
    }
  }
  await deleteUnusedBodies(sql, bodies)
  return removed
}

/** The players with their names, and resource and key of all responses about them: before their rows are removed. */
export async function namedPlayers(sql: Sql, personal: Personal, playerUuids: readonly string[]) {
  const names = await namesOf(sql, playerUuids)
  const keys = await sql.query<{ resource: string; key: string }>(
    `select about.resource, about.key from unnest($1::uuid[]) as who(player_uuid)
      cross join lateral (${personal.answersAbout} union ${personal.formerGuilds}) about(resource, key)`,
    [playerUuids],
  )
  return { named: playerUuids.map((playerUuid) => ({ playerUuid, names: names.get(playerUuid) ?? [] })), keys }
}

/** How many rows of each of these tables name a player by uuid, and of lists by name too; tables without any are left out. */
export async function countNames(
  sql: Sql,
  personal: Personal,
  playerUuid: string,
): Promise<{ readonly table: string; readonly rows: number }[]> {
  const found: { table: string; rows: number }[] = []
  const names = (await namesOf(sql, [playerUuid])).get(playerUuid) ?? []
  for (const { table, columns } of [...engineNaming, ...personal.naming]) {
    const matches = columns
      .filter(({ type }) => type !== 'bytea')
      .map(({ name, naming }) => (naming === 'list' ? isListed(name) : `kept.${name}::text ~* $1::text`))
    if (matches.length === 0) continue
    const [row] = await sql.query<{ rows: number }>(
      `select count(*)::int as rows from ${table} kept where ($1::text, $2::text) is not null and (${matches.join(' or ')})`,
      [uuidPattern(playerUuid), namePattern(playerUuid, names)],
    )
    if (row && row.rows > 0) found.push({ table, rows: row.rows })
  }
  return found
}

/** Deletes rows about the player, then replaces the name in the rows that stay. $1 uuid, $2 uuid or name, $3 resources. */
function statementsOf(table: NamingTable, isPurge: boolean, isNarrow: boolean): string[] {
  // Every statement names all its parameters, because Postgres must know their types.
  const typed = '($1::text, $2::text, $3::text[]) is not null'
  const ofKeys = '(kept.resource, kept.key) in (select * from unnest($4::text[], $5::text[]) as named(resource, key))'
  const narrow = isNarrow ? `${typed} and ${ofKeys}` : typed
  const of = (...namings: Naming[]) => table.columns.filter(({ naming }) => namings.includes(naming))
  const gone = of('row', ...(isPurge ? (['standing'] as const) : []))
  const replaced = of('key', 'text')
  const matches = (columns: NamingTable['columns']) =>
    columns.map((column) => `kept.${column.name}::text ~* ${patternOf(table, column.naming)}`).join(' or ')
  const statements: string[] = []
  // A body goes with the last response that had it.
  const returning = table.table === 'sync.raw_answer' ? 'kept.hash' : '1 as one'
  if (gone.length > 0)
    statements.push(`delete from ${table.table} kept where ${narrow} and (${matches(gone)}) returning ${returning}`)
  for (const { name } of of('list')) {
    const others = `select one from unnest(kept.${name}) with ordinality as each(one, nth) where one !~* ${isWhole} order by nth`
    const which = `${narrow} and ${isListed(name)}`
    statements.push(`delete from ${table.table} kept where ${which} and not exists (${others}) returning 1 as one`)
    statements.push(`update ${table.table} kept set ${name} = array(${others}) where ${which} returning 1 as one`)
  }
  if (replaced.length > 0) {
    const changes = replaced.map(
      ({ name, naming, type }) =>
        `${name} = regexp_replace(kept.${name}::text, ${patternOf(table, naming)}, '${replacement}', 'gi')::${type}`,
    )
    statements.push(
      `update ${table.table} kept set ${changes.join(', ')} where ${narrow} and (${matches(replaced)}) returning 1 as one`,
    )
  }
  return statements
}

/** The uuid or name and nothing else: others may be called like it and more. */
const isWhole = `('^(' || $2::text || ')$')`

const isListed = (column: string) => `exists (select from unnest(kept.${column}) one where one ~* ${isWhole})`

/** A name may be a word like any other, or a guild's: it counts only in what resources about people say. */
function patternOf({ hasResource }: NamingTable, naming: Naming): string {
  if (naming === 'key' || naming === 'standing') return '$1::text'
  if (!hasResource) return '$2::text'
  return `case when split_part(kept.resource, '/', 1) = any($3) then $2::text else $1::text end`
}

function uuidPattern(playerUuid: string): string {
  return playerUuid.replaceAll('-', '-?')
}

function namePattern(playerUuid: string, names: readonly string[]): string {
  const words = names.map((name) => name.replace(/[^A-Za-z0-9_]/g, '\\$&'))
  if (words.length === 0) return uuidPattern(playerUuid)
  // A part of another uuid is no name, however short the name is.
  return `${uuidPattern(playerUuid)}|(?<![[:alnum:]_-])(?:${words.join('|')})(?![[:alnum:]_-])`
}
