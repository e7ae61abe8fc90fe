import { countOf } from '../../db/count-of.ts'
import type { Sql } from '../../db/database.ts'
import type { VersionsTable } from '../declare/written-tables.ts'

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
}

export function namesOf({ key, hasObserved }: VersionsTable): Names {
  return {
    key: key.join(', '),
    of: (row) => key.map((column) => `${row}.${column}`).join(', '),
    same: (one, other) => key.map((column) => `${one}.${column} = ${other}.${column}`).join(' and '),
    keyText: (row) => key.map((column) => `${row}.${column}::text`).join(` || '/' || `),
    seen: (row) => (hasObserved ? `greatest(${row}.observed_at, ${row}.valid_from)` : `${row}.valid_from`),
  }
}

/**
 * Makes the versions of keys anew, in a temporary table `refold_version`, of what is known of each instant: `refold_point` (key, at,
 * whose, version, hash). From a point on the key has the content of a version of the table (`whose` 0), of one that goes on there (1), or
 * of a staged one (2); hash NULL: none. Of the points of an instant what is not staged counts, and a content rather than none.
 */
export async function foldPoints(sql: Sql, { key }: Names): Promise<void> {
  await sql.query(
    `create temp table refold_version on commit drop as
     with point as (
       select distinct on (${key}, at) * from refold_point order by ${key}, at, (whose = 2), (hash is null), whose, version
     ), changing as (
       -- Two versions of the same side are two, whatever their hashes.
       select point.*, hash is distinct from lag(hash) over ordered
                       or whose = lag(whose) over ordered and version is distinct from lag(version) over ordered as is_change
         from point
       window ordered as (partition by ${key} order by at)
     ), numbered as (
       select changing.*, sum(is_change::int) over (partition by ${key} order by at) as stretch from changing
     ), stretch as (
       select ${key}, stretch, min(at) as valid_from, (array_agg(hash))[1] as hash,
              -- The content that this database received itself, where it did.
              (array_agg(whose order by whose, at))[1] as whose, (array_agg(version order by whose, at))[1] as version,
              (array_agg(whose order by at))[1] as first_whose
         from numbered group by ${key}, stretch
     ), ended as (
       select stretch.*, lead(valid_from, 1, 'infinity') over (partition by ${key} order by valid_from) as valid_until from stretch
     )
     select ended.*, lag(valid_until) over (partition by ${key} order by valid_from) as previous_until from ended where hash is not null`,
  )
}

/**
 * Puts the versions of `refold_version` in the place of those that the keys of `refold_changed` have. Leaves `refold_touched` (key,
 * valid_from, valid_until, is_new) with the versions that went and those that came, for `rebuildFollowing`.
 * @returns how many come from the lake now
 */
export async function replaceVersions(
  sql: Sql,
  { table, parts, key }: VersionsTable,
  sourceId: string | null,
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
    `delete from sync.source_version said using (select distinct ${names.key} from refold_changed) changed
      where said.table_name = $2 and said.key = ${keyText('changed')}
        and not exists (select from refold_version final where ${same('final', 'changed')} and final.valid_from = said.valid_from
                           and (final.first_whose = 2 or said.source_id is distinct from $1))`,
    [sourceId, table],
  )
  // What is there as it is to be stays.
  await sql.query(
    `create temp table refold_same on commit drop as
     select ${of('own')}, own.valid_from from refold_version final join ${table} own on ${same('own', 'final')}
        and own.valid_from = final.valid_from and own.valid_until = final.valid_until
        and own.previous_until is not distinct from final.previous_until
      where final.whose < 2 and final.version = own.valid_from
         or final.whose = 2 and exists (select from ${staged} lake where ${same('lake', 'final')} and lake.valid_from = final.version
                                           and ${content('lake')} is not distinct from ${content('own')})`,
  )
  await sql.query(
    `create temp table refold_old on commit drop as
     select own.* from ${table} own join (select distinct ${names.key} from refold_changed) changed on ${same('own', 'changed')}`,
  )
  await sql.query(
    `create temp table refold_touched on commit drop as
     select ${of('old')}, old.valid_from, old.valid_until, false as is_new from refold_old old
      where not exists (select from refold_same kept where ${same('kept', 'old')} and kept.valid_from = old.valid_from)
      union all
     select ${of('final')}, final.valid_from, final.valid_until, true from refold_version final
      where not exists (select from refold_same kept where ${same('kept', 'final')} and kept.valid_from = final.valid_from)`,
  )
  for (const part of parts)
    await sql.query(
      `create temp table ${stagedName(part)}_old on commit drop as
       select own.* from ${part} own join refold_old old on ${same('own', 'old')} and own.valid_from = old.valid_from`,
    )
  await sql.query(
    `delete from ${table} own using refold_old old where ${same('own', 'old')} and own.valid_from = old.valid_from
        and not exists (select from refold_same kept where ${same('kept', 'old')} and kept.valid_from = old.valid_from)`,
  )
  // Its parts are there, or an earlier import could not read them.
  await sql.query(
    `delete from refold_version final using refold_same kept where ${same('kept', 'final')} and kept.valid_from = final.valid_from and final.whose < 2`,
  )
  const inserted = (from: string, which: string) =>
    `insert into ${table} (${[...given, ...columns].join(', ')})
     select ${given.map((name) => `final.${name}`).join(', ')}, ${columns.map((name) => `version.${name}`).join(', ')}
       from refold_version final join ${from} version on ${same('version', 'final')} and version.valid_from = final.version
      where ${which}`
  await sql.query(inserted('refold_old', 'final.whose < 2'))
  await sql.query(
    inserted(
      `(select distinct on (${names.key}, valid_from) * from ${staged}) `,
      `final.whose = 2 and not exists (select from refold_same kept where ${same('kept', 'final')} and kept.valid_from = final.valid_from)`,
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
           from refold_version final join ${from} part on ${same('part', 'final')} and part.valid_from = final.version
          where ${which} on conflict do nothing`,
      )
  }
  const taken = await countOf(
    sql,
    `insert into sync.source_version (source_id, table_name, key, valid_from)
     select $1, $2, ${keyText('final')}, final.valid_from from refold_version final where final.first_whose = 2
     on conflict do nothing returning 1`,
    [sourceId, table],
  )
  await sql.query(`drop table refold_same, refold_old${parts.map((part) => `, ${stagedName(part)}_old`).join('')}`)
  return taken
}
