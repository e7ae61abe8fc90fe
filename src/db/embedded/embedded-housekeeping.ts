import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Engine } from './remote-engine.ts'

/*
 * The work of a server's background processes: checkpoints, or the log grows for ever; analyze, or the planner has no
 * statistics; vacuum. How much was written since the last time is the difference of two log positions.
 */

const MEGABYTE = 1024 * 1024
const CHECKPOINT_EVERY = 48 * MEGABYTE
/** And a fifth of what there was, so that a large database is analyzed less often. */
const ANALYZE_EVERY = 4 * MEGABYTE
/** Over all processes that had the folder open: most of them write little and end. */
const VACUUM_EVERY = 96 * MEGABYTE

/** Every table, system catalogs too; of partitioned ones also what is known of them as a whole. */
const TABLES = `select case relkind when 'p' then 'only ' else '' end || format('%I.%I', nspname, relname) as name
  from pg_class join pg_namespace n on n.oid = relnamespace
 where relkind in ('r', 'p') and relpersistence <> 't' order by pg_class.oid`

const markerOf = (dataDir: string) => join(dataDir, 'vacuumed')

/** A vacuum that was not done to its end is due again at once. */
export async function forgetVacuum(dataDir: string): Promise<void> {
  await writeFile(markerOf(dataDir), '0', { mode: 0o600 }).catch(() => undefined)
}

/**
 * Returns the function to call after each transaction; mostly nothing is due. It returns statements, each of one table: the whole
 * database takes seconds, for which no poll could wait.
 */
export function housekeeping(engine: Engine, dataDir: string): () => Promise<readonly string[]> {
  const marker = markerOf(dataDir)
  let checkpointed: number | undefined
  let analyzed: number | undefined
  let vacuumed: number | undefined
  const ofTables = async (command: string) =>
    (await engine.query<{ name: string }>(TABLES)).rows.map(({ name }) => `${command} ${name}`)
  return async () => {
    try {
      const { rows } = await engine.query<{ written: number }>(
        `select (pg_current_wal_insert_lsn() - '0/0')::float8 as written`,
      )
      const written = rows[0]?.written ?? 0
      vacuumed ??= await readFile(marker, 'utf8').then(Number, async () => {
        await writeFile(marker, String(written), { mode: 0o600 })
        return written
      })
      checkpointed ??= written
      analyzed ??= written
      const due: string[] = []
      if (written - vacuumed > VACUUM_EVERY) {
        due.push(...(await ofTables('vacuum (analyze)')))
        await writeFile(marker, String(written), { mode: 0o600 })
        vacuumed = analyzed = written
      } else if (written - analyzed > ANALYZE_EVERY + analyzed / 5) {
        due.push(...(await ofTables('analyze')))
        analyzed = written
      }
      if (written - checkpointed > CHECKPOINT_EVERY) {
        // At once: while others write on, the log would grow.
        await engine.exec('checkpoint')
        checkpointed = written
      }
      return due
    } catch {
      // What was committed is committed; the next statement that needs room reports a full disk.
      return []
    }
  }
}
