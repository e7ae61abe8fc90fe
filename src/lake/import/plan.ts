import type { Clock } from '../../base/clock.ts'
import type { Database, Sql } from '../../db/database.ts'
import type { VersionsTable, WrittenTable } from '../../sync/declare/written-tables.ts'
import type { DuckDb } from '../duckdb.ts'
import type { LakeFile, LakeIndex } from '../index-file.ts'
import type { LakePlace } from '../read/place.ts'
import { type LakeTable, lakeTables } from '../tables.ts'
import { LEDGER } from './merge-ledger.ts'
import type { Room } from './staged-file.ts'
import { followingTables, takenTables } from './taken-tables.ts'

/** Files that are imported together, in one transaction. */
export interface Step {
  readonly of: WrittenTable | 'ledger'
  /** None: the lake has no row of it any more. */
  readonly files: readonly LakeFile[]
  /** Of a table of rows: the month they are of, such as `2026-05`; null: all. */
  readonly month: string | null
}

export interface Refused {
  /** The path in the lake, or the table. */
  readonly what: string
  readonly reason: string
}

export interface Plan {
  readonly steps: readonly Step[]
  readonly tables: ReadonlyMap<string, LakeTable>
  readonly files: number
  readonly rows: number
  readonly bytes: number
  /** Files that were imported before. */
  readonly known: number
  readonly refused: readonly Refused[]
  /** Tables of the lake that are not imported by any version of this program so far, and do not follow from those that are. */
  readonly notTaken: readonly string[]
}

/** How much longer the text of rows may be than their files: of a lake of this program it is 5 to 10 times as long. */
export const TEXT_FACTOR = 20

export interface ImportOptions {
  readonly clock: Clock
  /** More than this, in bytes, is refused before anything is read; of text in the files, `TEXT_FACTOR` times as much. */
  readonly maxBytes: number
  readonly signal?: AbortSignal | undefined
  /** Called when files are imported: the table, and how many rows of all there are were read. */
  readonly onProgress: (table: string, rows: number, of: number) => void
}

/** What was imported of a table. */
export interface TakenRows {
  readonly table: string
  /** Rows in the files that were read. */
  readonly rows: number
  /** Of those, rows that are in the table now and were not before; of versions, those that come from the lake. */
  readonly taken: number
  /** Rows that cannot be right. */
  readonly refused: number
  /** Rows about players who hide something, were removed, or are not named in the lake. */
  readonly restricted: number
  /** Versions that contradict what this database observed. */
  readonly conflicts: number
}

/** Everything that a step works with. */
export interface Import {
  readonly db: Database
  readonly duck: DuckDb
  readonly place: LakePlace
  readonly index: LakeIndex
  readonly plan: Plan
  readonly folder: string
  /** Since when the lake has all samples of a table, where older ones were compacted. Undefined: that cannot be read. */
  readonly compacted: ReadonlyMap<string, Date> | undefined
  /** Resources with a file that was refused: their time does not count as observed, so that a later call imports it. */
  readonly broken: Set<string>
  /** How much text of rows may still be read: a small file can have any number of equal values. */
  readonly room: Room
  readonly options: ImportOptions
}

/** What is to be imported of a lake. Reads only. */
export async function planOf(sql: Sql, index: LakeIndex): Promise<Plan> {
  const tables = new Map((await lakeTables(sql, index.people)).map((table) => [table.name, table]))
  const before = await sql.query<{ sha256: string; table: string; month: string | null }>(
    'select sha256, table_name as table, month from sync.source_file where source_id = $1',
    [index.source],
  )
  const known = new Set(before.map(({ sha256 }) => sha256))
  const names = new Set([...takenTables.flatMap((one) => [one.table, ...partsOf(one)]), ...LEDGER])
  const refused: Refused[] = []
  const files = index.files.filter(({ table, path, schema }) => {
    if (!names.has(table)) return false
    const own = tables.get(table)
    if (own?.schema === schema) return true
    refused.push({ what: path, reason: `the columns of ${table} are not those of this version of the program` })
    return false
  })
  const of = (name: string) => files.filter(({ table }) => table === name).sort((a, b) => (a.path < b.path ? -1 : 1))
  const fresh = (name: string) => of(name).filter(({ sha256 }) => !known.has(sha256))
  // An export has no file of what has no rows. A lake of another kind, such as one without names, does not have the table.
  const emptied = (name: string): (string | null)[] => {
    if (!Object.hasOwn(index.tables, name) || refused.some(({ what }) => what.startsWith(`${name}/`))) return []
    const listed = of(name).map(({ month }) => month)
    const months = before.flatMap(({ table, month }) => (table === name ? [month] : []))
    if (listed.length === 0) return months.length > 0 ? [null] : []
    return listed.includes(null)
      ? []
      : [...new Set(months)].filter((month) => month !== null && !listed.includes(month))
  }
  const steps = takenTables.flatMap((one): Step[] => {
    if (one.kind === 'rows')
      return [
        ...emptied(one.table).map((month) => ({ of: one, files: [], month })),
        ...fresh(one.table).map((file) => ({ of: one, files: [file], month: file.month })),
      ]
    // What a lake has of a history is all of it: what it lacks now was withdrawn.
    const names = [one.table, ...partsOf(one)]
    const isNew = of(one.table).length > 0 && names.some((name) => fresh(name).length > 0)
    const isEmptied = emptied(one.table).includes(null)
    return isNew || isEmptied ? [{ of: one, files: names.flatMap(of), month: null }] : []
  })
  const ledger = LEDGER.flatMap((name) => (LEDGER.some((each) => fresh(each).length > 0) ? of(name) : []))
  if (ledger.length > 0) steps.push({ of: 'ledger', files: ledger, month: null })
  const all = steps.flatMap((step) => step.files)
  return {
    steps,
    tables,
    refused,
    files: all.length,
    rows: all.reduce((sum, file) => sum + file.rows, 0),
    bytes: all.reduce((sum, file) => sum + file.bytes, 0),
    known: files.length - new Set(all.map(({ path }) => path)).size,
    notTaken: [...new Set(index.files.map(({ table }) => table))]
      .filter((table) => !names.has(table) && !followingTables.includes(table))
      .sort(),
  }
}

function partsOf(one: WrittenTable): readonly string[] {
  return (one as Partial<VersionsTable>).parts ?? []
}
