import type { Sql } from '../../db/database.ts'
import { isRestricted } from './row-rules.ts'
import type { VersionsTable } from './taken-tables.ts'

/** Names of the temporary tables with the rows of a lake's tables. */
export const stagedName = (table: string): string => `lake_${table.replace(/^.*\./, '')}`

/** SQL of the columns of a table of versions. */
export interface Names {
  readonly key: string
  /** Of a key: `own.a = lake.a and ...`. */
  same(one: string, other: string): string
  of(row: string): string
  keyText(row: string): string
  /** When a version of a row was first seen. */
  seen(row: string): string
  /** Whether an interval of `blind` is one of the key of a row. */
  scope(row: string): string
  /** Whether an instant of a row lies where this database was blind. */
  inBlind(row: string, at: string): string
  /** Whether a row of the table came from the lake that is followed. */
  came(row: string): string
  /** Restrictions forbid that anything about the player of a row changes by a lake. */
  isFree(row: string): string
}

export function namesOf({ key, hasObserved, isKeyed }: VersionsTable): Names {
  const scope = (row: string) => (isKeyed ? `blind.scope = ${row}.${key[0]}::text` : 'blind.scope is null')
  const keyText = (row: string) => key.map((column) => `${row}.${column}::text`).join(` || '/' || `)
  const list = (row: string) => key.map((column) => `${row}.${column}`).join(', ')
  return {
    key: key.join(', '),
    of: list,
    same: (one, other) => key.map((column) => `${one}.${column} = ${other}.${column}`).join(' and '),
    keyText,
    seen: (row) => (hasObserved ? `greatest(${row}.observed_at, ${row}.valid_from)` : `${row}.valid_from`),
    scope,
    inBlind: (row, at) =>
      `exists (select from lake_blind blind where blind.resource = $1 and ${scope(row)} and ${at} > blind.began and ${at} < blind.ended)`,
    came: (row) =>
      `exists (select from lake_came came where ${key.map((column) => `came.${column} = ${row}.${column}`).join(' and ')} and came.valid_from = ${row}.valid_from)`,
    isFree: (row) => (key.includes('player_uuid') ? `not (${isRestricted(`${row}.player_uuid`)})` : 'true'),
  }
}

/** Puts the versions of `lake_final` in the place of those that the keys of `lake_changed` have. Returns how many come from the lake now. */
export async function replaceVersions(
  sql: Sql,
  { table, parts, key }: VersionsTable,
  sourceId: string,
  names: Names,
): Promise<number> {
  const { same, of, keyText } = names
  const staged = stagedName(table)
  const columnsOf = async (name: string) =>
    (
      await sql.query<{ name: string }>(
        `select quote_ident(attname) as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
        [name],
      )
    ).map((one) => one.name)
  const given = [...key, 'valid_from', 'valid_until', 'previous_until']
  const columns = (await columnsOf(table)).filter((name) => !given.includes(name))
  const content = (row: string) => `row(${columns.map((name) => `${row}.${name}`).join(', ')})`
  await sql.query(
    `delete from sync.source_version said using (select distinct ${names.key} from lake_changed) changed
      where said.table_name = $2 and said.key = ${keyText('changed')}
        and not exists (select from lake_final final where ${same('final', 'changed')} and final.valid_from = said.valid_from
                           and (final.first_whose = 2 or said.source_id <> $1))`,
    [sourceId, table],
  )
  // What is there as it is to be stays.
  await sql.query(
    `create temp table lake_same on commit drop as
     select ${of('own')}, own.valid_from from lake_final final join ${table} own on ${same('own', 'final')}
        and own.valid_from = final.valid_from and own.valid_until = final.valid_until
        and own.previous_until is not distinct from final.previous_until
      where final.whose < 2 and final.version = own.valid_from
         or final.whose = 2 and exists (select from ${staged} lake where ${same('lake', 'final')} and lake.valid_from = final.version
                                           and ${content('lake')} is not distinct from ${content('own')})`,
  )
  await sql.query(
    `create temp table lake_old on commit drop as
     select own.* from ${table} own join (select distinct ${names.key} from lake_changed) changed on ${same('own', 'changed')}`,
  )
  for (const part of parts)
    await sql.query(
      `create temp table ${stagedName(part)}_old on commit drop as
       select own.* from ${part} own join lake_old old on ${same('own', 'old')} and own.valid_from = old.valid_from`,
    )
  await sql.query(
    `delete from ${table} own using lake_old old where ${same('own', 'old')} and own.valid_from = old.valid_from
        and not exists (select from lake_same kept where ${same('kept', 'old')} and kept.valid_from = old.valid_from)`,
  )
  // Its parts are there, or an earlier import could not read them.
  await sql.query(
    `delete from lake_final final using lake_same kept where ${same('kept', 'final')} and kept.valid_from = final.valid_from and final.whose < 2`,
  )
  const inserted = (from: string, which: string) =>
    `insert into ${table} (${[...given, ...columns].join(', ')})
     select ${given.map((name) => `final.${name}`).join(', ')}, ${columns.map((name) => `version.${name}`).join(', ')}
       from lake_final final join ${from} version on ${same('version', 'final')} and version.valid_from = final.version
      where ${which}`
  await sql.query(inserted('lake_old', 'final.whose < 2'))
  await sql.query(
    inserted(
      `(select distinct on (${names.key}, valid_from) * from ${staged}) `,
      `final.whose = 2 and not exists (select from lake_same kept where ${same('kept', 'final')} and kept.valid_from = final.valid_from)`,
    ),
  )
  for (const part of parts) {
    const ofPart = (await columnsOf(part)).filter((name) => name !== 'valid_from')
    for (const [from, which] of [
      [`${stagedName(part)}_old`, 'final.whose < 2'],
      [stagedName(part), 'final.whose = 2'],
    ])
      await sql.query(
        `insert into ${part} (valid_from, ${ofPart.join(', ')})
         select final.valid_from, ${ofPart.map((name) => `part.${name}`).join(', ')}
           from lake_final final join ${from} part on ${same('part', 'final')} and part.valid_from = final.version
          where ${which} on conflict do nothing`,
      )
  }
  const taken = await sql.query(
    `insert into sync.source_version (source_id, table_name, key, valid_from)
     select $1, $2, ${keyText('final')}, final.valid_from from lake_final final where final.first_whose = 2
     on conflict do nothing returning 1`,
    [sourceId, table],
  )
  await sql.query(`drop table lake_same, lake_old${parts.map((part) => `, ${stagedName(part)}_old`).join('')}`)
  return taken.length
}
