import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import type { BackfillEstimate, ResourceBase } from '../declare/resource.ts'
import { accepted, bulkTable } from '../sql/history-sql.ts'

/** What a backfill will take, before it begins. */
export interface Price {
  readonly resource: string
  readonly keys: number
  readonly requests: number
  /** At the limit per minute, when nothing else sends requests. */
  readonly minutes: number
  /** About how many rows at most will be added. */
  readonly rows: number
  readonly bytes: number
  /** What was not known and had to be assumed, in words. */
  readonly assumptions: readonly string[]
}

interface Demand {
  readonly keys: number
  /** Keys that never had a response. */
  readonly fresh: number
  /** Keys of which each new response is likely to add as many rows as one of them did on average. */
  readonly again: number
  readonly requests: number
  /** Requests per minute that the budget allows. */
  readonly perMinute: number
  readonly assumptions: readonly string[]
}

/** Fewer known keys say little about the others. */
const enoughKeys = 10
const assumedRowBytes = 250
/** Counting the rows of a bigger table takes long; its statistics are good enough. */
const countUpTo = 50_000_000

/** Prices a backfill by what the keys known so far have brought. */
export async function priceOf(
  sql: Sql,
  resource: ResourceBase,
  demand: Demand,
  assumed: BackfillEstimate,
): Promise<Price> {
  const { keys, fresh, again, requests, perMinute } = demand
  const assumptions = [...demand.assumptions]
  const size = await sizeOf(sql, resource)
  const known = await knownKeys(sql, resource)
  const measured = known.keys >= enoughKeys && size.rows > 0
  const rowsPerKey = measured ? size.rows / known.keys : assumed.rowsPerKey
  if (!measured && fresh > 0) assumptions.push(`${assumed.rowsPerKey} rows per key: too few are known to measure`)
  const perAnswer = known.answers > 0 ? size.rows / known.answers : 0
  const rows = Math.round(fresh * rowsPerKey + again * perAnswer)
  const bytes = Math.round(rows * (measured ? size.bytes / size.rows : assumedRowBytes))
  return {
    resource: resource.name,
    keys,
    requests,
    minutes: Math.ceil(requests / perMinute),
    rows,
    bytes,
    assumptions,
  }
}

/** Rows and bytes of all tables that a resource fills. */
async function sizeOf(sql: Sql, resource: ResourceBase): Promise<{ rows: number; bytes: number }> {
  const histories = [resource.history, ...Object.values(resource.relatedHistories ?? {})]
  const tables = [
    ...histories.flatMap(({ root, parts }) => [root, ...Object.values(parts)]),
    ...Object.values(resource.samples ?? {}).map(({ table }) => table),
  ]
  const sizes = await sql.query<{ name: string; bytes: number; estimate: number }>(
    // A partitioned table is the sum of its parts.
    `select name, sum(pg_total_relation_size(pg_class.oid))::float8 as bytes, sum(greatest(reltuples, 0))::float8 as estimate
       from unnest($1::text[]) as filled(name)
       join pg_class on pg_class.oid = name::regclass
                     or pg_class.oid in (select relid from pg_partition_tree(name::regclass))
      group by name`,
    [tables.map((table) => bulkTable(table).name)],
  )
  let rows = 0
  for (const table of tables) {
    const { bytes, estimate } = sizes.find(({ name }) => name === bulkTable(table).name) ?? { bytes: 0, estimate: 0 }
    rows += bytes > countUpTo && estimate > 0 ? estimate : await typed(sql).$count(table)
  }
  return { rows, bytes: sizes.reduce((sum, one) => sum + one.bytes, 0) }
}

/** Keys that had a response, and how many responses about them there were. */
async function knownKeys(sql: Sql, resource: ResourceBase): Promise<{ keys: number; answers: number }> {
  const [row] = await sql.query<{ keys: number; answers: number }>(
    `select case when listed.keys > 0 then listed.keys else coalesce(whole.living, 0) end as keys,
            case when listed.keys > 0 then greatest(listed.keys, observed.answers) else coalesce(whole.living, 0) end as answers
       from (select count(*) as keys from sync.work_item where resource = $1 and observed_at is not null) listed,
            (select count(*) as answers from sync.observation
              where resource = $1 and ${accepted}) observed
       left join lateral (select living from sync.run where resource = $1 and living is not null
                           order by observed_at desc nulls last limit 1) whole on true`,
    [resource.name],
  )
  return row ?? { keys: 0, answers: 0 }
}

/**
 * The limit per minute in the latest headers of a route; undefined when there was none.
 * @param server origin of the API
 * @param guest whether requests carry no credential
 */
export async function lastLimit(
  sql: Sql,
  { route, server, guest }: { route: string; server: string; guest: boolean },
): Promise<number | undefined> {
  const [row] = await sql.query<{ limit: number | null }>(
    `select coalesce((state #>> '{window,limit}')::int, (state ->> 'lastLimit')::int) as "limit"
       from sync.route_bucket join sync.budget using (account, bucket)
      where route = $1 and starts_with(account, $2 || ' ') and (account = $2 || ' guest') = $3
      order by changed_at desc limit 1`,
    [route, server, guest],
  )
  return row?.limit || undefined
}
