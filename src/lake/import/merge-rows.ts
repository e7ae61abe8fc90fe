import type { Sql } from '../../db/database.ts'
import { averageTablesAgain } from '../../sync/retention/rollup.ts'
import { type RowsTable, takenTables } from './taken-tables.ts'

/**
 * Inserts staged rows whose instant lies where this database was blind. A sample holds until the next one of its series, so
 * what this database measured last holds again from the end of such an interval on, and what the lake's database measured
 * before this interval, from where it began to observe again. In the transaction of `lake_blind` and `lake_seen`.
 * @param since rows before it are left out: the lake has compacted them, and this database has not
 * @returns rows of the lake that are in the table now and were not before
 */
export async function mergeRows(
  sql: Sql,
  of: RowsTable,
  { staged, since }: { readonly staged: string; readonly since: Date | null },
): Promise<number> {
  const { table, resource, time, series, scope, isOfMany } = of
  const named = await sql.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attidentity = ''`,
    [table],
  )
  const names = named.map(({ name }) => name)
  const ofResource = isOfMany ? `blind.resource = lake.resource and $1::text is not null` : 'blind.resource = $1'
  const blind = `${ofResource} and ${scope ? `blind.scope = lake.${scope}::text` : 'blind.scope is null'}`
  const within = (row: string) => `${row}.${time} > blind.began and ${row}.${time} < blind.ended`
  const merged = await sql.query(
    `insert into ${table} (${names.join(', ')})
     select ${names.map((name) => `lake.${name}`).join(', ')} from ${staged} lake
      where lake.${time} >= coalesce($2::timestamptz, '-infinity')
        and exists (select from lake_blind blind where ${blind} and ${within('lake')})
     on conflict do nothing returning 1`,
    [resource, since],
  )
  if (!series) return merged.length
  const held = await holdAround(sql, of, { staged, since }, { names, blind, within })
  const [staging] = await sql.query<{ oldest: Date | null }>(`select min(${time}) as oldest from ${staged}`)
  if (staging?.oldest && merged.length + held > 0) await averageTablesAgain(sql, [table], staging.oldest)
  return merged.length
}

interface Parts {
  /** Columns of the table. */
  readonly names: readonly string[]
  /** SQL: which interval of blindness is one of a row of `lake`. */
  readonly blind: string
  /** SQL: whether the instant of a row lies in an interval. */
  readonly within: (row: string) => string
}

/** What holds at the end of an interval of blindness, and where the lake's database began to observe in one. Returns the new rows. */
async function holdAround(
  sql: Sql,
  { table, resource, time, series = [] }: RowsTable,
  { staged, since }: { readonly staged: string; readonly since: Date | null },
  { names, blind, within }: Parts,
): Promise<number> {
  const values = names.map((name) => (name === time ? '' : `version.${name}`))
  const insert = (at: string) =>
    `insert into ${table} (${names.join(', ')}) select ${values.map((value) => value || at).join(', ')}`
  const key = series.length > 0 ? series.map((name) => `lake.${name}`).join(', ') : '1'
  const same = series.map((name) => `before.${name} = lake.${name}`).join(' and ') || 'true'
  const latest = (from: string, at: string) =>
    `cross join lateral (select before.* from ${from} before where ${same} and before.${time} <= ${at}
                          order by before.${time} desc limit 1) version`
  const ends = await sql.query(
    `${insert('ends.ended')}
       from (select distinct on (${key}, blind.ended) lake.*, blind.began, blind.ended from ${staged} lake
               join lake_blind blind on ${blind} and ${within('lake')} and blind.ended < 'infinity') ends
      ${latest(table, 'ends.began').replaceAll('lake.', 'ends.')}
     on conflict do nothing returning 1`,
    [resource],
  )
  // What holds from the beginning of time on has no measurement before it.
  const again = `lake_seen seen join lake_blind blind on blind.resource = $1 and blind.scope is null and seen.resource = $1
                            and blind.began > '-infinity' and seen.began > blind.began and seen.began < blind.ended`
  if ((await sql.query(`select from ${again} limit 1`, [resource])).length === 0) return ends.length
  await sql.query(`create index on pg_temp.${staged} (${[...series, time].join(', ')})`)
  const begins = await sql.query(
    `${insert('seen.began')}
       from ${again}
      cross join (select distinct ${key === '1' ? '1 as one' : key} from ${staged} lake) lake
      ${latest(staged, 'seen.began')}
      where version.${time} >= coalesce($2::timestamptz, '-infinity') and version.${time} <= blind.began
     on conflict do nothing returning 1`,
    [resource, since],
  )
  return ends.length + begins.length
}

/**
 * Inserts staged sessions, and ends those that a former import left open. Only where all responses of the resource come from
 * this lake: an end between two responses says nothing when a third one, of this database or another lake, lies between.
 * @returns rows of the lake that are in the table now and were not before
 */
export async function mergeSessions(
  sql: Sql,
  { table, resource, time }: RowsTable,
  { staged, sourceId }: { readonly staged: string; readonly sourceId: string },
): Promise<number> {
  if (!(await isOnlyFrom(sql, resource, sourceId))) return 0
  const named = await sql.query<{ name: string; place: number | null }>(
    `select quote_ident(attname) as name, array_position(conkey, attnum) as place
       from pg_attribute left join pg_constraint on conrelid = attrelid and contype = 'p'
      where attrelid = $1::regclass and attnum > 0 and not attisdropped`,
    [table],
  )
  const all = named.map(({ name }) => name)
  const key = named.filter(({ place }) => place !== null).map(({ name }) => `own.${name} = lake.${name}`)
  const values = named.filter(({ place }) => place === null).map(({ name }) => `${name} = lake.${name}`)
  // Before what is new, because a player has one open session.
  await sql.query(`update ${table} own set ${values.join(', ')} from ${staged} lake where ${key.join(' and ')}`)
  const inserted = await sql.query(
    `insert into ${table} (${all.join(', ')}) select ${all.join(', ')} from ${staged} order by ${time}
     on conflict do nothing returning 1`,
  )
  return inserted.length
}

/** The resources with sessions whose responses all come from one lake. */
export async function whoseSessionsCount(sql: Sql, sourceId: string): Promise<string[]> {
  const found: string[] = []
  for (const one of takenTables)
    if (one.kind === 'rows' && one.isSession && (await isOnlyFrom(sql, one.resource, sourceId)))
      found.push(one.resource)
  return found
}

async function isOnlyFrom(sql: Sql, resource: string, sourceId: string): Promise<boolean> {
  const [row] = await sql.query<{ only: boolean }>(
    `select not exists (select from sync.source_span where resource = $1 and source_id <> $2)
        and not exists (select from sync.run where resource = $1 and status in ('ok', 'unchanged', 'partial')
                           and program not like '%, from a lake') as only`,
    [resource, sourceId],
  )
  return row?.only ?? false
}
