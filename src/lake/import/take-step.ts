import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FatalError } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import { sqlState } from '../../db/sql-errors.ts'
import { resources } from '../../resources/index.ts'
import { isWorklist, type Resource, type Worklist } from '../../sync/declare/resource.ts'
import type { VersionsTable, WrittenTable } from '../../sync/declare/written-tables.ts'
import { forgetOrphanClaims } from '../../sync/evidence/orphan-claims.ts'
import { stagedName } from '../../sync/refold/refold.ts'
import { compareNextWithTables } from '../../sync/retract/retract.ts'
import { withoutSyncsOf } from '../../sync/run/without-syncs.ts'
import type { LakeFile } from '../index-file.ts'
import { createBlind, createSeen } from './blind.ts'
import { DoesNotFit, fitting, isOfConstraint, meetsNothing, placeRows, placeVersions } from './in-place.ts'
import { LEDGER, mergeLedger } from './merge-ledger.ts'
import { mergeRows, mergeSessions, wholeOf, whoseSessionsCount } from './merge-rows.ts'
import { mergeVersions } from './merge-versions.ts'
import type { Import, Refused, Step, TakenRows } from './plan.ts'
import { rulesOf, withoutPeople } from './row-rules.ts'
import { stageFile } from './staged-file.ts'
import { takenTables } from './taken-tables.ts'

/** What a step did. */
interface Taken {
  readonly tables: readonly TakenRows[]
  readonly refused: readonly Refused[]
}

interface Fetched {
  readonly file: LakeFile
  readonly path: string
}

interface Staged {
  rows: number
  refused: number
  restricted: number
  /** Whether there is a row that the lake has and that could not be read or does not name its player. */
  lacks: boolean
}

const allResources = [...new Set(takenTables.map(({ resource }) => resource))]

/** Imports the files of a step in one transaction. A file that is not what the index says is left out. */
export async function takeStep(work: Import, step: Step): Promise<Taken> {
  const { place, folder, options } = work
  const refused: Refused[] = []
  const fetched: Fetched[] = []
  try {
    for (const file of step.files) {
      options.signal?.throwIfAborted()
      const path = join(folder, `${file.sha256}.parquet`)
      try {
        await place.fetch(file, path, options.signal)
        fetched.push({ file, path })
      } catch (error) {
        refused.push({ what: file.path, reason: reasonOf(error) })
      }
    }
    // With one of them alone, time would count as known whose responses a later call could not add any more.
    if (step.of === 'ledger' && refused.some(({ what }) => /^sync\.(run|observation)\//.test(what)))
      return { tables: [], refused }
    const names = step.of === 'ledger' ? allResources : [step.of.resource]
    try {
      const tables = await withoutSyncsOf(work.db, names, options, () => runStep(work, step, fetched, refused))
      return { tables, refused }
    } catch (error) {
      const what = step.of === 'ledger' ? 'sync.run' : step.of.table
      return { tables: [], refused: [...refused, { what, reason: reasonOf(error) }] }
    }
  } finally {
    for (const { path } of fetched) await rm(path, { force: true })
  }
}

/** What is wrong with a file. Anything that another call may get over, or that is no fault of the file, is thrown. */
function reasonOf(error: unknown): string {
  // Data that Postgres refuses: classes 22 and 23, and 54 where a value is nested too deep.
  const state = sqlState(error)
  const isOfFile = state === undefined ? (error as Error).constructor === FatalError : /^(2[23]|54)/.test(state)
  if (isOfFile) return (error as Error).message.slice(0, 300)
  throw error
}

async function runStep(
  work: Import,
  step: Step,
  fetched: readonly Fetched[],
  refused: Refused[],
): Promise<TakenRows[]> {
  const before = { bytes: work.room.bytes, refused: refused.length }
  const unfit: Refused[] = []
  for (let mayPlace = true; ; ) {
    const left = fetched.filter(({ file }) => !unfit.some(({ what }) => what === file.path))
    try {
      return await work.db.transaction((sql) => takeFetched(work, step, { sql, fetched: left, refused, mayPlace }))
    } catch (error) {
      if (error instanceof DoesNotFit) mayPlace = false
      else if (error instanceof UnfitFile) unfit.push(error.refused)
      else throw error
      work.room.bytes = before.bytes
      refused.splice(before.refused, Infinity, ...unfit)
    }
  }
}

/** A file with a value that Postgres refuses. A session with a server is lost with a failed COPY, so all of the step begins anew without it. */
class UnfitFile extends Error {
  readonly refused: Refused

  constructor(refused: Refused) {
    super(refused.reason)
    this.refused = refused
  }
}

interface Taking {
  readonly sql: Sql
  /** Whether rows that meet nothing are copied into their tables. */
  readonly mayPlace: boolean
  readonly fetched: readonly Fetched[]
  readonly refused: Refused[]
}

type Merged = Map<string, { taken: number; conflicts: number }>

async function takeFetched(work: Import, step: Step, taking: Taking): Promise<TakenRows[]> {
  const { of } = step
  const { sql, fetched } = taking
  const names = of === 'ledger' ? LEDGER : [of.table, ...('parts' in of ? of.parts : [])]
  const staged = new Map<string, Staged>()
  const taken = (await place(work, step, taking, staged)) ?? (await stageAndMerge(work, step, taking, staged))
  // The next call tries a refused file again, and reads the ledger again while a resource is left out.
  const whole = fetched.filter(({ file }) => !taking.refused.some(({ what }) => what === file.path))
  for (const { file } of of === 'ledger' && work.broken.size > 0 ? [] : whole) {
    const { rows = 0, refused = 0 } = staged.get(file.table) ?? {}
    await sql.query(
      `insert into sync.source_file (source_id, sha256, table_name, month, taken_at, rows, taken, refused)
       values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
      [
        work.index.source,
        file.sha256,
        file.table,
        file.month,
        new Date(work.options.clock.now()),
        rows + refused,
        taken.get(file.table)?.taken ?? 0,
        refused,
      ],
    )
  }
  // Without the tiers nothing is removed: the next call looks at what is gone again.
  if (step.files.length === 0 && work.compacted === undefined) return []
  // What the lake replaced is new when it is there again. A month that it has no more is known until its own step.
  const month = of !== 'ledger' && of.kind === 'rows' ? step.month : null
  await sql.query(
    `delete from sync.source_file where source_id = $1 and table_name = any($2::text[]) and sha256 <> all($3::text[])
        and (month is null or $4::text is null or month = $4)`,
    [work.index.source, [...names], work.index.files.map(({ sha256 }) => sha256), month],
  )
  return names.flatMap((table) => {
    const { rows, refused, restricted } = staged.get(table) ?? { rows: 0, refused: 0, restricted: 0 }
    const { taken: count = 0, conflicts = 0 } = taken.get(table) ?? {}
    return rows + refused > 0 ? [{ table, rows: rows + refused, taken: count, refused, restricted, conflicts }] : []
  })
}

/** Copies rows that meet nothing into their tables. Undefined where they could meet something. @throws DoesNotFit */
async function place(
  work: Import,
  { of, month }: Step,
  taking: Taking,
  staged: Map<string, Staged>,
): Promise<Merged | undefined> {
  const { sql, mayPlace, fetched } = taking
  if (!mayPlace || of === 'ledger') return undefined
  const names = [of.table, ...('parts' in of ? of.parts : [])]
  if (!(await meetsNothing(sql, of, { tables: names.map((name) => work.plan.tables.get(name)), month })))
    return undefined
  // While rows are copied, the tables have no indexes that say which values have a limit.
  const rules = new Map<string, Rules>()
  for (const name of names) rules.set(name, await rulesOf(sql, name, untilOf(work)))
  const copy = async () => {
    for (const [name, ofTable] of rules) {
      const files = fetched.filter(({ file }) => file.table === name)
      const copying = { name, files, rules: ofTable }
      const table = work.plan.tables.get(name)
      if (!table || ofTable.leftOut.length === 0) {
        staged.set(name, await copyFiles(work, taking, { ...copying, into: name }))
        continue
      }
      // What could name a player is made anew before a row is complete.
      staged.set(name, await stage(work, taking, copying))
      await sql.query(`insert into ${name} select * from ${stagedName(name)}`)
      await sql.query(`drop table ${stagedName(name)}`)
    }
  }
  await fitting(() =>
    of.kind === 'rows'
      ? placeRows(sql, of.table, month, copy)
      : placeVersions(sql, resourceNamed(of.resource), of, { sourceId: work.index.source, copy }),
  )
  if (of.kind === 'versions') await concludeVersions(work, sql, of)
  return new Map([[of.table, { taken: staged.get(of.table)?.rows ?? 0, conflicts: 0 }]])
}

async function stageAndMerge(work: Import, step: Step, taking: Taking, staged: Map<string, Staged>): Promise<Merged> {
  const { of } = step
  const { sql, fetched, mayPlace } = taking
  const names = of === 'ledger' ? LEDGER : [of.table, ...('parts' in of ? of.parts : [])]
  for (const name of names) {
    const files = fetched.filter(({ file }) => file.table === name)
    staged.set(name, await stage(work, taking, { name, files, rules: await rulesOf(sql, name, untilOf(work)) }))
  }
  // What was not read is no statement of what there is.
  const isRefused = [...taking.refused, ...work.plan.refused].some(({ what }) =>
    names.includes(what.replace(/\/.*/, '')),
  )
  const follows = !isRefused && ![...staged.values()].some(({ lacks }) => lacks)
  return await merge(work, step, {
    sql,
    follows,
    mayPlace,
    restricted: staged.get(names[0] ?? '')?.restricted ?? 0,
  })
}

async function stage(work: Import, taking: Taking, copying: Omit<Copying, 'into'>): Promise<Staged> {
  const { sql } = taking
  const { name } = copying
  const into = `pg_temp.${stagedName(name)}`
  await sql.query(`create temp table ${stagedName(name)} on commit drop as select * from ${name} limit 0`)
  const total = await copyFiles(work, taking, { ...copying, into })
  const table = work.plan.tables.get(name)
  if (table) total.restricted += await withoutPeople(sql, into, table)
  return total
}

type Rules = Awaited<ReturnType<typeof rulesOf>>

interface Copying {
  /** The table of the lake. */
  readonly name: string
  readonly into: string
  readonly files: readonly Fetched[]
  readonly rules: Rules
}

/** Nothing was observed after that. */
const untilOf = ({ index, options }: Import) => new Date(Math.min(Date.parse(index.at), options.clock.now()))

async function copyFiles(
  { duck, plan, room, options }: Import,
  { sql, refused }: Taking,
  { name, into, files, rules }: Copying,
): Promise<Staged> {
  const table = plan.tables.get(name)
  const total: Staged = { rows: 0, refused: 0, restricted: 0, lacks: false }
  if (!table) return total
  for (const { file, path } of files) {
    await sql.query('savepoint lake_file')
    try {
      const found = await stageFile(sql, duck, table, {
        file,
        path,
        room,
        staged: into,
        rules,
        leftOut: rules.leftOut,
        signal: options.signal,
      })
      total.rows += found.rows + found.nameless
      total.refused += found.refused
      total.restricted += found.nameless
      total.lacks ||= found.refused + found.nameless > 0
    } catch (error) {
      options.signal?.throwIfAborted()
      if (isOfConstraint(error)) throw error
      const found = { what: file.path, reason: reasonOf(error) }
      if (sqlState(error) !== undefined) throw new UnfitFile(found)
      refused.push(found)
      await sql.query('rollback to savepoint lake_file')
    }
  }
  return total
}

interface Merging {
  readonly sql: Sql
  /** Whether all is staged that the lake has of these files. */
  readonly follows: boolean
  /** How many rows about players were left out. */
  readonly restricted: number
  readonly mayPlace: boolean
}

async function merge(work: Import, { of, month }: Step, merging: Merging): Promise<Merged> {
  const { index, compacted, broken } = work
  const { sql, follows } = merging
  const sourceId = index.source
  const fresh = await freshOf(sql)
  if (of === 'ledger') {
    const freshTables = takenTables.filter(({ resource }) => fresh.includes(resource)).map(({ table }) => table)
    const whole = allResources.filter((resource) => !broken.has(resource))
    const taken = await mergeLedger(sql, whole, {
      coverage: index.coverage,
      sourceId,
      fresh: fresh.filter((one) => whole.includes(one)),
      freshTables,
      withSessions: await whoseSessionsCount(sql, sourceId),
      mayPlace: merging.mayPlace,
    })
    for (const resource of whole) {
      await forgetOrphanClaims(sql, resourceNamed(resource))
      await compareNext(sql, resource)
    }
    return new Map([...taken].map(([table, count]) => [table, { taken: count, conflicts: 0 }]))
  }
  await createSeen(sql, index.coverage)
  const staged = stagedName(of.table)
  const isWhole = of.kind === 'rows' && follows
  const whole = isWhole ? await wholeOf(work, of, { ...merging, month }) : undefined
  const keys = keysOf(of, whole)
  await createBlind(sql, [of], { keys, sourceId: follows ? sourceId : undefined })
  if (of.kind === 'versions') {
    const resource = resourceNamed(of.resource)
    const merged = await mergeVersions(sql, resource, of, { sourceId, follows })
    await concludeVersions(work, sql, of)
    return new Map([[of.table, merged]])
  }
  if (of.isAverage && !fresh.includes(of.resource)) return new Map()
  const since = fresh.includes(of.resource) ? null : (compacted?.get(of.table) ?? null)
  const part = { staged, since, whole }
  const taken = of.isSession ? await mergeSessions(sql, of, part, sourceId) : await mergeRows(sql, of, part)
  return new Map([[of.table, { taken, conflicts: 0 }]])
}

async function concludeVersions({ plan }: Import, sql: Sql, of: VersionsTable): Promise<void> {
  // Until then claims say of which keys what the lake says goes on.
  const isLast = plan.steps.findLast((step) => isVersionsOf(step, of.resource))?.of === of
  if (isLast) await forgetOrphanClaims(sql, resourceNamed(of.resource))
  await compareNext(sql, of.resource)
}

/** SQL: the keys that a step is about, those that the lake does not have any more included. */
function keysOf(of: WrittenTable, whole: string | undefined): string | undefined {
  const key = of.kind === 'versions' ? of.key[0] : of.scope
  if (key === undefined) return undefined
  const staged = `select distinct ${key}::text from ${stagedName(of.table)}`
  if (of.kind === 'versions') return `${staged} union select ${key}::text from ${of.table}`
  return whole === undefined
    ? staged
    : `${staged} union select own.${key}::text from ${of.table} own
         join lake_span span on span.resource = '${of.resource}' and own.${of.time} between span.began and span.ended where ${whole}`
}

const isVersionsOf = ({ of }: Step, resource: string) =>
  of !== 'ledger' && of.kind === 'versions' && of.resource === resource

/** @throws FatalError when there is none */
function resourceNamed(name: string): Resource | Worklist {
  const found = resources.find((one) => one.name === name)
  if (!found) throw new FatalError(`no resource is called ${name}`)
  return found
}

/** Of a resource with one response the next one is compared with what the tables have now. */
async function compareNext(sql: Sql, name: string): Promise<void> {
  const resource = resourceNamed(name)
  if (!isWorklist(resource)) await compareNextWithTables(sql, resource)
}

/** Resources of which this database has no responses. */
async function freshOf(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ resource: string }>(
    `select resource from unnest($1::text[]) of(resource)
      where not exists (select from sync.run where run.resource = of.resource and run.status in ('ok', 'unchanged', 'partial'))`,
    [allResources],
  )
  return rows.map(({ resource }) => resource)
}
