import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { INDEX, type LakeFile, type LakeIndex } from './index-file.ts'
import { type LakeStore, WRITING } from './lake-store.ts'
import { sealed } from './read/index-form.ts'

export type TableIndex = Pick<LakeIndex, 'format' | 'program' | 'source'> & {
  /** Schema-qualified. */
  readonly table: string
  /** The types that its columns have in Postgres. */
  readonly types: Readonly<Record<string, string>>
  /** Paths start from the lake. */
  readonly files: readonly LakeFile[]
}

/**
 * Puts an index into the folder of every table whose files are others than before. Called before the index of the lake is replaced:
 * what either lists is there.
 */
export async function writeTableIndexes(
  store: LakeStore,
  before: LakeIndex | undefined,
  { format, program, source, tables, files }: LakeIndex,
): Promise<void> {
  for (const [table, types] of Object.entries(tables)) {
    const own = files.filter((file) => file.table === table)
    const known = before?.files.filter((file) => file.table === table) ?? []
    if (own.length === 0 || pathsOf(own) === pathsOf(known)) continue
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

const pathsOf = (files: readonly LakeFile[]): string => files.map(({ path }) => path).join('\n')
