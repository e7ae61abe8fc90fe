import type { Sql } from '../../db/database.ts'
import type { Row, SampleTable } from '../declare/resource.ts'
import { bulkTable } from '../sql/history-sql.ts'
import type { Fall } from './guard-actions.ts'

/** Columns of samples, by property name, of which a response does not say anything. */
interface LeftOutColumns {
  readonly leftOut?: ReadonlySet<string>
  /** Those that enough responses left out: they are NULL; the others stay. */
  readonly unknown?: ReadonlySet<string>
}

interface Sampled extends Fall {
  /** Samples that differed from the latest of their key. */
  readonly written: number
}

/** Samples of one table in a response. */
interface IncomingSamples extends LeftOutColumns {
  readonly sample: SampleTable
  readonly rows: readonly Row[]
}

/**
 * Appends the samples that differ from the latest one of their key, of all tables in one statement. A value that stays is written once:
 * it holds until the next sample, as far as the ledger has observations. Of two values in one response for one key,
 * the first counts. Counts, for each table, what fell to zero on the way.
 */
export async function appendSamples(sql: Sql, incoming: readonly IncomingSamples[], at: Date): Promise<Sampled[]> {
  const none = { written: 0, above: 0, fell: 0 }
  const some = incoming.filter(({ rows }) => rows.length > 0)
  if (some.length === 0) return incoming.map(() => none)
  const parts = some.map((one, nth) => appending(one, nth))
  const [row] = await sql.query<{ sampled: Sampled[] }>(
    `with ${parts.map((part) => part.write).join(', ')} select jsonb_build_array(${parts.map((part) => part.count).join(', ')}) as sampled`,
    [at, ...parts.map((part) => part.records)],
  )
  return incoming.map((one) => row?.sampled[some.indexOf(one)] ?? none)
}

/**
 * It looks for the latest up to the response's own instant: so Postgres reads the newest month first, and the others only
 * where that has none. @param nth of the tables of the statement
 */
function appending({ sample, rows, leftOut = new Set(), unknown = new Set() }: IncomingSamples, nth: number) {
  const { name, columns } = bulkTable(sample.table)
  const measured = [...columns].filter(([property]) => property !== 'observedAt')
  const namesOf = (which: (property: string) => boolean) =>
    measured.filter(([property]) => which(property)).map(([, column]) => column.name)
  const keys = namesOf((property) => sample.key.includes(property))
  const values = namesOf((property) => !sample.key.includes(property))
  const counters = namesOf((property) => sample.counters?.includes(property) === true)
  const names = namesOf(() => true).join(', ')
  const among = (properties: ReadonlySet<string>) =>
    new Set(measured.flatMap(([property, { name, notNull }]) => (properties.has(property) && !notNull ? [name] : [])))
  const [left, empty] = [among(leftOut), among(unknown)]
  const record = (row: Row) =>
    Object.fromEntries(
      measured.map(([property, column]) => [column.name, left.has(column.name) ? null : (row[property] ?? null)]),
    )
  // One response alone shows nothing of what it lacks: it stays.
  const sentAs = (column: string) => (left.has(column) && !empty.has(column) ? `"latest ${column}"` : column)
  const counted = (when: (counter: string) => string) =>
    counters.map((counter) => `count(*) filter (where ${when(counter)})`).join(' + ') || '0'
  const [compared, written] = [`compared${nth}`, `written${nth}`]
  return {
    records: JSON.stringify(rows.map(record)),
    write: `${compared} as materialized (
       select incoming.*, latest.observed_at as "latest at"${values.map((column) => `, latest.${column} as "latest ${column}"`).join('')}
         from jsonb_to_recordset($${nth + 2}::jsonb) as incoming(${measured.map(([, column]) => `${column.name} ${column.getSQLType()}`).join(', ')})
         left join lateral (select * from ${name} sample
                             where ${keys.map((column) => `sample.${column} = incoming.${column}`).join(' and ')}
                               and sample.observed_at <= $1::timestamptz
                             order by sample.observed_at desc limit 1) latest on true),
     ${written} as (
       insert into ${name} (${names}, observed_at)
       select ${namesOf(() => true)
         .map(sentAs)
         .join(', ')}, $1::timestamptz from ${compared}
        where "latest at" is null
           or (${values.map((column) => `"latest ${column}"`).join(', ')}) is distinct from (${values.map(sentAs).join(', ')})
       on conflict do nothing
       returning 1)`,
    count: `(select jsonb_build_object('written', (select count(*) from ${written}),
            'above', ${counted((counter) => `"latest ${counter}" > 0`)}, 'fell', ${counted((counter) => `"latest ${counter}" > 0 and ${counter} = 0`)})
       from ${compared} limit 1)`,
  }
}
