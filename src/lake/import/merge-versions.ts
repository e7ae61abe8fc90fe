import { FatalError } from '../../base/errors.ts'
import { countOf } from '../../db/count-of.ts'
import type { Sql } from '../../db/database.ts'
import type { ResourceBase } from '../../sync/declare/resource.ts'
import type { VersionsTable } from '../../sync/declare/written-tables.ts'
import { rebuildFollowing } from '../../sync/refold/following.ts'
import { foldPoints, type Names, namesOf, replaceVersions, stagedName } from '../../sync/refold/refold.ts'
import { isRestricted } from './row-rules.ts'

/** The names of a table of versions, and conditions on its rows. */
interface LakeNames extends Names {
  /** Whether an interval of `blind` is one of the key of a row. */
  scope(row: string): string
  /** Whether an instant of a row lies where this database was blind. */
  inBlind(row: string, at: string): string
  /** Whether a row of the table came from the lake that is followed. */
  came(row: string): string
  /** Restrictions forbid that anything about the player of a row changes by a lake. */
  isFree(row: string): string
}

function lakeNamesOf(of: VersionsTable): LakeNames {
  const { key, isKeyed } = of
  const names = namesOf(of)
  const scope = (row: string) => (isKeyed ? `blind.scope = ${row}.${key[0]}::text` : 'blind.scope is null')
  return {
    ...names,
    scope,
    inBlind: (row, at) =>
      `exists (select from lake_blind blind where blind.resource = $1 and ${scope(row)} and ${at} > blind.began and ${at} < blind.ended)`,
    came: (row) =>
      `exists (select from lake_came came where ${names.same('came', row)} and came.valid_from = ${row}.valid_from)`,
    isFree: (row) => (key.includes('player_uuid') ? `not (${isRestricted(`${row}.player_uuid`)})` : 'true'),
  }
}

/** What became of the versions of a lake. */
interface MergedVersions {
  readonly taken: number
  readonly conflicts: number
}

/** More than half of what was imported, where that was more than so many rows, is not withdrawn at once: a lake that lacks it is damaged. */
const MAY_LOSE_ROWS = 20

/** @throws FatalError when a lake has less than half as many rows as were imported from it before */
export function refuseLoss(had: number, now: number, what: string): void {
  if (had > MAY_LOSE_ROWS && 2 * now < had)
    throw new FatalError(`it has ${now} rows of ${what}, of which ${had} were imported from this lake before`)
}

/**
 * Merges versions that are staged with those of a table. Every version is a point in the time of its key: from there on the
 * key has this content, at its end none. What this database has stays; of the lake's points those count that lie where this
 * database was blind, and at the end of such an interval holds again what this database observed; of a key that it lacked
 * there, what the lake says goes on. What was imported from the same lake before counts for nothing in that time. Points with
 * the same content follow from one another; the others make the chain of versions anew, for the keys with a point of the
 * lake, and what follows from these versions. In the transaction of `lake_blind`, `lake_span` and `lake_seen`.
 * @param follows whether all versions of the lake are staged: what came from it and is not among them goes
 */
export async function mergeVersions(
  sql: Sql,
  resource: ResourceBase,
  of: VersionsTable,
  { sourceId, follows }: { readonly sourceId: string; readonly follows: boolean },
): Promise<MergedVersions> {
  const { table } = of
  const staged = stagedName(table)
  const names = lakeNamesOf(of)
  await sql.query(`create index on ${staged} (${names.key})`)
  await sql.query(`analyze ${staged}`)
  await sql.query(
    `create temp table lake_came on commit drop as
     select ${names.of('own')}, own.valid_from from sync.source_version said
       join ${table} own on ${names.keyText('own')} = said.key and own.valid_from = said.valid_from and ${names.isFree('own')}
      where said.source_id = $1 and said.table_name = $2`,
    [follows ? sourceId : null, table],
  )
  await sql.query(`create index on lake_came (${names.key})`)
  // What an earlier import ended says nothing of its own, as what it began; also one that did not come to the ledger.
  const before = await sql.query('select from sync.source_file where source_id = $1 and table_name = $2 limit 1', [
    sourceId,
    table,
  ])
  await createPoints(sql, of, { ...names, isFollowed: follows && before.length > 0 })
  await foldPoints(sql, names)
  if (follows) await refuseLostVersions(sql, of, names)
  const conflicts = await recordConflicts(sql, of, sourceId, { ...names, follows })
  const taken = await replaceVersions(sql, of, sourceId, names)
  await rebuildFollowing(sql, resource, of)
  await sql.query('drop table lake_came, refold_point, refold_changed, refold_version')
  return { taken, conflicts }
}

/** Points: the key, the instant, whose it is (0 ours, 1 ours at the end of an interval, 2 the lake's), the version, its hash or NULL. */
async function createPoints(
  sql: Sql,
  { table, resource }: VersionsTable,
  { isFollowed, ...names }: LakeNames & { readonly isFollowed: boolean },
): Promise<void> {
  const staged = stagedName(table)
  const { key, of, same, seen, keyText, inBlind, came } = names
  const blindOf = (row: string) => `join lake_blind blind on blind.resource = $1 and ${names.scope(row)}`
  const blind = blindOf('lake')
  await sql.query(
    `create temp table refold_point on commit drop as
     select ${key}, valid_from as at, 2 as whose, valid_from as version, hash from ${table} limit 0`,
  )
  await sql.query(
    `insert into refold_point
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
    `create temp table refold_changed on commit drop as
     select ${of('lake')}, blind.ended from refold_point lake ${blind} and lake.at > blind.began and lake.at < blind.ended
      union
     select ${of('own')}, blind.ended from ${table} own ${blindOf('own')} and ${isFollowed} and ${names.isFree('own')}
                      and (own.valid_until > blind.began and own.valid_until < blind.ended
                           or own.valid_from > blind.began and own.valid_from < blind.ended and ${came('own')})`,
    [resource],
  )
  await sql.query(
    `insert into refold_point
     select ${of('changed')}, changed.ended, 1, own.valid_from, own.hash
       from refold_changed changed
       left join ${table} own on ${same('own', 'changed')} and own.valid_from <= changed.ended and own.valid_until > changed.ended
      where changed.ended < 'infinity'
        -- A version whose key this database has missed since may be gone: what the lake says goes on.
        and not exists (select from sync.claim missed where missed.kind = 'missing' and split_part(missed.resource, '/', 1) = $1
                           and missed.subject = ${keyText('changed')} and missed.first_at <= changed.ended)`,
    [resource],
  )
  await sql.query(
    `insert into refold_point
     with changed as (select distinct ${key} from refold_changed)
     select ${of('own')}, own.valid_from, 0, own.valid_from, own.hash from ${table} own join changed on ${same('own', 'changed')}
      where not (${came('own')} and ${inBlind('own', 'own.valid_from')})
        -- One that an import cut there is one with what was before.
        and not exists (select from refold_point held where ${same('held', 'own')} and held.at = own.valid_from and held.whose = 1)
      union all
     select ${of('own')}, own.valid_until, 0, null, null from ${table} own join changed on ${same('own', 'changed')}
      where own.valid_until < 'infinity' and not (${isFollowed} and ${inBlind('own', 'own.valid_until')})`,
    [resource],
  )
}

/** @throws FatalError when more than half of what came from the lake, or of a month of it, would go */
async function refuseLostVersions(sql: Sql, { table }: VersionsTable, { same }: Names): Promise<void> {
  const month = `to_char(valid_from at time zone 'UTC', 'YYYY-MM')`
  const counts = await sql.query<{ month: string | null; had: number; now: number }>(
    `select month, count(*) filter (where is_before)::int as had, count(*) filter (where not is_before)::int as now
       from (select ${month} as month, true as is_before from lake_came came
              where exists (select from refold_changed changed where ${same('changed', 'came')})
              union all select ${month}, false from refold_version where first_whose = 2) version
      group by grouping sets ((month), ()) having count(*) filter (where is_before) > 0`,
  )
  for (const { month, had, now } of counts) refuseLoss(had, now, month ? `${table} of ${month}` : table)
}

/** Versions of the lake that this database looked at twice or more, while both observed, and never had. */
async function recordConflicts(
  sql: Sql,
  { table, resource, isKeyed, key }: VersionsTable,
  sourceId: string,
  names: LakeNames & { readonly follows: boolean },
): Promise<number> {
  const { same, keyText, seen, inBlind } = names
  const both = (at: string) =>
    `exists (select from lake_seen seen where seen.resource = $1 and ${at} between seen.began and seen.ended)`
  const looks = isKeyed
    ? `select count(*)::int from (select from sync.observation one where one.resource = $1 and one.key = lake.${key[0]}::text
        and one.status in ('ok', 'unchanged', 'partial') and one.observed_at >= ${seen('lake')} and one.observed_at < lake.valid_until
        and ${both('one.observed_at')} and not ${inBlind('lake', 'one.observed_at')} limit 100) looks`
    : `select count(*)::int from (select from sync.run where run.resource = $1 and run.status in ('ok', 'unchanged', 'partial')
        and run.observed_at >= ${seen('lake')} and run.observed_at < lake.valid_until
        and ${both('run.observed_at')} and not ${inBlind('lake', 'run.observed_at')} limit 100) looks`
  if (names.follows)
    await sql.query(
      `delete from sync.source_conflict said where said.source_id = $1 and said.table_name = $2
          and not exists (select from ${stagedName(table)} lake where ${keyText('lake')} = said.key and lake.valid_from = said.valid_from)`,
      [sourceId, table],
    )
  return await countOf(
    sql,
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
}
