import type { Sql } from '../database.ts'

/** Lets the numbers that tables give go on in the target where they are in the source. */
export async function copySequences(source: Sql, target: Sql): Promise<void> {
  const sequences = await source.query<{ name: string; last: string }>(
    `select quote_ident(schemaname) || '.' || quote_ident(sequencename) as name, last_value::text as last
       from pg_sequences where schemaname in ('game', 'sync') and last_value is not null`,
  )
  for (const { name, last } of sequences)
    await target.query('select setval(to_regclass($1), $2::text::bigint)', [name, last])
}
