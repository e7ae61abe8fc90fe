import { join } from 'node:path'
import { UsageError } from '../../base/errors.ts'
import type { Database } from '../../db/database.ts'
import { admitLake } from '../../sync/run/admission.ts'
import { type DuckDb, literal } from '../duckdb.ts'
import type { LakeIndex } from '../index-file.ts'
import { openLocked } from '../read/locked-duckdb.ts'
import type { LakePlace } from '../read/place.ts'
import { inWorkFolder } from '../read/work-folder.ts'
import {
  type Import,
  type ImportOptions,
  type Plan,
  planOf,
  type Refused,
  type TakenRows,
  TEXT_FACTOR,
} from './plan.ts'
import { checkRows } from './staged-file.ts'
import { takeStep } from './take-step.ts'
import { takenTables } from './taken-tables.ts'

export interface Imported extends Pick<Plan, 'notTaken' | 'known' | 'files' | 'bytes'> {
  readonly tables: readonly TakenRows[]
  readonly refused: readonly Refused[]
}

/** How far the clock of another machine may be ahead, ms. */
const CLOCK_SKEW = 300_000

/** What would be imported. @throws UsageError when the index is none, of another game, or there is more than `maxBytes` */
export async function priceOf(
  db: Database,
  place: LakePlace,
  options: Pick<ImportOptions, 'clock' | 'maxBytes' | 'signal'>,
) {
  const index = await place.index(options.signal)
  const instants = index.coverage.flatMap(({ until }) => (until === null ? [] : Date.parse(until) - CLOCK_SKEW))
  if (Math.max(Date.parse(index.at), ...instants) > options.clock.now() + CLOCK_SKEW)
    throw new UsageError(`the lake of ${place.place} is from the future: ${index.at}`)
  await admit(db, { place, index, options }, false)
  const plan = await planOf(db, index)
  if (plan.bytes > options.maxBytes)
    throw new UsageError(`${place.place} has ${plan.bytes} bytes to import; --max-bytes allows ${options.maxBytes}`)
  return { index, plan }
}

/**
 * Imports what a lake knows of times in which this database observed nothing, and removes what came from it and is not in it any more. Each step (a history, or a file of samples or
 * events) is one transaction; the ledger, by which time counts as observed, is the last one. Interrupted at any instant, the
 * next call goes on with the files that are left. A file or row that cannot be right is refused, and the others go on.
 * @throws UsageError when DuckDB is not installed, the index is none, or there is more than `maxBytes`
 */
export async function importLake(db: Database, place: LakePlace, options: ImportOptions): Promise<Imported> {
  const { index, plan } = await priceOf(db, place, options)
  return await inWorkFolder((folder) => importPlan(db, place, { index, plan, folder, options }))
}

async function importPlan(
  db: Database,
  place: LakePlace,
  { index, plan, folder, options }: Pick<Import, 'index' | 'plan' | 'folder' | 'options'>,
): Promise<Imported> {
  const duck = await openLocked({
    folders: [folder],
    temporary: join(folder, 'temporary'),
    memory: '256MB',
    threads: 1,
  })
  const refused = [...plan.refused]
  const tables = new Map<string, TakenRows>()
  const interrupt = () => duck.interrupt()
  options.signal?.addEventListener('abort', interrupt)
  try {
    const compacted = await compactedSince(duck, place, index, { folder, signal: options.signal })
    const room = { bytes: TEXT_FACTOR * options.maxBytes }
    const work: Import = { db, duck, place, index, plan, folder, compacted, broken: brokenBy(refused), room, options }
    await admit(db, work, true)
    await saveSource(work, false)
    let done = 0
    for (const step of plan.steps) {
      options.signal?.throwIfAborted()
      const result = await takeStep(work, step)
      for (const one of result.refused) refused.push(one)
      for (const resource of brokenBy(result.refused)) work.broken.add(resource)
      for (const one of result.tables) {
        const before = tables.get(one.table)
        tables.set(one.table, before ? added(before, one) : one)
      }
      done += step.files.reduce((sum, { rows }) => sum + rows, 0)
      options.onProgress(step.of === 'ledger' ? 'sync.run' : step.of.table, done, plan.rows)
    }
    if (refused.length === 0) await saveSource(work, true)
  } finally {
    options.signal?.removeEventListener('abort', interrupt)
    duck.close()
  }
  const { notTaken, known, files, bytes } = plan
  return { tables: [...tables.values()], refused, notTaken, known, files, bytes }
}

/** The resources of refused files and tables. */
function brokenBy(refused: readonly Refused[]): Set<string> {
  const tables = new Set(refused.map(({ what }) => what.replace(/\/.*/, '')))
  const broken = takenTables.filter((one) =>
    [one.table, ...('parts' in one ? one.parts : [])].some((name) => tables.has(name)),
  )
  return new Set(broken.map(({ resource }) => resource))
}

async function compactedSince(
  duck: DuckDb,
  place: LakePlace,
  { files }: LakeIndex,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal | undefined },
) {
  const found = new Map<string, Date>()
  const file = files.find(({ table }) => table === 'sync.tier')
  if (!file) return found
  const path = join(folder, 'tier.parquet')
  const rows = await place
    .fetch(file, path, signal)
    .then(() => checkRows(duck, path, file))
    .then(() =>
      duck.rows(
        `select sample_table, epoch_ms(fine_since) as at from read_parquet(${literal(path)}) where strlen(sample_table) < 200 limit 1000`,
      ),
    )
    // The step of the ledger says what is wrong with it.
    .catch(() => undefined)
  if (!rows) return undefined
  for (const { sample_table: table, at } of rows)
    if (at !== null && Number.isFinite(Number(at))) found.set(String(table), new Date(Number(at)))
  return found
}

async function admit(
  db: Database,
  {
    place,
    index,
    options: { clock },
  }: Pick<Import, 'place' | 'index'> & { readonly options: Pick<ImportOptions, 'clock'> },
  keeps: boolean,
): Promise<void> {
  const lake = { place: place.place.replace(/\/\/[^/@]*@/, '//'), isSandbox: index.isSandbox ?? undefined }
  await db.transaction((sql) => admitLake(sql, lake, { clock, database: db.place, keeps }))
}

async function saveSource({ db, place, index, options }: Import, isWhole: boolean): Promise<void> {
  await db.query(
    `insert into sync.source (source_id, kind, place, program, exported_at, taken_at) values ($1, 'lake', $2, $3, $4, $5)
     on conflict (source_id) do update
        set place = excluded.place, program = excluded.program, exported_at = excluded.exported_at, taken_at = excluded.taken_at`,
    [
      index.source,
      place.place.replace(/\/\/[^/@]*@/, '//'),
      index.program,
      index.at,
      isWhole ? new Date(options.clock.now()) : null,
    ],
  )
}

function added(one: TakenRows, other: TakenRows): TakenRows {
  const sum = (count: 'rows' | 'taken' | 'refused' | 'restricted' | 'conflicts') => one[count] + other[count]
  return {
    table: one.table,
    rows: sum('rows'),
    taken: sum('taken'),
    refused: sum('refused'),
    restricted: sum('restricted'),
    conflicts: sum('conflicts'),
  }
}
