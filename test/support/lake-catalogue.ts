import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { literal, openDuckDb } from '../../src/lake/duckdb.ts'

/** Paths of the files that the DuckLake catalogue of a lake lists, below the lake, in order; undefined: there is no catalogue. */
export async function cataloguedFiles(folder: string): Promise<string[] | undefined> {
  const file = join(folder, 'history.ducklake')
  if (!existsSync(file)) return undefined
  const duck = await openDuckDb()
  try {
    await duck.run(`attach ${literal(file)} as made (read_only)`)
    const rows = await duck.rows(
      `select own.path || file.path as path from made.ducklake_data_file file join made.ducklake_table own using (table_id)`,
    )
    return rows.map(({ path }) => String(path)).sort()
  } finally {
    duck.close()
  }
}
