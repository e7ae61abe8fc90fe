import type { Sql } from '../../db/database.ts'
import type { RebuiltRows, Resource, Worklist } from '../declare/resource.ts'
import type { VersionsTable } from '../declare/written-tables.ts'
import { rebuildFollowing } from '../refold/following.ts'
import { foldPoints, type Names, namesOf, replaceVersions, stagedName } from '../refold/refold.ts'

/**
 * Rebuilds the versions of a history without the responses in `retract_span`: a version that only these showed goes, one that they showed
 * first begins with the response after them, and one that they ended goes on until a response that is left shows something else.
 * What follows from them is made anew.
 */
export async function retractVersions(
  sql: Sql,
  resource: Resource | Worklist,
  of: VersionsTable,
): Promise<RebuiltRows[]> {
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
      `with dated as (
         update ${table} version set observed_at = span.ended
           from retract_span span where ${span} and version.observed_at > span.began and version.observed_at < span.ended
         returning ${names.of('version')}, version.valid_from, version.valid_until)
       insert into refold_touched select *, false from dated`,
    )
  const following = await rebuildFollowing(sql, resource, of)
  const [after = 0] = await countRows(sql, table)
  await sql.query(`drop table retract_version, refold_point, refold_changed, refold_version
                   ${[table, ...parts].map((name) => `, ${stagedName(name)}`).join('')}`)
  return [
    { table, removed: before - after, changed: Math.max(0, (changed[0]?.count ?? 0) - (before - after)) },
    ...following,
  ]
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
