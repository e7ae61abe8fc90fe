import type { Sql } from '../db/database.ts'
import { bulkTable } from './bulk-table.ts'
import type { Row, SampleTable } from './resource.ts'

/**
 * Appends the samples that differ from the latest one of their key, in one statement; returns how many. A value that
 * stays is written once: it holds until the next sample, as far as the ledger says that somebody looked. Of two values
 * that one answer gives for one key, the first is taken.
 */
export async function appendSamples(sql: Sql, sample: SampleTable, rows: readonly Row[], at: Date): Promise<number> {
  if (rows.length === 0) return 0
  const { name, columns } = bulkTable(sample.table)
  const measured = [...columns].filter(([property]) => property !== 'observedAt')
  const names = measured.map(([, column]) => column.name)
  const isKey = new Set(sample.key)
  const keys = measured.filter(([property]) => isKey.has(property)).map(([, column]) => column.name)
  const values = measured.filter(([property]) => !isKey.has(property)).map(([, column]) => column.name)
  const record = (row: Row) =>
    Object.fromEntries(measured.map(([property, column]) => [column.name, row[property] ?? null]))
  const written = await sql.query(
    `insert into ${name} (${names.join(', ')}, observed_at)
     select ${names.map((column) => `incoming.${column}`).join(', ')}, $2
       from jsonb_to_recordset($1::jsonb) as incoming(${measured.map(([, column]) => `${column.name} ${column.getSQLType()}`).join(', ')})
       left join lateral (select * from ${name} sample
                           where ${keys.map((column) => `sample.${column} = incoming.${column}`).join(' and ')}
                           order by sample.observed_at desc limit 1) latest on true
      where latest.observed_at is null
         or (${values.map((column) => `latest.${column}`).join(', ')})
            is distinct from (${values.map((column) => `incoming.${column}`).join(', ')})
     on conflict do nothing
     returning 1`,
    [JSON.stringify(rows.map(record)), at],
  )
  return written.length
}
