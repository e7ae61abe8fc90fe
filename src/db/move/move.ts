import { FatalError, reach } from '../../base/errors.ts'
import { quoted } from '../bulk/copy-columns.ts'
import type { Database, Sql } from '../database.ts'
import { type CopiedTable, listTables, MOVE_PROGRESS, withReferring } from './copied-table.ts'
import { copyTable, sequencesOf, setSequences } from './copy-table.ts'
import { beginProgress, endProgress, isMoveUnfinished, readProgress } from './move-progress.ts'
import { countRows, digestOf, isSame, setTextForm, type TableDigest } from './table-digest.ts'

/** How many rows a table has, and how much room they take. */
export interface TableSize {
  readonly table: string
  readonly rows: number
  /** With indexes and partitions. */
  readonly bytes: number
}

interface MoveOptions {
  readonly signal?: AbortSignal | undefined
  /** Called while rows are copied: the table, and how many rows of all are in the target. */
  readonly onProgress: (table: string, rows: number, of: number) => void
  /** Called when a table is copied, and its transaction committed. */
  readonly onCopied: (table: string, rows: number) => void
}

export interface Moved {
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly digest: string }[]
  readonly rows: number
  /** Tables that an earlier call had copied. */
  readonly resumed: number
}

/** Runs work on one snapshot of a database, which nothing changes. */
export async function inSnapshot<T>(db: Database, work: (sql: Sql) => Promise<T>): Promise<T> {
  return await db.transaction(async (sql) => {
    await sql.query('set transaction isolation level repeatable read, read only')
    await setTextForm(sql)
    return await work(sql)
  })
}

export async function measure(sql: Sql): Promise<TableSize[]> {
  const sizes: TableSize[] = []
  for (const { name } of await listTables(sql)) {
    const [size] = await sql.query<{ bytes: number }>(
      `select greatest((select sum(pg_total_relation_size(relid)) from pg_partition_tree(to_regclass($1)))::bigint,
                       pg_total_relation_size(to_regclass($1))) as bytes`,
      [name],
    )
    sizes.push({ table: name, rows: await countRows(sql, name), bytes: size?.bytes ?? 0 })
  }
  return sizes
}

/**
 * Copies everything from one snapshot of a database into another one that is migrated and empty: each table in one
 * transaction, with its partitions; then the sequences. At the end the rows of every table are compared. Interrupted at any
 * instant, the next call goes on with the tables that are not whole; what changed in the source since is copied again.
 * @throws FatalError when the target has rows of its own or other tables, or when the comparison finds a difference
 */
export async function moveDatabase(source: Database, target: Database, options: MoveOptions): Promise<Moved> {
  return await inSnapshot(source, async (from) => {
    const tables = await listTables(from)
    await refuseOtherTables(target, tables)
    const resumed = await prepareTarget(from, target, tables)
    const digests = await copyAll(from, target, { tables, resumed }, options)
    await setSequences(target, await sequencesOf(from))
    await compare(target, tables, digests)
    await endProgress(target)
    const moved = tables.map(({ name }) => ({ table: name, ...digestIn(digests, name) }))
    return { tables: moved, rows: moved.reduce((sum, { rows }) => sum + rows, 0), resumed: resumed.size }
  })
}

/** Begins a move, or finds what an earlier call copied of which nothing has changed. */
async function prepareTarget(
  from: Sql,
  target: Database,
  tables: readonly CopiedTable[],
): Promise<Map<string, TableDigest>> {
  if (!(await isMoveUnfinished(target))) {
    await refuseRows(target, tables)
    await target.transaction(beginProgress)
    return new Map()
  }
  reach('recovery: a move goes on')
  const copied = await readProgress(target)
  const changed: string[] = []
  for (const table of tables) {
    const before = copied.get(table.name)
    if (before && !isSame(before, await digestOf(from, table))) changed.push(table.name)
  }
  for (const name of await forgetCopied(target, changed)) copied.delete(name)
  await refuseRows(
    target,
    tables.filter(({ name }) => !copied.has(name)),
  )
  return copied
}

/** Empties copied tables, and those that refer to them, so that they are copied again. Returns all of them. */
export async function forgetCopied(target: Database, names: readonly string[]): Promise<string[]> {
  if (names.length === 0) return []
  const all = await withReferring(target, names)
  await target.transaction(async (sql) => {
    await sql.query(`truncate ${all.map(quoted).join(', ')}`)
    await sql.query(`delete from ${MOVE_PROGRESS} where table_name = any($1::text[])`, [all])
  })
  return all
}

interface Work {
  readonly tables: readonly CopiedTable[]
  readonly resumed: ReadonlyMap<string, TableDigest>
}

async function copyAll(
  from: Sql,
  target: Database,
  { tables, resumed }: Work,
  { signal, onProgress, onCopied }: MoveOptions,
): Promise<Map<string, TableDigest>> {
  const digests = new Map(resumed)
  let total = 0
  for (const { name } of tables) total += await countRows(from, name)
  let done = [...resumed.values()].reduce((sum, { rows }) => sum + rows, 0)
  for (const table of tables) {
    if (digests.has(table.name)) continue
    signal?.throwIfAborted()
    const onRows = (rows: number) => {
      done += rows
      onProgress(table.name, done, total)
    }
    const copied = await copyTable(from, target, table, { signal, onRows })
    digests.set(table.name, copied)
    onCopied(table.name, copied.rows)
  }
  return digests
}

async function compare(
  target: Database,
  tables: readonly CopiedTable[],
  digests: ReadonlyMap<string, TableDigest>,
): Promise<void> {
  const different = await target.transaction(async (sql) => {
    await setTextForm(sql)
    const names: string[] = []
    for (const table of tables)
      if (!isSame(await digestOf(sql, table), digestIn(digests, table.name))) names.push(table.name)
    return names
  })
  if (different.length === 0) return
  await forgetCopied(target, different)
  throw new FatalError(
    `${target.place}: the copy differs from the source in ${different.join(', ')}; these tables were emptied, and the next call copies them again`,
  )
}

function digestIn(digests: ReadonlyMap<string, TableDigest>, name: string): TableDigest {
  return digests.get(name) ?? { rows: 0, digest: '0' }
}

/** @throws FatalError when a database has other tables or columns than the source */
async function refuseOtherTables(target: Database, tables: readonly CopiedTable[]): Promise<void> {
  const textOf = ({ name, columns }: CopiedTable) => `${name} (${[...columns].sort().join(', ')})`
  const wanted = tables.map(textOf)
  const present = (await listTables(target)).map(textOf)
  const different = [
    ...wanted.filter((table) => !present.includes(table)),
    ...present.filter((table) => !wanted.includes(table)),
  ]
  if (different.length > 0)
    throw new FatalError(
      `${target.place} does not have the tables of the source: ${different.slice(0, 3).join('; ')}; run wynnsync migrate of the same version on both`,
    )
}

/** Those of the tables that have a row, by name. */
export async function filledTables(target: Sql, tables: readonly Pick<CopiedTable, 'name'>[]): Promise<string[]> {
  const filled: string[] = []
  for (const { name } of tables) {
    const [row] = await target.query<{ filled: boolean }>(`select exists (select from ${quoted(name)}) as filled`)
    if (row?.filled) filled.push(name)
  }
  return filled
}

/** @throws FatalError when one of the tables has a row */
export async function refuseRows(target: Database, tables: readonly CopiedTable[]): Promise<void> {
  const filled = await filledTables(target, tables)
  if (filled.length === 0) return
  const more = filled.length > 3 ? ` and ${filled.length - 3} more tables` : ''
  throw new FatalError(
    `${target.place} has data of its own, in ${filled.slice(0, 3).join(', ')}${more}: a move needs an empty database; --merge adds the history to one that has some`,
    { context: { place: target.place } },
  )
}
