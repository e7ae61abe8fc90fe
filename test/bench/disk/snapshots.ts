import type { AnyPgTable } from 'drizzle-orm/pg-core'
import type { Sql } from '../../../src/db/database.ts'
import { historyShape } from '../../../src/db/history.ts'
import type { History, ResourceBase } from '../../../src/sync/declare/resource.ts'
import { bulkTable } from '../../../src/sync/sql/history-sql.ts'

/** Columns of versions, and what is there a second time; a table of snapshots needs none of them. */
const versioning = ['valid_from', 'valid_until', 'previous_until', 'hash', 'document', 'extra', 'observed_at']

/** Players of an online list are not kept as samples: those that are listed now. */
const listings = `select player_uuid, last_world from game.player_listing where first_unlisted_at is null`

/**
 * What the rows of one response take in tables of snapshots, in bytes: the current rows of a resource, written to tables
 * without an index, a document or a key of versions. It is the least that somebody pays who keeps every response.
 */
export async function bytesOfResponse(sql: Sql, resource: ResourceBase): Promise<number> {
  const { root, parts } = resource.history
  const related = Object.values(resource.relatedHistories ?? {}).map((one) => one.root)
  const queries = [
    ...[root, ...related].map(
      (table) => `select ${contentOf(table)} from ${nameOf(table)} where valid_until = 'infinity'`,
    ),
    ...Object.values(parts).map((table) => currentParts(resource.history, table)),
    ...Object.values(resource.samples ?? {}).map(({ table, key }) => {
      const { columns } = bulkTable(table)
      const names = key.map((property) => columns.get(property)?.name ?? property).join(', ')
      return names === ''
        ? `(select ${contentOf(table)} from ${nameOf(table)} order by observed_at desc limit 1)`
        : `select distinct on (${names}) ${contentOf(table)} from ${nameOf(table)} order by ${names}, observed_at desc`
    }),
    ...(resource.name === 'online-players' ? [listings] : []),
  ]
  let bytes = 0
  for (const query of queries) bytes += await bytesOf(sql, query)
  return bytes / (await countKeys(sql, resource))
}

/** Written a few times, so that a part of a page does not count as a whole one. */
async function bytesOf(sql: Sql, query: string): Promise<number> {
  const times = 8
  await sql.query(
    `create table bench_snapshot as select now() as observed_at, content.* from (${query}) content cross join generate_series(1, ${times})`,
  )
  const [size] = await sql.query<{ bytes: number }>(
    `select pg_table_size('bench_snapshot')::float8 / ${times} as bytes`,
  )
  await sql.query('drop table bench_snapshot')
  return size?.bytes ?? Number.NaN
}

async function countKeys(sql: Sql, resource: ResourceBase): Promise<number> {
  if (!('extractOne' in resource)) return 1
  const [row] = await sql.query<{ keys: number }>(
    'select count(*)::int as keys from sync.work_item where resource = $1 and observed_at is not null',
    [resource.name],
  )
  return row?.keys ?? Number.NaN
}

function currentParts({ root }: History, part: AnyPgTable): string {
  const { columns } = bulkTable(root)
  const keys = root[historyShape].key.map((property) => columns.get(property)?.name ?? property)
  const on = [...keys, 'valid_from'].map((name) => `part.${name} = root.${name}`).join(' and ')
  return `select ${contentOf(part, 'part.')} from ${nameOf(part)} part join ${nameOf(root)} root on ${on} where root.valid_until = 'infinity'`
}

const nameOf = (table: AnyPgTable) => bulkTable(table).name
const columnsOf = (table: AnyPgTable) => [...bulkTable(table).columns.values()].map(({ name }) => name)
const contentOf = (table: AnyPgTable, alias = '') =>
  columnsOf(table)
    .filter((name) => !versioning.includes(name))
    .map((name) => `${alias}"${name}"`)
    .join(', ')

/** Accepted responses of a resource so far. */
export async function countResponses(sql: Sql, resource: ResourceBase): Promise<number> {
  const from = 'extractOne' in resource ? 'sync.observation' : 'sync.run'
  const [row] = await sql.query<{ responses: number }>(
    `select count(*)::int as responses from ${from} where resource = $1 and status in ('ok', 'unchanged', 'partial')`,
    [resource.name],
  )
  return row?.responses ?? 0
}
