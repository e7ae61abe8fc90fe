import type { Database } from '../../../../src/db/database.ts'
import { worklists } from '../../../../src/resources/index.ts'

/** Versions that overlap, lie the wrong way round, or of which more than one is current; by table. */
export async function invalidVersions(db: Database): Promise<unknown[]> {
  const tables = await db.query<{ table: string; key: string[] }>(
    `select 'game.' || root.relname as table,
            (select array_agg(column_name.attname::text) from pg_attribute column_name
              where column_name.attrelid = root.oid and column_name.attnum = any(pk.indkey) and column_name.attname <> 'valid_from') as key
       from pg_class root join pg_index pk on pk.indrelid = root.oid and pk.indisprimary
      where root.relnamespace = 'game'::regnamespace
        and exists (select from pg_attribute where attrelid = root.oid and attname = 'previous_until')`,
  )
  const invalid: unknown[] = []
  for (const { table, key } of tables) {
    const rows = await db.query(
      `select * from (select ${key.join(', ')}, valid_from, valid_until, previous_until,
                             lag(valid_until) over (partition by ${key.join(', ')} order by valid_from) as before from ${table}) version
        where valid_from >= valid_until or before is distinct from previous_until or before > valid_from`,
    )
    invalid.push(...rows.map((row) => [table, row]))
  }
  return invalid
}

/** Responses that were accepted after one that speaks for a later instant, of a resource or, in a worklist, of a key. */
export async function acceptedOutOfOrder(db: Database): Promise<unknown[]> {
  return await db.query(
    `select * from (
       select resource, '' as key, observed_at, lag(observed_at) over (partition by resource order by finished_at, observed_at) as before
         from sync.run where status in ('ok', 'unchanged', 'partial') and resource <> all($1::text[])
        union all
       select resource, key, observed_at, lag(observed_at) over (partition by resource, key order by received_at, observed_at)
         from sync.observation where status in ('ok', 'unchanged', 'partial')) accepted
      where observed_at < before`,
    [worklists.map(({ name }) => name)],
  )
}
