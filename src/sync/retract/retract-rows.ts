import type { Sql } from '../../db/database.ts'
import type { RebuiltRows } from '../declare/resource.ts'
import type { RowsTable, VersionsTable, WrittenTable } from '../declare/written-tables.ts'
import { averageTablesAgain } from '../respond/averages.ts'

interface Column {
  readonly name: string
  readonly isKey: boolean
  readonly isInstant: boolean
  readonly isGenerated: boolean
}

/**
 * Removes the rows of samples and events that responses in `retract_span` wrote. What the next response that is left showed, too, is
 * dated by it. After the versions of the resource.
 */
export async function retractRows(sql: Sql, of: RowsTable, written: readonly WrittenTable[]): Promise<RebuiltRows> {
  const { table, time, scope, series, isAverage, isFollowing, isSession } = of
  // Averages are made of samples that were compacted; of that time nothing is retracted. Sessions are the resource's to rebuild.
  if (isAverage || isFollowing || isSession) return { table, removed: 0, changed: 0 }
  const columns = await columnsOf(sql, table)
  const span = scope === undefined ? 'true' : `span.scope = own.${scope}::text`
  const within = `${span} and own.${time} > span.began and own.${time} < span.ended`
  const histories = written.filter((one): one is VersionsTable => one.kind === 'versions')
  const changed = series
    ? await holdAtEnds(sql, of, { columns, within, histories })
    : await dateAnew(sql, of, { columns, within, histories })
  const removed = await sql.query(`delete from ${table} own using retract_span span where ${within} returning 1`)
  if (series) {
    await removeRepeated(sql, of, columns)
    const [oldest] = await sql.query<{ at: Date | null }>(
      `select nullif(min(began), '-infinity') as at from retract_span`,
    )
    await averageTablesAgain(sql, [table], oldest?.at ?? new Date(0))
  }
  return { table, removed: removed.length, changed }
}

async function columnsOf(sql: Sql, table: string): Promise<readonly Column[]> {
  return await sql.query<Column>(
    `select quote_ident(attname) as name, coalesce(attnum = any(conkey), false) as "isKey",
            atttypid = 'timestamptz'::regtype as "isInstant", attidentity <> '' as "isGenerated"
       from pg_attribute left join pg_constraint on conrelid = attrelid and contype = 'p'
      where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [table],
  )
}

interface Parts {
  readonly columns: readonly Column[]
  readonly within: string
  readonly histories: readonly VersionsTable[]
}

/** A sample holds until the next one of its series: the last one of an interval holds where it ends, if its key is there then. */
async function holdAtEnds(
  sql: Sql,
  { table, time, series = [] }: RowsTable,
  { columns, within, histories }: Parts,
): Promise<number> {
  const names = columns.filter(({ isGenerated }) => !isGenerated).map(({ name }) => name)
  const { same, row } = comparing({ time, series }, columns)
  const [history] = histories
    .filter(({ key }) => key.every((name) => series.includes(name)))
    .sort((one, other) => other.key.length - one.key.length)
  const exists = history
    ? `exists (select from ${history.table} version where ${history.key.map((name) => `version.${name} = last.${name}`).join(' and ')}
                  and version.valid_from <= last.ended and version.valid_until > last.ended)`
    : 'true'
  const held = await sql.query(
    `insert into ${table} (${names.join(', ')})
     select ${names.map((name) => (name === time ? 'last.ended' : `last.${name}`)).join(', ')}
       from (select distinct on (${[...series.map((name) => `own.${name}`), 'span.ended'].join(', ')}) own.*, span.began, span.ended
               from ${table} own join retract_span span on ${within} and span.ended < 'infinity'
              order by ${[...series.map((name) => `own.${name}`), 'span.ended', `own.${time} desc`].join(', ')}) last
       left join lateral (select * from ${table} earlier where ${same('earlier', 'last')} and earlier.${time} <= last.began
                           order by earlier.${time} desc limit 1) before on true
      where ${exists} and (before.${time} is null or ${row('before')} is distinct from ${row('last')})
     on conflict do nothing returning 1`,
  )
  return held.length
}

/** A sample is written when a value changes: one where an interval ends says nothing if it repeats the last one before it. */
async function removeRepeated(sql: Sql, of: RowsTable, columns: readonly Column[]): Promise<void> {
  const { table, time, scope } = of
  const { same, row } = comparing(of, columns)
  await sql.query(
    `delete from ${table} own using retract_span span
      where ${scope === undefined ? 'true' : `span.scope = own.${scope}::text`} and own.${time} = span.ended
        and ${row('own')} is not distinct from (select ${row('earlier')} from ${table} earlier
              where ${same('earlier', 'own')} and earlier.${time} < own.${time} order by earlier.${time} desc limit 1)`,
  )
}

/** SQL of the series and the values of samples. */
function comparing({ time, series = [] }: Pick<RowsTable, 'time' | 'series'>, columns: readonly Column[]) {
  const values = columns.filter(({ name, isGenerated }) => !isGenerated && name !== time && !series.includes(name))
  return {
    same: (one: string, other: string) =>
      series.map((name) => `${one}.${name} = ${other}.${name}`).join(' and ') || 'true',
    row: (one: string) => `row(${values.map(({ name }) => `${one}.${name}`).join(', ')})`,
  }
}

/** An event that a response which is left shows, too: its version is there, or it is still to come. */
async function dateAnew(sql: Sql, { table, time }: RowsTable, { columns, within, histories }: Parts): Promise<number> {
  const instants = columns.filter(({ name, isKey, isInstant }) => isKey && isInstant && name !== time)
  if (instants.length === 0) return 0
  const isToCome = instants.map(({ name }) => `own.${name} > span.ended`)
  const isVersion = histories
    .filter(({ key }) => key.every((name) => columns.some((column) => column.name === name && column.isKey)))
    .map(
      (history) => `exists (select from ${history.table} version
         where ${history.key.map((name) => `version.${name} = own.${name}`).join(' and ')}
           and (${instants.map(({ name }) => `version.valid_from = own.${name}`).join(' or ')}))`,
    )
  const moved = await sql.query(
    `update ${table} own set ${time} = span.ended from retract_span span
      where ${within} and span.ended < 'infinity' and (${[...isToCome, ...isVersion].join(' or ')}) returning 1`,
  )
  return moved.length
}
