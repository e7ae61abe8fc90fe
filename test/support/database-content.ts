import type { Database } from '../../src/db/database.ts'
import { tableNames } from './world.ts'

/** How many rows each table of schemas `game` and `sync` has, with a fingerprint of all of them in any order. */
export async function contentOf(db: Database): Promise<Record<string, unknown>> {
  const content: Record<string, unknown> = {}
  for (const table of await tableNames(db)) {
    const [row] = await db.query(
      `select count(*) as rows, md5(string_agg(line, chr(10) order by line collate "C")) as digest
         from (select to_jsonb(each)::text as line from ${table} each) all_of_it`,
    )
    content[table] = row
  }
  return content
}

/** Every partition with its bounds. */
export async function partitionsOf(db: Database): Promise<unknown[][]> {
  return await db.values(
    `select oid::regclass::text, pg_get_expr(relpartbound, oid) from pg_class where relispartition and relkind in ('r', 'p') order by 1`,
  )
}
