import type { Sql } from '../../db/database.ts'
import type { VersionsTable } from './taken-tables.ts'

/** What became of the versions of a lake. */
export interface MergedVersions {
  readonly taken: number
  readonly conflicts: number
}

/** Names of the temporary tables with the rows of a lake's tables. */
export const stagedName = (table: string): string => `lake_${table.replace(/^.*\./, '')}`

/**
 * Merges versions that are staged with those of a table. Every version is a point in the time of its key: from there on the
 * key has this content, at its end none. What this database has stays; of the lake's points those count that lie where this
 * database was blind, and at the end of such an interval holds again what this database observed; of a key that it lacked
 * there, what the lake says goes on. Points with the same content follow from one another; the others make the chain of
 * versions anew, for the keys with a point of the lake. In the transaction of `lake_blind` and `lake_seen`.
 */
export async function mergeVersions(sql: Sql, of: VersionsTable, sourceId: string): Promise<MergedVersions> {
  const { table } = of
  const staged = stagedName(table)
  const names = namesOf(of)
  await sql.query(`create index on ${staged} (${names.key})`)
  await sql.query(`analyze ${staged}`)
  await createPoints(sql, of, names)
  await createFinal(sql, names)
  const conflicts = await recordConflicts(sql, of, sourceId, names)
  const taken = await replaceVersions(sql, of, sourceId, names)
  await sql.query('drop table lake_point, lake_final')
  return { taken, conflicts }
}

interface Names {
  readonly key: string
  /** Of a key: `own.a = lake.a and ...`. */
  same(one: string, other: string): string
  of(row: string): string
  keyText(row: string): string
  /** When a version of a row was first seen. */
  seen(row: string): string
  readonly scope: string
}

function namesOf({ key, hasObserved, isKeyed }: VersionsTable): Names {
  const list = (row: string) => key.map((column) => `${row}.${column}`).join(', ')
  return {
    key: key.join(', '),
    of: list,
    same: (one, other) => key.map((column) => `${one}.${column} = ${other}.${column}`).join(' and '),
    keyText: (row) => key.map((column) => `${row}.${column}::text`).join(` || '/' || `),
    seen: (row) => (hasObserved ? `greatest(${row}.observed_at, ${row}.valid_from)` : `${row}.valid_from`),
    scope: isKeyed ? `blind.scope = lake.${key[0]}::text` : 'blind.scope is null',
  }
}

/** Points: the key, the instant, whose it is (0 ours, 1 ours at the end of an interval, 2 the lake's), the version, its hash or NULL. */
async function createPoints(sql: Sql, { table, resource }: VersionsTable, names: Names): Promise<void> {
  const staged = stagedName(table)
  const { key, of, same, seen, scope, keyText } = names
  const blind = `join lake_blind blind on blind.resource = $1 and ${scope}`
  await sql.query(
    `create temp table lake_point on commit drop as
     select ${key}, valid_from as at, 2 as whose, valid_from as version, hash from ${table} limit 0`,
  )
  await sql.query(
    `insert into lake_point
     select ${of('lake')}, case when lake.valid_from > blind.began then lake.valid_from else ${seen('lake')} end, 2, lake.valid_from, lake.hash
       from ${staged} lake ${blind} and ${seen('lake')} > blind.began and ${seen('lake')} < blind.ended
      union all
     select ${of('lake')}, lake.valid_until, 2, null, null
       from ${staged} lake ${blind} and lake.valid_until > blind.began and lake.valid_until < blind.ended
      union all
     -- What it found when it observed again, while this database did not.
     select ${of('lake')}, seen.began, 2, lake.valid_from, lake.hash
       from lake_seen seen join lake_blind blind on blind.resource = $1 and seen.resource = $1 and blind.scope is null
                        and seen.began > blind.began and seen.began < blind.ended
       join ${staged} lake on lake.valid_from <= seen.began and lake.valid_until > seen.began and ${seen('lake')} <= seen.began`,
    [resource],
  )
  await sql.query(
    `insert into lake_point
     with changed as (select distinct ${of('lake')}, blind.ended
                        from lake_point lake ${blind} and lake.at > blind.began and lake.at < blind.ended and blind.ended < 'infinity'
                         -- A version whose key this database has missed since may be gone: what the lake says goes on.
                         and not exists (select from sync.absence missed where split_part(missed.resource, '/', 1) = $1
                                            and missed.key = ${keyText('lake')} and missed.first_missed_at <= blind.ended))
     select ${of('changed')}, changed.ended, 1, own.valid_from, own.hash
       from changed left join ${table} own on ${same('own', 'changed')} and own.valid_from <= changed.ended and own.valid_until > changed.ended`,
    [resource],
  )
  await sql.query(
    `insert into lake_point
     with changed as (select distinct ${key} from lake_point)
     select ${of('own')}, own.valid_from, 0, own.valid_from, own.hash from ${table} own join changed on ${same('own', 'changed')}
      union all
     select ${of('own')}, own.valid_until, 0, null, null from ${table} own join changed on ${same('own', 'changed')}
      where own.valid_until < 'infinity'`,
  )
}

/** The versions as they are to be: of the points of an instant ours counts, and a content rather than none. */
async function createFinal(sql: Sql, { key }: Names): Promise<void> {
  await sql.query(
    `create temp table lake_final on commit drop as
     with point as (
       select distinct on (${key}, at) * from lake_point order by ${key}, at, (whose = 2), (hash is null), whose, version
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

/** Versions of the lake that this database looked at twice or more, while both observed, and never had. */
async function recordConflicts(
  sql: Sql,
  { table, resource, isKeyed, key }: VersionsTable,
  sourceId: string,
  names: Names,
): Promise<number> {
  const { same, keyText, seen } = names
  const both = (at: string) =>
    `exists (select from lake_seen seen where seen.resource = $1 and ${at} between seen.began and seen.ended)`
  const looks = isKeyed
    ? `select count(*)::int from (select from sync.observation one where one.resource = $1 and one.key = lake.${key[0]}::text
        and one.status in ('ok', 'unchanged', 'partial') and one.observed_at >= ${seen('lake')} and one.observed_at < lake.valid_until
        and ${both('one.observed_at')} limit 100) looks`
    : `select count(*)::int from (select from sync.run where run.resource = $1 and run.status in ('ok', 'unchanged', 'partial')
        and run.observed_at >= ${seen('lake')} and run.observed_at < lake.valid_until
        and ${both('run.observed_at')} limit 100) looks`
  const rows = await sql.query(
    `insert into sync.source_conflict (source_id, table_name, key, valid_from, valid_until, observations)
     select $2, $3, ${keyText('lake')}, lake.valid_from, max(lake.valid_until), max(looks.observations)
       from ${stagedName(table)} lake cross join lateral (${looks}) looks(observations)
      where looks.observations > 1
        and not exists (select from ${table} own where ${same('own', 'lake')} and own.hash = lake.hash
                           and own.valid_from <= lake.valid_until and own.valid_until >= lake.valid_from)
      group by 3, 4
     on conflict do nothing returning 1`,
    [resource, sourceId, table],
  )
  return rows.length
}

async function replaceVersions(
  sql: Sql,
  { table, parts, key }: VersionsTable,
  sourceId: string,
  names: Names,
): Promise<number> {
  const { same, of, keyText } = names
  const columnsOf = async (name: string) =>
    (
      await sql.query<{ name: string }>(
        `select quote_ident(attname) as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
        [name],
      )
    ).map((one) => one.name)
  // What is there as it is to be stays.
  const isSame = `own.valid_from = final.valid_from and final.whose < 2 and final.version = own.valid_from
    and own.valid_until = final.valid_until and own.previous_until is not distinct from final.previous_until`
  await sql.query(
    `create temp table lake_same on commit drop as
     select ${of('own')}, own.valid_from from lake_final final join ${table} own on ${same('own', 'final')} and ${isSame}`,
  )
  await sql.query(
    `create temp table lake_old on commit drop as
     select own.* from ${table} own join (select distinct ${names.key} from lake_final) final on ${same('own', 'final')}`,
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
  await sql.query(
    `delete from lake_final final using lake_same kept where ${same('kept', 'final')} and kept.valid_from = final.valid_from`,
  )
  const given = [...key, 'valid_from', 'valid_until', 'previous_until']
  const columns = (await columnsOf(table)).filter((name) => !given.includes(name))
  const inserted = (from: string, which: string) =>
    `insert into ${table} (${[...given, ...columns].join(', ')})
     select ${given.map((name) => `final.${name}`).join(', ')}, ${columns.map((name) => `version.${name}`).join(', ')}
       from lake_final final join ${from} version on ${same('version', 'final')} and version.valid_from = final.version
      where ${which}`
  await sql.query(inserted('lake_old', 'final.whose < 2'))
  await sql.query(
    inserted(`(select distinct on (${names.key}, valid_from) * from ${stagedName(table)}) `, 'final.whose = 2'),
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
