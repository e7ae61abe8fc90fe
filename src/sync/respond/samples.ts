import type { Sql } from '../../db/database.ts'
import type { Entity, ResourceBase, Row, SampleTable } from '../declare/resource.ts'
import { type Claim, corroborate, forgetClaims, mayClaim, pendingClaims, type Witness } from '../evidence/claims.ts'
import { bulkTable } from '../sql/history-sql.ts'
import type { Fall } from './guard-actions.ts'
import type { IncomingResponse } from './validate-response.ts'

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

interface ListedSamples {
  readonly incoming: readonly (IncomingSamples & { readonly name: string })[]
  readonly entities: readonly { readonly lists: Entity['lists'] }[]
  /** Of a worklist: the key of the response. */
  readonly scope: string | undefined
}

/** Appends the samples of a response. `content`: how many of them are what the resource is about. */
export async function loadSamples(
  sql: Sql,
  resource: ResourceBase,
  { preparation, last, scope, unsent, listsOthers }: IncomingResponse,
  witness: Witness,
) {
  const incoming = Object.entries(resource.samples ?? {}).map(([name, sample]) => ({
    name,
    sample,
    rows: preparation.entities.flatMap((entity) => entity.samples?.[name] ?? []),
    leftOut: unsent?.dependents.samples.get(name) ?? new Set(),
    unknown: unsent?.unknown.samples.get(name) ?? new Set(),
  }))
  const sampled = await appendSamples(sql, incoming, witness.at)
  if (last && (listsOthers || mayClaim(witness, 'unsent')))
    await endUnlisted(sql, witness, { incoming, entities: preparation.entities, scope })
  let samples = 0
  let content = 0
  for (const [nth, { written }] of sampled.entries()) {
    samples += written
    // The first response changes nothing.
    if (incoming[nth]?.sample.isContent && last) content += written
  }
  return { sampled, content, samples }
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

/** Of rows with one key the first: the others, too, would be compared with the latest sample, and where it is that of the first, be written. */
function firstOfKeys(rows: readonly Row[], key: readonly string[]): readonly Row[] {
  const seen = new Set<string>()
  return rows.filter((row) => {
    const text = key.map((property) => row[property]).join('\n')
    return !seen.has(text) && seen.add(text)
  })
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
  const left = among(leftOut)
  const empty = among(unknown)
  const record = (row: Row) =>
    Object.fromEntries(
      measured.map(([property, column]) => [column.name, left.has(column.name) ? null : (row[property] ?? null)]),
    )
  // One response alone shows nothing of what it lacks: it stays.
  const sentAs = (column: string) => (left.has(column) && !empty.has(column) ? `"latest ${column}"` : column)
  const counted = (when: (counter: string) => string) =>
    counters.map((counter) => `count(*) filter (where ${when(counter)})`).join(' + ') || '0'
  const compared = `compared${nth}`
  const written = `written${nth}`
  return {
    records: JSON.stringify(firstOfKeys(rows, sample.key).map(record)),
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

/**
 * What records list no more is not sent: a number that several responses lack is unknown since the first of them, and its sample NULL.
 * Where one of them lists it again, it stays. Of a table whose rows all follow from a field that is not sent, the field says it.
 */
async function endUnlisted(sql: Sql, witness: Witness, { incoming, entities, scope }: ListedSamples): Promise<void> {
  const pending = (await pendingClaims(sql, witness, 'unsent', scope)).filter(({ value }) => /^[^/]/.test(value))
  for (const { name: ofEntity, sample, rows, leftOut } of incoming) {
    const { key, table, listedBy } = sample
    const lists = entities.flatMap((entity) => entity.lists?.[ofEntity] ?? [])
    if (listedBy === undefined || lists.length === 0 || leftOut?.has('*')) continue
    const { name, columns } = bulkTable(table)
    const subjectOf = (row: Row) => key.flatMap((one) => (one === listedBy ? [] : [row[one]])).join('/')
    const lacking = (await unlistedIn(sql, sample, { rows, lists }, witness.at)).map((row) => {
      return { subject: subjectOf(row), value: `${name} ${row[listedBy]}`, row }
    })
    const made = new Set(lacking.map(named))
    const listed = new Set(lists.map(subjectOf))
    const isOver = (one: Required<Claim>) =>
      one.value.startsWith(`${name} `) && listed.has(one.subject) && !made.has(named(one))
    await forgetClaims(sql, witness.resource, 'unsent', pending.filter(isOver))
    const { confirmed } = await corroborate(sql, witness, 'unsent', lacking)
    if (confirmed.length === 0) continue
    const since = new Map(confirmed.map((one) => [named(one), one.firstAt]))
    const gone = lacking.flatMap((one) =>
      since.has(named(one)) ? [{ ...one.row, observedAt: since.get(named(one)) }] : [],
    )
    const into = [...key, 'observedAt']
      .map((property) => columns.get(property))
      .filter((column) => column !== undefined)
    await sql.query(
      `insert into ${name} (${into.map((column) => column.name).join(', ')})
       select * from jsonb_to_recordset($1::jsonb) as gone(${into.map((column) => `${column.name} ${column.getSQLType()}`).join(', ')})
       on conflict do nothing`,
      [JSON.stringify(gone.map((row) => byColumn(row, columns)))],
    )
  }
}

const named = ({ subject, value }: Required<Claim>) => `${subject}\n${value}`

const byColumn = (row: Row, columns: ReturnType<typeof bulkTable>['columns']) =>
  Object.fromEntries(Object.entries(row).map(([property, value]) => [columns.get(property)?.name ?? property, value]))

/** The keys of samples that are not NULL and belong to what a response lists, and that it lacks. */
async function unlistedIn(
  sql: Sql,
  { table, key, listedBy = '' }: SampleTable,
  { rows, lists }: { readonly rows: readonly Row[]; readonly lists: readonly Row[] },
  at: Date,
): Promise<Row[]> {
  const { name, columns } = bulkTable(table)
  const nameOf = (property: string) => columns.get(property)?.name ?? property
  const typed = (properties: readonly string[]) =>
    properties.map((one) => `${nameOf(one)} ${columns.get(one)?.getSQLType()}`).join(', ')
  const same = (one: string, other: string, properties: readonly string[]) =>
    ['true', ...properties.map((property) => `${one}.${nameOf(property)} = ${other}.${nameOf(property)}`)].join(' and ')
  const by = nameOf(listedBy)
  const scope = key.filter((one) => one !== listedBy)
  const prefix = key.slice(0, key.indexOf(listedBy))
  const values = [...columns.keys()].filter((one) => one !== 'observedAt' && !key.includes(one)).map(nameOf)
  const next = (of: string, from: string) =>
    `(select one.${by} from ${name} one where ${same('one', of, prefix)} ${from} order by one.${by} limit 1)`
  const listed = prefix.map(nameOf).join(', ')
  return await sql.query<Row>(
    // A loose index scan: one entry per name, however many samples it has.
    `with recursive scope as (select distinct * from jsonb_to_recordset($2::jsonb) as scope(${typed(scope)})),
       incoming as (select distinct * from jsonb_to_recordset($3::jsonb) as incoming(${typed(key)})),
       known (${listed}, ${by}) as (
         select each.*, ${next('each', '')} from (select distinct ${listed} from scope) each
          union all
         select ${prefix.map((one) => `known.${nameOf(one)}`).join(', ')}, ${next('known', `and one.${by} > known.${by}`)}
           from known where known.${by} is not null)
     select ${key.map((one) => `lacked.${nameOf(one)} as "${one}"`).join(', ')}
       from (select scope.*, known.${by} from scope join known on ${same('scope', 'known', prefix)}
              where known.${by} is not null and not exists (select from incoming where ${same('incoming', 'scope', scope)} and incoming.${by} = known.${by})
             offset 0) lacked
      cross join lateral (select * from ${name} one where ${same('one', 'lacked', key)} and one.observed_at <= $1::timestamptz
                           order by one.observed_at desc limit 1) latest
      where num_nonnulls(${values.map((one) => `latest.${one}`).join(', ')}) > 0`,
    [
      at,
      JSON.stringify(lists.map((row) => byColumn(row, columns))),
      JSON.stringify(rows.map((row) => byColumn(row, columns))),
    ],
  )
}
