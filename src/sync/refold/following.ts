import type { Sql } from '../../db/database.ts'
import type { RebuiltRows, ResourceBase } from '../declare/resource.ts'
import type { VersionsTable } from '../declare/written-tables.ts'
import { changesBetween } from '../normalize/changed-fields.ts'
import { canonicalJson, indexable, type Json } from '../normalize/hash.ts'
import { bulkTable, copyRows } from '../sql/history-sql.ts'
import { fieldChange } from '../tables/ledger.ts'
import { namesOf } from './refold.ts'

/*
 * Captures and changes of fields follow from versions. A response writes them as it loads; where versions are rebuilt, by an import, a
 * retraction or a repair, they are compared with what the versions say now, and only what differs is written. Nothing is announced: that
 * happened in the past.
 */

/** About so many characters of documents are compared at once, of which each pair counts as so many at least. */
const BATCH = { characters: 4_000_000, least: 20_000 }

/** Makes anew what follows from the versions in `refold_touched`, which is dropped. Nothing of other keys, or of before, is read. */
export async function rebuildFollowing(sql: Sql, resource: ResourceBase, of: VersionsTable): Promise<RebuiltRows[]> {
  await sql.query('analyze refold_touched')
  const rebuilt: RebuiltRows[] = []
  const histories = [resource.history, ...Object.values(resource.relatedHistories ?? {})]
  const history = histories.find(({ root }) => bulkTable(root).name === of.table)
  if (resource.changeLog && history === resource.history) rebuilt.push(await rebuildChanges(sql, resource, of))
  if (history?.following) rebuilt.push(await history.following.rebuild(sql))
  await sql.query('drop table refold_touched')
  return rebuilt
}

/** Changes of fields at the instants at which versions that were rebuilt begin or end: of what lies before, and what from then on. */
async function rebuildChanges(sql: Sql, resource: ResourceBase, of: VersionsTable): Promise<RebuiltRows> {
  await createBoundaries(sql, resource.name, of)
  let removed = 0
  let changed = 0
  const batches = await sql.query<{ batch: number }>('select distinct batch from refold_boundary order by 1')
  for (const { batch } of batches) {
    const following = await followingIn(sql, of, batch)
    const written = await writtenIn(sql, resource.name, of, batch)
    const wrong = [...written].filter(([place, row]) => !isSame(row, following.get(place)))
    const missing = [...following].filter(([place, row]) => !isSame(row, written.get(place)))
    await sql.query(
      `delete from game.field_change change using unnest($2::text[], $3::timestamptz[], $4::text[]) as wrong(key, at, path)
        where change.resource = $1 and change.key = wrong.key and change.path = wrong.path and change.changed_at = wrong.at`,
      [
        resource.name,
        ...(['key', 'changedAt', 'path'] as const).map((column) => wrong.map(([, change]) => change[column])),
      ],
    )
    const rows = missing.map(([, change]) => ({ ...change, resource: resource.name, isRevert: false }))
    await copyRows(sql, bulkTable(fieldChange), rows)
    removed += wrong.filter(([place]) => !following.has(place)).length
    changed += missing.length
  }
  await markReverts(sql, resource.name, of)
  await sql.query('drop table refold_boundary')
  return { table: 'game.field_change', removed, changed }
}

/**
 * `refold_boundary` (batch, key, at): the instants at which versions in `refold_touched` begin or end, and those of their keys of which
 * something is written although none does. Where history begins, nothing has appeared: if that is another instant now, it is also about
 * keys whose versions are as they were.
 */
async function createBoundaries(sql: Sql, resource: string, versions: VersionsTable): Promise<void> {
  const { table, key } = versions
  const { same, of, keyText } = namesOf(versions)
  const [begin] = await sql.query<{ before: string | null; now: string | null }>(
    `select now::text, case when (select min(valid_from) from refold_touched) <= now or now is null then least(
              (select min(valid_from) from refold_touched where not is_new),
              (select min(own.valid_from) from ${table} own where not exists (select from refold_touched touched
                 where touched.is_new and ${same('touched', 'own')} and touched.valid_from = own.valid_from))) else now end::text as before
       from (select min(valid_from) as now from ${table}) first`,
  )
  const moved = begin?.before === begin?.now ? [null, null] : [begin?.before ?? null, begin?.now ?? null]
  await sql.query(
    `create temp table refold_boundary on commit drop as
     select boundary.*, at = $2::timestamptz as is_begin,
            (sum(greatest($3, coalesce(size, 0))) over (order by ${key.join(', ')}, at) / $4)::int as batch
       from (select ${of('touched')}, touched.valid_from as at from refold_touched touched
              union select ${of('touched')}, touched.valid_until from refold_touched touched where touched.valid_until < 'infinity'
              union select ${of('own')}, own.valid_from from ${table} own
                     where own.previous_until is null and own.valid_from = any($1::timestamptz[])
              union select ${of('touched')}, change.changed_at from (select distinct ${key.join(', ')} from refold_touched) touched
                      join game.field_change change on change.resource = $5 and change.key = ${keyText('touched')}
                     where not exists (select from ${table} version where ${same('version', 'touched')}
                                          and change.changed_at in (version.valid_from, version.valid_until))) boundary
       left join lateral (select sum(length(version.document::text)) as size from ${table} version
                           where ${same('version', 'boundary')} and boundary.at in (version.valid_from, version.valid_until)) document on true`,
    [moved, begin?.now ?? null, BATCH.least, BATCH.characters, resource],
  )
  await sql.query('create index on refold_boundary (batch)')
  await sql.query('analyze refold_boundary')
}

/** A row of `game.field_change`. Values are JSON text, or null where nothing was; the instant is text, which keeps the microseconds. */
interface FieldChange {
  readonly key: string
  readonly changedAt: string
  readonly path: string
  readonly oldValue: string | null
  readonly newValue: string | null
}

/** By key, instant and path. */
type FieldChanges = ReadonlyMap<string, FieldChange>

const byPlace = (changes: readonly FieldChange[]): FieldChanges =>
  new Map(changes.map((change) => [JSON.stringify([change.key, change.changedAt, change.path]), change]))

const isSame = (one: FieldChange, other: FieldChange | undefined) =>
  one.oldValue === other?.oldValue && one.newValue === other.newValue

const jsonText = (value: Json | undefined) => (value === undefined ? null : canonicalJson(value))

/** What follows at the instants of a batch. */
async function followingIn(sql: Sql, versions: VersionsTable, batch: number): Promise<FieldChanges> {
  const { table } = versions
  const { same, keyText } = namesOf(versions)
  const document = (column: string) =>
    `left join lateral (select version.document from ${table} version where not boundary.is_begin
                           and ${same('version', 'boundary')} and version.${column} = boundary.at limit 1)`
  const rows = await sql.query<{ key: string; changedAt: string; before: Json | null; after: Json | null }>(
    `select ${keyText('boundary')} as key, boundary.at::text as "changedAt", before.document as before, after.document as after
       from refold_boundary boundary ${document('valid_until')} before on true ${document('valid_from')} after on true
      where boundary.batch = $1`,
    [batch],
  )
  return byPlace(
    rows.flatMap(({ key, changedAt, before, after }) =>
      changesBetween(before ?? undefined, after ?? undefined).map((change) => ({
        key,
        changedAt,
        path: indexable(change.path),
        oldValue: jsonText(change.before),
        newValue: jsonText(change.after),
      })),
    ),
  )
}

/** What is written down at these. */
async function writtenIn(sql: Sql, resource: string, versions: VersionsTable, batch: number): Promise<FieldChanges> {
  const rows = await sql.query<FieldChange & { old: Json; new: Json; came: boolean; went: boolean }>(
    `select change.key, change.changed_at::text as "changedAt", change.path, change.old_value as old, change.new_value as new,
            change.old_value is null as came, change.new_value is null as went
       from refold_boundary boundary
       join game.field_change change on change.resource = $1 and change.key = ${namesOf(versions).keyText('boundary')}
        and change.changed_at = boundary.at
      where boundary.batch = $2`,
    [resource, batch],
  )
  return byPlace(
    rows.map(({ key, changedAt, path, old, new: now, came, went }) => ({
      key,
      changedAt,
      path,
      oldValue: came ? null : canonicalJson(old),
      newValue: went ? null : canonicalJson(now),
    })),
  )
}

/** Marks what takes back the change before it, of the keys of `refold_boundary`. */
async function markReverts(sql: Sql, resource: string, versions: VersionsTable): Promise<void> {
  const { keyText } = namesOf(versions)
  await sql.query(
    `update game.field_change later set is_revert = each.is_revert
       from (select change.key, change.path, change.changed_at,
                    row_number() over own > 1 and lag(change.old_value) over own is not distinct from change.new_value as is_revert
               from game.field_change change
              where change.resource = $1 and change.key in (select ${keyText('boundary')} from refold_boundary boundary)
             window own as (partition by change.key, change.path order by change.changed_at)) each
      where later.resource = $1 and later.key = each.key and later.path = each.path and later.changed_at = each.changed_at
        and later.is_revert <> each.is_revert`,
    [resource],
  )
}
