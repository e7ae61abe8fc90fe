import type { Sql } from '../../db/database.ts'
import type { Resource, RetractedRows, Worklist } from '../declare/resource.ts'
import type { VersionsTable } from '../declare/written-tables.ts'
import type { Json } from '../normalize/hash.ts'
import { foldPoints, type Names, namesOf, replaceVersions, stagedName } from '../refold/refold.ts'
import { appendFieldChanges } from '../respond/field-changes.ts'
import { historySql } from '../sql/history-sql.ts'

/**
 * Rebuilds the versions of a history without the responses in `retract_span`: a version that only these showed goes, one that they showed
 * first begins with the response after them, and one that they ended goes on until a response that is left shows something else.
 */
export async function retractVersions(
  sql: Sql,
  resource: Resource | Worklist,
  of: VersionsTable,
): Promise<RetractedRows> {
  const { table, parts } = of
  const names = namesOf(of)
  const span = of.isKeyed ? `span.scope = version.${of.key[0]}::text` : 'true'
  const [before = 0] = await countRows(sql, table)
  await createEvidence(sql, resource, of, names, span)
  await createPoints(sql, of, names, span)
  await foldPoints(sql, names)
  for (const name of [table, ...parts])
    await sql.query(`create temp table ${stagedName(name)} on commit drop as select * from ${name} limit 0`)
  const changed = await sql.query<{ count: number }>('select count(*)::int as count from refold_version')
  await replaceVersions(sql, of, null, names)
  if (of.hasObserved)
    await sql.query(
      `update ${table} version set observed_at = span.ended
         from retract_span span where ${span} and version.observed_at > span.began and version.observed_at < span.ended`,
    )
  await rewriteFieldChanges(sql, resource, of, names)
  const [after = 0] = await countRows(sql, table)
  await sql.query(`drop table retract_version, refold_point, refold_changed, refold_version
                   ${[table, ...parts].map((name) => `, ${stagedName(name)}`).join('')}`)
  return { table, removed: before - after, changed: Math.max(0, (changed[0]?.count ?? 0) - (before - after)) }
}

async function countRows(sql: Sql, table: string): Promise<number[]> {
  return (await sql.query<{ count: number }>(`select count(*)::int as count from ${table}`)).map(({ count }) => count)
}

/**
 * Of each version of the keys that retracted responses changed: when it was first seen, and which response showed its end (infinity: none
 * did), or first lacked its key so far. `refold_changed`: these keys, with where each interval ends.
 */
async function createEvidence(
  sql: Sql,
  resource: Resource | Worklist,
  { table, hasObserved }: VersionsTable,
  { key, of, same, seen, keyText }: Names,
  span: string,
): Promise<void> {
  const within = (at: string) => `${at} > span.began and ${at} < span.ended`
  const observed = hasObserved ? `or ${within('version.observed_at')}` : ''
  // An end is shown by the first response with the next version, which may say that it began earlier.
  await sql.query(
    `create temp table retract_version on commit drop as
     with touched as (
       select distinct ${of('version')} from ${table} version join retract_span span on ${span}
        and (${within('version.valid_from')} or ${within('version.valid_until')} ${observed})
     )
     select ${of('version')}, version.valid_from, version.valid_until, version.hash, ${seen('version')} as seen,
            case when version.valid_until = 'infinity' then 'infinity'
                 when lead(version.valid_from) over own = version.valid_until then lead(${seen('version')}) over own
                 else version.valid_until end as closing,
            (select min(missed.first_at) from sync.claim missed where missed.kind = 'missing'
                and split_part(missed.resource, '/', 1) = $1 and missed.subject = ${keyText('version')}
                and version.valid_until = 'infinity') as missed_at
       from ${table} version join touched on ${same('touched', 'version')}
     window own as (partition by ${of('version')} order by version.valid_from)`,
    [resource.name],
  )
  await sql.query(
    `create temp table refold_changed on commit drop as
     select distinct ${of('version')}, span.began, span.ended from retract_version version
       join retract_span span on ${span} and (${within('version.seen')} or ${within('version.closing')})`,
  )
  await sql.query(`create index on refold_changed (${key})`)
}

/** What the responses that are left show of the keys: the versions that they showed first, the ends, and what holds where an interval ends. */
async function createPoints(
  sql: Sql,
  { table, hasObserved }: VersionsTable,
  { key, of, same }: Names,
  span: string,
): Promise<void> {
  const inSpan = (at: string, and = '') =>
    `exists (select from retract_span span where ${span} and ${at} > span.began and ${at} < span.ended ${and})`
  // Where the API says since when a version is true, that stands.
  const isDated = hasObserved ? 'version.valid_from < version.seen' : 'false'
  const isOver = '(version.closing <= span.ended or coalesce(version.missed_at <= span.ended, false))'
  await sql.query(
    `create temp table refold_point on commit drop as
     select ${key}, valid_from as at, 0 as whose, valid_from as version, hash from ${table} limit 0`,
  )
  await sql.query(
    `insert into refold_point
     select ${of('version')}, version.valid_from, 0, version.valid_from, version.hash from retract_version version
      where exists (select from refold_changed changed where ${same('changed', 'version')})
        and not ${inSpan('version.seen', `and (${isOver} or not ${isDated})`)}
        -- What holds where an interval ends may be what was before it.
        and not exists (select from refold_changed changed where ${same('changed', 'version')} and changed.ended = version.seen)
      union all
     select ${of('version')}, version.valid_until, 0, null, null from retract_version version
      where version.valid_until < 'infinity' and exists (select from refold_changed changed where ${same('changed', 'version')})
        and not ${inSpan('version.closing')}
      union all
     select ${of('changed')}, case when ${isDated} then version.valid_from else changed.ended end, 1, version.valid_from, version.hash
       from refold_changed changed
       left join retract_version version on ${same('version', 'changed')} and version.seen <= changed.ended and version.closing > changed.ended
              and not (version.seen > changed.began and version.seen < changed.ended and coalesce(version.missed_at <= changed.ended, false))
      where changed.ended < 'infinity'`,
  )
}

/** Field changes that retracted responses showed go; what a later response shows beside the one before is a change of its own. */
async function rewriteFieldChanges(
  sql: Sql,
  resource: Resource | Worklist,
  { table }: VersionsTable,
  { same, keyText, of }: Names,
): Promise<void> {
  const root = historySql(resource.history)
  if (!resource.changeLog || root.table.name !== table || !root.hasDocument) return
  await sql.query(
    `delete from game.field_change change using retract_span span
      where change.resource = $1 and coalesce(span.scope = change.key, true)
        and change.changed_at > span.began
        and (change.changed_at < span.ended or change.changed_at = span.ended
             and (span.began = '-infinity' or change.key in (select ${keyText('changed')} from refold_changed changed)))`,
    [resource.name],
  )
  const changes = await sql.query<{ key: string; at: Date; before: Json | null; after: Json | null }>(
    `select ${keyText('changed')} as key, changed.ended as at, before.document as before, after.document as after
       from (select distinct ${of('changed')}, began, ended from refold_changed changed where isfinite(began) and isfinite(ended)) changed
       left join ${table} before on ${same('before', 'changed')} and before.valid_from <= changed.began and before.valid_until > changed.began
       left join ${table} after on ${same('after', 'changed')} and after.valid_from <= changed.ended and after.valid_until > changed.ended
      where before.hash is distinct from after.hash order by 1, 2`,
  )
  for (const { key, at, before, after } of changes)
    await appendFieldChanges(sql, resource.name, [{ key, at, before: before ?? undefined, after: after ?? undefined }])
  // What takes back the change before it is marked.
  await sql.query(
    `update game.field_change later set is_revert = each.is_revert
       from (select change.key, change.path, change.changed_at,
                    row_number() over own > 1 and lag(change.old_value) over own is not distinct from change.new_value as is_revert
               from game.field_change change
              where change.resource = $1 and change.key in (select ${keyText('changed')} from refold_changed changed)
             window own as (partition by change.key, change.path order by change.changed_at)) each
      where later.resource = $1 and later.key = each.key and later.path = each.path and later.changed_at = each.changed_at
        and later.is_revert <> each.is_revert`,
    [resource.name],
  )
}
