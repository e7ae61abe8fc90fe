import type { Database } from '../../src/db/database.ts'
import { keptDatabase } from './postgres.ts'
import { emptyTables } from './world.ts'

/** A migrated database whose sessions know its tables already, and how these are when it is new. */
export interface Lent {
  readonly db: Database
  readonly shape: string
}

/** Those of this worker that no test has. */
const free: Lent[] = []

/** A database for a `describe`, with empty tables: what `giveBack` was given, or a new one. */
export async function lendDatabase(kind: Database['kind']): Promise<Lent> {
  const found = free.findIndex(({ db }) => db.kind === kind)
  const [lent] = found < 0 ? [] : free.splice(found, 1)
  if (lent) return lent
  const db = await keptDatabase(kind)
  return { db, shape: await shapeOf(db) }
}

/** Keeps a database for the next `describe`, unless it does not answer, or a test changed its tables, views, functions or rights. */
export async function giveBack(lent: Lent): Promise<void> {
  const isAsNew = async () => {
    await emptyTables(lent.db)
    return (await shapeOf(lent.db)) === lent.shape
  }
  if (await isAsNew().catch(() => false)) free.push(lent)
  else await lent.db.close()
}

async function shapeOf(db: Database): Promise<string> {
  const [row] = await db.query<{ shape: string }>(
    `select md5(string_agg(one, ',' order by one)) as shape
       from (select concat_ws(' ', oid, relname, relacl, reloptions, relhastriggers) from pg_class where oid >= 16384
              union all select concat_ws(' ', attrelid, attname, atttypid, attnotnull, atthasdef) from pg_attribute where attrelid >= 16384
              union all select concat_ws(' ', oid, conname) from pg_constraint where oid >= 16384
              union all select concat_ws(' ', oid, proname, proacl, hashtext(prosrc)) from pg_proc where oid >= 16384
              union all select concat_ws(' ', oid, nspacl) from pg_namespace where oid >= 16384) as every(one)`,
  )
  return row?.shape ?? ''
}
