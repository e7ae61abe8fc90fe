import { createHash } from 'node:crypto'
import { UsageError } from '../base/errors.ts'
import { quoted } from '../db/bulk/copy-columns.ts'
import { tableExists } from '../db/catalog.ts'
import type { Sql } from '../db/database.ts'
import { RESTORED_FROM } from '../db/move/copied-table.ts'
import { resources } from '../resources/index.ts'
import { isOfLake } from './import/blind.ts'
import type { LakeFile, LakeIndex } from './index-file.ts'
import type { LakeTable } from './tables.ts'

/** Tables with fewer rows are one file. */
const WHOLE_ROWS = 50_000

/** Beyond half of the numbers that transactions have, older and newer cannot be told apart. */
const COMPARABLE_TRANSACTIONS = 2_000_000_000

export interface Reading {
  /** Which database it is. */
  readonly source: string
  /** The same as lakes of the first version say it: alike for every embedded database that ever was in one folder. */
  readonly formerSource: string
  /** The latest run by its id, of those that it did itself where it did any; null: there was none. */
  readonly lastRun: string | null
  /** The oldest transaction that runs, and the next one. */
  readonly transaction: bigint
  readonly next: bigint
}

/** A table as it is compared with its files. */
type ReadTable = Pick<LakeTable, 'name' | 'month' | 'names' | 'rows' | 'schema'>
type ReadFile = Pick<LakeFile, 'month' | 'rows' | 'schema' | 'transaction'>

export interface Job<Table = LakeTable> {
  readonly table: Table
  readonly month: string | null
  readonly rows: number
  /** Whether a file is listed that it takes the place of. */
  readonly replaces: boolean
}

export interface Changes<Table = LakeTable, File = LakeFile> {
  readonly jobs: readonly Job<Table>[]
  /** Files that hold what the database holds. */
  readonly unchanged: readonly File[]
}

/** Who wrote last what lies at a place, and when. */
interface Written extends Pick<LakeIndex, 'source' | 'lastRun'> {
  readonly at?: string
  /** The text of a backup's list of files. */
  readonly backup?: string
}

/** What lies at a place is of another database, and would be gone. */
export class PlaceOfAnother extends UsageError {}

/** In hex. */
export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** @param place of the database, so that the same server under another name is read anew rather than believed */
export async function readingOf(sql: Sql, place: string): Promise<Reading> {
  const [row] = await sql.query<{ cluster: string; madeAt: string | null; transaction: string; next: string }>(
    `select system_identifier::text || ' ' || (select oid::text from pg_database where datname = current_database()) as cluster,
            (select extract(epoch from min(installed_at))::text from sync.installed_program) as "madeAt",
            pg_snapshot_xmin(pg_current_snapshot())::text as transaction,
            pg_snapshot_xmax(pg_current_snapshot())::text as next
       from pg_control_system()`,
  )
  const { cluster = '', madeAt, transaction = '0', next = '0' } = row ?? {}
  return {
    // New databases of the embedded kind are alike in all but when they were made.
    source: sha256(`${place} since ${madeAt ?? ''} ${cluster}`),
    formerSource: sha256(`${place} ${cluster}`),
    lastRun: (await latestRun(sql, `not ${isOfLake('one')}`)) ?? (await latestRun(sql, 'true')) ?? null,
    transaction: BigInt(transaction),
    next: BigInt(next),
  }
}

async function latestRun(sql: Sql, which: string): Promise<string | undefined> {
  const [last] = await sql.query<{ run: string }>(
    `select latest.run_id::text as run
       from unnest($1::text[]) named(resource)
      cross join lateral (select one.run_id, one.started_at from sync.run one where one.resource = named.resource and ${which}
                           order by one.started_at desc nulls last limit 1) latest
      order by latest.started_at desc limit 1`,
    [resources.map(({ name }) => name)],
  )
  return last?.run
}

/** Whether a database has a run, by its id. */
async function hasRun(sql: Sql, run: string | null, which = 'true'): Promise<boolean> {
  if (run === null) return false
  return (await sql.values(`select from sync.run where run_id::text = $1 and (${which})`, [run])).length > 0
}

/** Whether a database did a run itself, by its id. One that did none may have it from a lake. */
async function didRun(sql: Sql, run: string | null): Promise<boolean> {
  const didNone = `not exists (select from sync.run own where not ${isOfLake('own')})`
  return await hasRun(sql, run, `not ${isOfLake('run')} or ${didNone}`)
}

/**
 * Whether an earlier export read this database. One that came back from a backup counts transactions anew, and may have done other
 * things in them: it lacks the latest run, or has it from a lake.
 */
export async function isContinued(
  sql: Sql,
  { source, formerSource }: Reading,
  before: Written | undefined,
): Promise<boolean> {
  if (before?.source !== source && before?.source !== formerSource) return false
  return await didRun(sql, before.lastRun)
}

/** Whether a database has the latest run of what lies at a place, or has imported all of that. A backup has more than a lake brings back. */
async function hasLatest(sql: Sql, { source, lastRun, at, backup }: Written): Promise<boolean> {
  if (backup !== undefined) return await didRun(sql, lastRun)
  if (await hasRun(sql, lastRun)) return true
  const imported = 'select from sync.source where source_id = $1 and exported_at = $2 and taken_at is not null'
  return at !== undefined && (await sql.values(imported, [source, new Date(at)])).length > 0
}

/**
 * Whether a database lacks the latest run of what it wrote, which no retention has removed since: it came back from an earlier copy of
 * itself, as a damaged embedded database does.
 */
async function cameBack(sql: Sql, before: Written): Promise<boolean> {
  const { lastRun, at } = before
  if (lastRun === null || at === undefined || (await hasLatest(sql, before))) return false
  const [row] = await sql.query<{ isThinned: boolean }>(
    `select exists (select from sync.coverage_reach where thinned_until > $1)
         or exists (select from sync.tier where sample_table like 'ledger/%' and greatest(fine_since, coarse_since) > $1) as "isThinned"`,
    [new Date(at)],
  )
  return row?.isThinned === false
}

/**
 * Refuses to put a database in place of what another one wrote, whose history would be gone. One that was restored goes on with what the
 * database before it wrote: with the very backup that it came from, and with a lake whose latest run it has. Of the same database, one
 * that came back from an earlier copy lacks what it recorded since, which may be nowhere else.
 * @throws PlaceOfAnother
 */
export async function refuseOther(
  sql: Sql,
  { source, formerSource }: Reading,
  place: string,
  before: Written,
): Promise<void> {
  if (before.source === source) {
    if (!(await cameBack(sql, before))) return
    throw new PlaceOfAnother(
      `${place} has what this database recorded before it came back from an earlier copy, and lacks now: ${
        before.backup === undefined
          ? 'load that with wynnsync backfill --from-lake'
          : 'restore that into an empty database and go on with it'
      }, or name another place, which keeps both; --yes replaces it`,
    )
  }
  const isKept = await tableExists(sql, RESTORED_FROM)
  const [from] = isKept ? await sql.query<{ backup: string }>(`select backup from ${RESTORED_FROM}`) : []
  const isNext =
    before.backup === undefined
      ? (from || before.source === formerSource) && (await hasLatest(sql, before))
      : from?.backup === sha256(before.backup)
  if (isNext) return
  throw new PlaceOfAnother(
    `${place} is the ${before.backup === undefined ? 'lake' : 'backup'} of another database, or ${
      from
        ? 'was written by another since this one was restored from it'
        : 'of this one before it was restored, moved or had this address'
    }: name another place, which keeps both; --yes replaces it`,
  )
}

/** A restriction that began since a file was written leaves rows out of the next one, and they are as they were. */
const pendingRules = (
  names: string,
) => `left join (select player_uuid, min(age(xmin)) as age from sync.privacy_restriction
                where is_pending group by player_uuid) pending on ${names}`

/**
 * Compares a table with the files of it. A file holds what the table holds when it has as many rows, and none of the rows was
 * written by a transaction that the file's reader did not see: rows are counted, their values are not read.
 * @param wholeRows a table with fewer rows is one file
 */
export async function changesOf<Table extends ReadTable, File extends ReadFile>(
  sql: Sql,
  table: Table,
  files: readonly File[],
  { transaction, next }: Reading,
  wholeRows = WHOLE_ROWS,
): Promise<Changes<Table, File>> {
  const { names } = table
  const age = names ? 'least(age(kept.xmin), pending.age)' : 'age(kept.xmin)'
  const months = await sql.query<{ month: string | null; rows: number; youngest: number; ofSnapshot: number }>(
    `select ${table.month ?? 'null::text'} as month,
            count(*) ${names ? 'filter (where pending.age is null)' : ''} as rows, min(${age}) as youngest,
            age(($1::bigint % 4294967296)::text::xid) as "ofSnapshot"
       from ${quoted(table.name)} kept ${names ? pendingRules(names) : ''} where ${table.rows} group by 1 order by 1`,
    [String(transaction)],
  )
  const total = months.reduce((sum, { rows }) => sum + rows, 0)
  const isWhole = table.month === undefined || (total < wholeRows && !files.some(({ month }) => month !== null))
  const youngest = Math.min(...months.map((one) => one.youngest))
  const parts = isWhole ? months.slice(0, 1).map((one) => ({ ...one, month: null, rows: total, youngest })) : months
  const jobs: Job<Table>[] = []
  const unchanged: File[] = []
  for (const { month, rows, youngest: age, ofSnapshot } of parts.filter((one) => one.rows > 0)) {
    const listed = files.filter((file) => file.month === month)
    const same = listed.findLast((file) => {
      const passed = Number(transaction - BigInt(file.transaction))
      const isComparable = BigInt(file.transaction) <= next && passed < COMPARABLE_TRANSACTIONS
      return isComparable && file.schema === table.schema && file.rows === rows && age > ofSnapshot + passed
    })
    if (same) unchanged.push(same)
    else jobs.push({ table, month, rows, replaces: listed.length > 0 })
  }
  return { jobs, unchanged }
}
