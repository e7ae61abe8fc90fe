import { and, desc, eq, inArray, isNotNull } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { historySql } from '../load/history-sql.ts'
import { type Preparation, rootsOf } from '../normalize/prepare.ts'
import { run } from '../record/tables.ts'
import type { ResourceBase } from '../resource.ts'

/** How many records of a response count for plausibility. */
export interface RecordCount {
  /** Normalized records, and quarantined ones of keys that are current. The next response is compared with it. */
  readonly normalized: number
  /** The same with the quarantined records that have no readable key: each may be one of those that seem to be missing. */
  readonly came: number
}

/** Counts the records of a response. A quarantined record with an unknown key does not count. */
export async function countRecords(
  sql: Sql,
  { history }: Pick<ResourceBase, 'history'>,
  preparation: Preparation,
): Promise<RecordCount> {
  const { quarantined } = preparation
  const roots = rootsOf(preparation)
  const keys = new Set(quarantined.flatMap(({ key }) => (isReadable(key) ? [key] : [])))
  const loaded = new Set(roots.map(({ key }) => key))
  const unknown = [...keys].filter((key) => !loaded.has(key))
  const normalized = roots.length + (await countCurrent(sql, history, unknown))
  return { normalized, came: normalized + quarantined.filter(({ key }) => !isReadable(key)).length }
}

/** A key with a replacement character is a damaged spelling of another one. */
function isReadable(key: string | undefined): key is string {
  return key !== undefined && !key.includes('\uFFFD')
}

async function countCurrent(sql: Sql, history: ResourceBase['history'], keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0
  const { table, keyText } = historySql(history)
  const [row] = await sql.query<{ current: number }>(
    `select count(*)::int as current from ${table.name} version
      where version.valid_until = 'infinity' and ${keyText('version')} = any($1::text[])`,
    [keys],
  )
  return row?.current ?? 0
}

/** How many responses in a row must agree before a shrunken one is loaded, this one included. */
export const enough = 3
/** By which share of the largest their numbers of records may differ. */
const tolerance = 0.02
/** So many rows of the ledger are read; a person may sync far more often than the API renews its response. */
const longestStreak = 2000

interface Shrunken {
  readonly observedAt: number
  readonly normalized: number
  readonly complete: boolean
}

/**
 * Whether the last responses were shrunken too and agree with this one: complete, not empty, and each of another cache window.
 * Only for resources that are one response.
 */
export async function agreesWithShrunken(
  sql: Sql,
  { name, cacheSeconds }: Pick<ResourceBase, 'name' | 'cacheSeconds'>,
  response: Shrunken,
): Promise<boolean> {
  if (!response.complete || response.normalized === 0) return false
  const counts = [response.normalized]
  let earliest = response.observedAt
  for (const { observedAt, normalized, complete } of await shrunkenBefore(sql, name)) {
    if (earliest - observedAt < 1000 * cacheSeconds) continue
    if (normalized === 0) return false
    // What is not all there is neither agrees nor contradicts: every third list may be so.
    if (!complete) continue
    earliest = observedAt
    counts.push(normalized)
    if (counts.length < enough) continue
    return Math.max(...counts) - Math.min(...counts) <= tolerance * Math.max(...counts)
  }
  return false
}

/**
 * The responses since the last one of plausible size, newest first: rejected ones, and ones that are loaded although they are
 * shrunken. Of these the ledger has more normalized records than came.
 */
async function shrunkenBefore(sql: Sql, resource: string): Promise<Shrunken[]> {
  const { observedAt, records, normalized, complete, status, finishedAt, startedAt } = run
  const rows = await typed(sql)
    .select({ observedAt, records, normalized, complete, status })
    .from(run)
    .where(
      and(
        eq(run.resource, resource),
        inArray(status, ['ok', 'unchanged', 'partial', 'rejected']),
        isNotNull(observedAt),
      ),
    )
    .orderBy(desc(finishedAt), desc(startedAt))
    .limit(longestStreak)
  const isShrunken = (row: (typeof rows)[number]) =>
    row.status === 'rejected' || (row.normalized !== null && row.normalized > row.records)
  const end = rows.findIndex((row) => !isShrunken(row))
  return (end < 0 ? rows : rows.slice(0, end)).map((row) => ({
    observedAt: row.observedAt?.getTime() ?? 0,
    normalized: Math.min(row.normalized ?? 0, row.records),
    complete: row.complete ?? false,
  }))
}

/**
 * The same for a response about one key that contradicts itself, such as a total that differs from the listed records:
 * whether the last responses about the key had the same flaw, each of another instant.
 */
export async function agreesWithRejectedKey(
  sql: Sql,
  resource: string,
  { key, observedAt, reason }: { readonly key: string; readonly observedAt: number; readonly reason: string },
): Promise<boolean> {
  const [row] = await sql.query<{ rejected: number }>(
    `with latest as (
       select observed_at, status in ('rejected', 'partial') and reason = $3 as agrees
         from sync.observation where resource = $1 and key = $2 order by received_at desc limit 50)
     select count(distinct observed_at)::int as rejected from (
       select observed_at, bool_and(agrees) over (order by nth) as so_far
         from (select *, row_number() over () as nth from latest) numbered) row
      where so_far and observed_at < $4`,
    [resource, key, reason, new Date(observedAt)],
  )
  return (row?.rejected ?? 0) >= enough - 1
}
