import type { Database } from '../database.ts'

/**
 * How many rows were written into the tables of a server so far, as its statistics count them; 0 for the embedded database,
 * which one process has. A sync of a worklist takes no lock that could keep it out of a move.
 */
export async function countWrites(db: Database): Promise<number> {
  if (db.kind === 'embedded') return 0
  const [row] = await db.query<{ rows: number }>(
    `select coalesce(sum(n_tup_ins + n_tup_upd + n_tup_del), 0)::bigint as rows from pg_stat_user_tables
      where schemaname in ('game', 'sync', 'partitions') and relname <> 'lock'`,
  )
  return row?.rows ?? 0
}
