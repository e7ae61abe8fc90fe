import { InterruptedError } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import type { Novelty } from '../normalize/drift.ts'
import { canonicalJson, indexable } from '../normalize/hash.ts'
import type { Quarantined } from '../normalize/prepare.ts'
import { run } from '../tables/ledger.ts'

export type RunRow = typeof run.$inferInsert

export type RunStatus = 'ok' | 'unchanged' | 'stale' | 'rejected' | 'partial' | 'skipped' | 'interrupted' | 'failed'

/** The status of a run that an error ended. Nothing is wrong where a signal did. */
export function statusOfError(error: unknown): 'failed' | 'interrupted' {
  return error instanceof InterruptedError ? 'interrupted' : 'failed'
}

/** Nothing was seen and nothing written. */
export const noCounts = {
  records: 0,
  inserted: 0,
  changed: 0,
  closed: 0,
  unchanged: 0,
  events: 0,
  rejected: 0,
  quarantined: 0,
}

/** A response or a run in numbers; columns of `sync.run`. */
export type Counts = Readonly<Record<keyof typeof noCounts, number>>

/** Whether what the API sent was loaded, at least in part, or known. */
export function isAccepted(status: string): boolean {
  return status === 'ok' || status === 'unchanged' || status === 'partial'
}

/** The last accepted response, as the ledger has it. */
export interface LastAccepted {
  /** Milliseconds since the epoch, UTC. */
  readonly observedAt: number
  readonly records: number
  readonly contentHash: Uint8Array
  /** The next response is loaded even where it is the same. */
  readonly reload: boolean
}

/** What the ledger has of the last accepted response of a resource. */
export interface LastRun extends LastAccepted {
  /** Null where the table must be counted. */
  readonly currentKeys: number | null
  /** Records that came, and those of them that could be normalized. */
  readonly came: number
  readonly normalized: number
  /** Null where the same body must be parsed again. */
  readonly bodyHash: Uint8Array | null
}

/**
 * SQL: one row of `LastRun` of the resource `$1`, or none. A run from a lake has no hash: its response counts as another one. An
 * incomplete response does not show how many records there should be.
 */
export const LAST_RUN = `select latest.observed_at as "observedAt", coalesce(latest.content_hash, '') as "contentHash", latest.living as "currentKeys",
            latest.reload, latest.records as came, latest.normalized, latest.body_hash as "bodyHash",
            coalesce((select coalesce(normalized, records) from sync.run
                       where resource = $1 and status in ('ok', 'unchanged', 'partial') and complete
                       order by observed_at desc nulls last, started_at desc limit 1), latest.normalized, latest.records) as records
       from sync.run latest
      where latest.resource = $1 and latest.status in ('ok', 'unchanged', 'partial')
      order by latest.observed_at desc nulls last, latest.started_at desc limit 1`

/** A row of `LAST_RUN`; null instead of all where there is none. */
export interface LastRunRow extends Omit<LastRun, 'observedAt'> {
  readonly observedAt: Date | null
}

export function lastRunOf({ observedAt, ...row }: LastRunRow): LastRun | undefined {
  return observedAt === null ? undefined : { ...row, observedAt: observedAt.getTime() }
}

/** The last accepted response of a resource, or undefined before the first. */
export async function lastAccepted(sql: Sql, resource: string): Promise<LastRun | undefined> {
  const [row] = await sql.query<LastRunRow>(LAST_RUN, [resource])
  return row && lastRunOf(row)
}

/** Writes the one row that every run leaves. */
export async function appendRun(sql: Sql, row: RunRow): Promise<void> {
  await typed(sql).insert(run).values(row)
}

/** Keeps records that could not be understood; each distinct one once, however often the API repeats it. */
export async function appendQuarantine(
  sql: Sql,
  found: { resource: string; at: Date; runId: string },
  records: readonly Quarantined[],
): Promise<void> {
  if (records.length === 0) return
  await sql.query(
    `insert into sync.quarantine (resource, key, path, reason, raw, raw_hash, first_seen_at, run_id)
     select $1, key, path, reason, raw::json, hash, $2, $3
       from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::bytea[]) as bad(key, path, reason, raw, hash)
     on conflict do nothing`,
    [
      found.resource,
      found.at,
      found.runId,
      records.map((one) => one.key ?? null),
      records.map((one) => one.path),
      records.map((one) => one.reason),
      records.map((one) => one.rawText),
      records.map((one) => one.hash),
    ],
  )
}

/** So many fields beside each other, or members of one enumeration, are noted one by one: names may be others in each response. */
const NOTED_ONE_BY_ONE = 50

/** Notes what the program did not know; returns what was new, so that it is reported once. What is too much has `*` for a name. */
export async function appendDrift(
  sql: Sql,
  found: { resource: string; at: Date; runId: string },
  novelties: readonly (Novelty & { readonly key: string })[],
): Promise<{ kind: string; path: string; member: string }[]> {
  if (novelties.length === 0) return []
  return await sql.query(
    `insert into sync.drift (resource, kind, path, member, key, example, first_seen_at, run_id)
     select $1, kind, case when is_more and kind <> 'unknown_member' then around || '/*' else path end,
            case when is_more and kind = 'unknown_member' then '*' else member end, key, example::jsonb, $2, $3
       from (select new.*, place.around, ${NOTED_ONE_BY_ONE} < row_number() over (partition by kind, place.around) + (
                      select count(*) from sync.drift known
                       where known.resource = $1 and known.kind = new.kind and ${aroundOf('known')} = place.around) as is_more
               from unnest($4::text[], $5::text[], $6::text[], $7::text[], $8::text[]) as new(kind, path, member, key, example)
              cross join lateral (select ${aroundOf('new')}) as place(around)
              where not exists (select from sync.drift same where same.resource = $1 and same.kind = new.kind
                                   and same.path = new.path and same.member = new.member)) counted
     on conflict do nothing
     returning kind, path, member`,
    [
      found.resource,
      found.at,
      found.runId,
      novelties.map((one) => one.kind),
      novelties.map(({ path }) => indexable(path)),
      novelties.map(({ member }) => indexable(member)),
      novelties.map((one) => one.key),
      novelties.map(({ example }) => canonicalJson(example)),
    ],
  )
}

/** SQL: what is noted beside others of its kind stands there. */
const aroundOf = (row: string) =>
  `case ${row}.kind when 'unknown_member' then ${row}.path else regexp_replace(${row}.path, '/[^/]*$', '') end`
