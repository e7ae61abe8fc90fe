import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PGlite } from '@electric-sql/pglite'

/*
 * What a server's background processes do, an embedded database must do for itself: write checkpoints, or its log grows
 * for ever; look at its tables, or the planner knows nothing of what was loaded; and clear away dead rows. How much was
 * written since the last time is read off the log position.
 */

const MEGABYTE = 1024 * 1024
const CHECKPOINT_EVERY = 48 * MEGABYTE
/** And a fifth of what there was, so that a large database is looked at less often. */
const ANALYZE_EVERY = 4 * MEGABYTE
/** Counted over all processes that ever had the folder: most of them write little and end. */
const VACUUM_EVERY = 96 * MEGABYTE

/** Makes the function to call after each transaction: it does what is due, and mostly that is nothing. */
export function housekeeping(engine: PGlite, dataDir: string): () => Promise<void> {
  const marker = join(dataDir, 'vacuumed')
  let checkpointed: number | undefined
  let analyzed: number | undefined
  let vacuumed: number | undefined
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
      if (written - vacuumed > VACUUM_EVERY) {
        await engine.exec('vacuum (analyze)')
        await writeFile(marker, String(written), { mode: 0o600 })
        vacuumed = analyzed = written
      } else if (written - analyzed > ANALYZE_EVERY + analyzed / 5) {
        await engine.exec('analyze')
        analyzed = written
      }
      if (written - checkpointed > CHECKPOINT_EVERY) {
        await engine.exec('checkpoint')
        checkpointed = written
      }
    } catch {
      // What was committed is committed; the next statement that needs room reports a full disk.
    }
  }
}
