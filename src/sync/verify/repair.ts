import type { Database, Sql } from '../../db/database.ts'
import { materializeCoverage } from '../coverage/coverage.ts'
import type { ResourceBase } from '../declare/resource.ts'
import { type VersionsTable, writtenTables } from '../declare/written-tables.ts'
import { invalidateCoverage } from '../ledger/gaps.ts'
import { rebuildFollowing } from '../refold/following.ts'
import { foldPoints, namesOf, replaceVersions, stagedName } from '../refold/refold.ts'
import { archiveUnused, chainFind, checksOf, REVERSED, type Verified } from './verify.ts'

/** What follows from versions, by the names of its checks. */
const following = ['capture', 'hold without capture', 'change', 'version without change']

/**
 * What of it can be put right from what the database itself has: chains of keys, what follows from versions, counted hours, bodies that
 * nothing needs.
 */
export function repairable(checks: readonly Verified[]): Verified[] {
  const names = ['chain', ...following, 'coverage', archiveUnused.name]
  return checks.filter(({ check, wrong }) => wrong > 0 && names.includes(check))
}

/**
 * Puts right what `repairable` names, each table in a transaction. Versions stay as they were seen: of two that overlap, the later one ends
 * the earlier one. No sync may run meanwhile.
 * @param now by the clock of this machine: hours before are counted again
 */
export async function repairDatabase(
  db: Database,
  resources: readonly ResourceBase[],
  checks: readonly Verified[],
  now: Date,
): Promise<void> {
  const histories = resources.flatMap((resource) =>
    writtenTables(resource).flatMap((of) => (of.kind === 'versions' ? [{ resource, of }] : [])),
  )
  const wrong = repairable(checks)
  for (const { check, table } of wrong) {
    const history = histories.find(({ of }) => of.table === table)
    if (check === 'chain' && history) await db.transaction((sql) => refoldBroken(sql, history.resource, history.of))
    else if (check === 'coverage') await recount(db, resources, now)
    else if (check === archiveUnused.name)
      await db.query(
        `delete from sync.raw_body where hash in (select decode(hash, 'hex') from (${archiveUnused.find}) unused)`,
      )
  }
  for (const { name, table, find, follows } of await checksOf(resources)) {
    const history = histories.find(({ of }) => of.table === follows?.history)
    if (
      !follows ||
      !history ||
      typeof find !== 'string' ||
      !wrong.some((one) => one.check === name && one.table === table)
    )
      continue
    await db.transaction((sql) =>
      rebuildWrong(sql, history.resource, history.of, `select ${follows.key} from (${find}) wrong`),
    )
  }
}

/** Makes anew what follows from the versions of the keys of which a check found some wrong. */
async function rebuildWrong(sql: Sql, resource: ResourceBase, of: VersionsTable, keys: string): Promise<void> {
  const { of: columns, keyText } = namesOf(of)
  await sql.query(
    `create temp table refold_touched on commit drop as
     select ${columns('version')}, version.valid_from, version.valid_until, false as is_new from ${of.table} version
      where ${keyText('version')} in (${keys})`,
  )
  await rebuildFollowing(sql, resource, of)
}

/** Makes the chains of the keys anew whose versions overlap or do not follow on each other. An interval that ends before it begins stays. */
async function refoldBroken(sql: Sql, resource: ResourceBase, of: VersionsTable): Promise<void> {
  const { table, parts } = of
  const names = namesOf(of)
  const { key, same } = names
  await sql.query(
    `create temp table refold_changed on commit drop as
     select ${key} from (${chainFind(of)}) wrong group by ${key} having bool_and(problem <> '${REVERSED}')`,
  )
  await sql.query(
    `create temp table refold_point on commit drop as
     select ${names.of('version')}, version.valid_from as at, 0 as whose, version.valid_from as version, version.hash
       from ${table} version join refold_changed changed on ${same('changed', 'version')}
      union all
     select ${names.of('version')}, version.valid_until, 0, null, null
       from ${table} version join refold_changed changed on ${same('changed', 'version')}
      where version.valid_until < 'infinity'
        and not exists (select from ${table} later where ${same('later', 'version')}
                           and later.valid_from > version.valid_from and later.valid_from <= version.valid_until)`,
  )
  await foldPoints(sql, names)
  for (const name of [table, ...parts])
    await sql.query(`create temp table ${stagedName(name)} on commit drop as select * from ${name} limit 0`)
  await replaceVersions(sql, of, null, names)
  await rebuildFollowing(sql, resource, of)
  await sql.query(`drop table refold_point, refold_changed, refold_version
                   ${[table, ...parts].map((name) => `, ${stagedName(name)}`).join('')}`)
}

/** Counts again what the ledger still has. */
async function recount(db: Database, resources: readonly ResourceBase[], now: Date): Promise<void> {
  for (const { name } of resources)
    await db.transaction(async (sql) => {
      await invalidateCoverage(sql, name, null)
      await sql.query(
        `delete from sync.coverage_hour counted where resource = $1
            and not exists (select from sync.coverage_reach reach where reach.resource = $1 and reach.counted_until > counted.hour)`,
        [name],
      )
    })
  await materializeCoverage(db, { now, resources })
}
