import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../base/errors.ts'
import { visibleLine } from '../base/terminal-text.ts'
import { type LakeStore, type StoreSettings, WRITING } from './lake-store.ts'
import { faultOf, isFile, sealed, sealFault } from './read/index-form.ts'
import { openStore } from './store.ts'

/** The version of the folder's form; a reader refuses a higher one. */
export const FORMAT = 1
export const INDEX = 'index.json'
/** What the names of the files with rows end in. */
export const ENDING = '.parquet'
const DRAFT = 'draft.ndjson'

/** One Parquet file: a table, or a month of it. */
export interface LakeFile {
  /** Below the folder, with slashes. */
  readonly path: string
  /** Schema-qualified. */
  readonly table: string
  /** `2026-05` (UTC); null: the whole table. */
  readonly month: string | null
  readonly rows: number
  readonly bytes: number
  /** Of the file, in hex. */
  readonly sha256: string
  /** SHA-256 of the columns with their types, in hex. */
  readonly schema: string
  /** The oldest transaction that was running when it was read: later ones are not in it. */
  readonly transaction: string
  /** Length of its Parquet footer, in bytes. */
  readonly footer: number
  /** Of each column of instants the first and last, as DuckDB writes them in UTC, and how many rows have none. */
  readonly instants: Readonly<Record<string, readonly [first: string | null, last: string | null, none: number]>>
}

export interface LakeCoverage {
  readonly resource: string
  /** The first accepted response; null: there was none, or it is not known any more. */
  readonly since: string | null
  readonly until: string | null
  readonly gaps: readonly (readonly [began: string, ended: string])[]
}

export interface LakeIndex {
  readonly format: number
  readonly program: string
  /** When the export began to read, ISO 8601. */
  readonly at: string
  /** Which database it was, as a hash. */
  readonly source: string
  /** The latest run that it had, by its id; null: none. A database that does not have it any more came from a backup. */
  readonly lastRun: string | null
  /** Whether what names players is in it. */
  readonly people: boolean
  /** Whether its history is that of a sandbox, a simulated game. Null: not known; absent: an earlier version exported it. */
  readonly isSandbox?: boolean | null
  readonly coverage: readonly LakeCoverage[]
  /** Of each table the types that its columns have in Postgres. */
  readonly tables: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly files: readonly LakeFile[]
  /** Files of earlier exports that readers may still have open, with the instant since when they are not listed. */
  readonly replaced: readonly { readonly path: string; readonly since: string }[]
}

export interface LakeState {
  readonly place: string
  /** When the export began to read, ISO 8601. */
  readonly at: string
  readonly people: boolean
  readonly files: number
  readonly rows: number
  readonly bytes: number
}

/** @param signal ends it where a bucket does not answer @returns undefined where nothing was exported yet @throws UsageError where `openStore` or `indexOf` does */
export async function lakeState(
  place: string,
  settings?: StoreSettings,
  signal?: AbortSignal,
): Promise<LakeState | undefined> {
  const index = await indexOf(await openStore(place, settings), signal)
  if (!index) return undefined
  const { at, people, files } = index
  const sum = (of: 'rows' | 'bytes') => files.reduce((total, file) => total + file[of], 0)
  return { place, at, people, files: files.length, rows: sum('rows'), bytes: sum('bytes') }
}

/** @throws UsageError when it is no index, of a newer format, or names a file outside its folder */
export async function indexOf(store: LakeStore, signal?: AbortSignal): Promise<LakeIndex | undefined> {
  const text = await store.readText(INDEX, signal)
  return text === undefined ? undefined : parseIndex(text, store.place)
}

/** For the user of a place with an index that is damaged. */
const MEND = 'copy the lake there again; where its database is, remove this file and export anew'

/** @throws UsageError when it is none that an export can have written, of a newer format, or names a file outside its folder */
export function parseIndex(text: string, folder: string): LakeIndex {
  const place = `${folder.replace(/\/$/, '')}/${INDEX}`
  const index = parsed(text)
  if (index === undefined)
    throw new UsageError(`${place} is no index of a lake: it is no JSON, or JSON that ended early; ${MEND}`)
  if (!index || typeof index.format !== 'number' || !Array.isArray(index.files))
    throw new UsageError(`${place} is no index of a lake; ${MEND}`)
  if (index.format > FORMAT) throw new UsageError(`${place} has format ${index.format}; this version reads ${FORMAT}`)
  const escaped = [...index.files, ...(Array.isArray(index.replaced) ? index.replaced : [])].find(
    (file) => !isInside(file?.path),
  )
  if (escaped !== undefined) throw new UsageError(`${place} names a file outside of the lake; ${MEND}`)
  const fault = faultOf(index)
  if (fault !== undefined) throw new UsageError(`${place} is not that of a lake: ${visibleLine(fault)}; ${MEND}`)
  const broken = sealFault(index)
  if (broken !== undefined) throw new UsageError(`${place} is not as it was written: ${broken}; ${MEND}`)
  return index
}

/** Puts an index in place of the one before: a reader sees one of the two. */
export async function writeIndex(store: LakeStore, index: LakeIndex): Promise<void> {
  const draft = join(store.work, WRITING, INDEX)
  await writeFile(draft, `${JSON.stringify(sealed(index), null, 1)}\n`, { flush: true })
  await store.put(draft, INDEX)
}

/** A file that an interrupted export had written, with what tells which database it was. */
type DraftFile = LakeFile & Pick<LakeIndex, 'source' | 'lastRun'>

/** The files that an interrupted export had written. */
export async function readDraft({ work }: LakeStore): Promise<DraftFile[]> {
  const text = await readFile(join(work, DRAFT), 'utf8').catch(() => '')
  const lines = text.split('\n').map((line) => parsed<DraftFile>(line))
  return lines.flatMap((line) => (line && isInside(line.path) && isFile(line) ? [line] : []))
}

export async function addToDraft({ work }: LakeStore, file: DraftFile): Promise<void> {
  await appendFile(join(work, DRAFT), `${JSON.stringify(file)}\n`)
}

export const draftPath = ({ work }: LakeStore): string => join(work, DRAFT)

/** Whether a path is one that an export makes. */
export function isInside(path: unknown): boolean {
  return typeof path === 'string' && /^[a-z_]+\.[a-z_0-9]+\/(month=\d{4}-\d\d\/)?[0-9a-f]+\.parquet$/.test(path)
}

/** A line that a killed process wrote half is none. */
function parsed<T = LakeIndex>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T
  } catch {
    return undefined
  }
}

type TableIndex = Pick<LakeIndex, 'format' | 'program' | 'source'> & {
  /** Schema-qualified. */
  readonly table: string
  /** The types that its columns have in Postgres. */
  readonly types: Readonly<Record<string, string>>
  /** Paths start from the lake. */
  readonly files: readonly LakeFile[]
}

/**
 * Puts an index into the folder of every table of which something else is listed than before, or that has none. Called before the index of the lake is replaced:
 * what either lists is there.
 */
export async function writeTableIndexes(
  store: LakeStore,
  before: LakeIndex | undefined,
  { format, program, source, tables, files }: LakeIndex,
): Promise<void> {
  const present = await store.list(`/${INDEX}`)
  for (const [table, types] of Object.entries(tables)) {
    const own = files.filter((file) => file.table === table)
    const known = before?.files.filter((file) => file.table === table) ?? []
    const isKnown = present.has(`${table}/${INDEX}`) && JSON.stringify(own) === JSON.stringify(known)
    if (own.length === 0 || isKnown) continue
    const index: TableIndex = { format, program, source, table, types, files: own }
    const draft = join(store.work, WRITING, INDEX)
    await writeFile(draft, `${JSON.stringify(sealed(index), null, 1)}\n`)
    await store.put(draft, `${table}/${INDEX}`)
  }
}

/** Deletes the indexes of tables that have no files any more. Called after the index of the lake was replaced. */
export async function dropTableIndexes(
  store: LakeStore,
  before: LakeIndex | undefined,
  after: LakeIndex,
): Promise<void> {
  const there = new Set(after.files.map(({ table }) => table))
  for (const table of new Set(before?.files.map((file) => file.table)))
    if (!there.has(table)) await store.remove(`${table}/${INDEX}`)
}
