import type { Sql } from '../../db/database.ts'
import type { Json } from '../normalize/hash.ts'

export interface QuarantinedRecord {
  /** Digits. */
  readonly id: string
  readonly resource: string
  readonly key: string | null
  /** JSON pointer to the bad value; empty: the record as a whole. */
  readonly path: string
  readonly reason: string
  readonly firstSeenAt: Date
  readonly runId: string
  /** Whether the latest response about it came after it, and everything in that one could be read. */
  readonly isOver: boolean
}

interface WantedRecords {
  /** Names; none for all. */
  readonly resources: readonly string[]
  /** Digits; none for all. */
  readonly ids: readonly string[]
  /** Names of the resources with one response per key. */
  readonly worklists: readonly string[]
}

/** Records in quarantine, the newest first. */
export async function readQuarantine(
  sql: Sql,
  { resources, ids, worklists }: WantedRecords,
): Promise<QuarantinedRecord[]> {
  return await sql.query<QuarantinedRecord>(
    `select bad.id::text as id, bad.resource, bad.key, bad.path, bad.reason, bad.first_seen_at as "firstSeenAt",
            bad.run_id::text as "runId",
            coalesce(case when bad.resource = any ($3::text[]) then of_key.status in ('ok', 'unchanged')
                          else of_all.status in ('ok', 'unchanged') and of_all.quarantined = 0 end, false) as "isOver"
       from sync.quarantine bad
       left join lateral (select status from sync.observation
                           where resource = bad.resource and key = bad.key and observed_at > bad.first_seen_at
                             and status in ('ok', 'unchanged', 'partial')
                           order by observed_at desc limit 1) of_key on true
       left join lateral (select status, quarantined from sync.run
                           where resource = bad.resource and observed_at > bad.first_seen_at
                             and status in ('ok', 'unchanged', 'partial')
                           order by observed_at desc nulls last limit 1) of_all on true
      where (cardinality($1::text[]) = 0 or bad.resource = any ($1))
        and (cardinality($2::text[]) = 0 or bad.id = any ($2::text[]::bigint[]))
      order by bad.id desc`,
    [resources, ids, worklists],
  )
}

/** The record itself, as the API sent it, with sorted keys. */
export async function rawRecord(sql: Sql, id: string): Promise<Json> {
  const [row] = await sql.query<{ raw: string }>(
    'select raw::text as raw from sync.quarantine where id = $1::text::bigint',
    [id],
  )
  return row ? JSON.parse(row.raw) : null
}
