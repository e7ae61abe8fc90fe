import { countOf } from '../../db/count-of.ts'
import type { Sql } from '../../db/database.ts'
import type { RowsTable } from '../../sync/declare/written-tables.ts'
import { averageTablesAgain } from '../../sync/respond/load-response.ts'
import { isOfLake, isOtherObservation } from './blind.ts'
import { refuseLoss } from './merge-versions.ts'
import type { Import } from './plan.ts'
import { isRestricted, rulesOf } from './row-rules.ts'
import { takenTables } from './taken-tables.ts'

/** What is staged of a table of rows. */
interface StagedPart {
  readonly staged: string
  /** Rows before it are left out: the lake has compacted them, and this database has not. */
  readonly since: Date | null
  /** SQL: which rows of the table these are all of, where all were read; what came from the lake and is not among them goes. */
  readonly whole?: string | undefined
}

/**
 * SQL: the rows of a table, `own`, of which a step has all that the lake has. Undefined where that is not known: of what was compacted,
 * and of rows in which no player is named any more.
 */
export async function wholeOf(
  { plan, compacted }: Import,
  { table, time, isAverage }: RowsTable,
  { sql, month, restricted }: { readonly sql: Sql; readonly month: string | null; readonly restricted: number },
): Promise<string | undefined> {
  const begins = plan.tables.get(table)?.time
  if (!compacted || isAverage || begins === undefined) return undefined
  if (restricted > 0 && !(await rulesOf(sql, table, new Date(0))).required.includes('player_uuid')) return undefined
  const fine = `own.${time} >= '${compacted.get(table)?.toISOString() ?? '-infinity'}'`
  if (month === null) return fine
  const first = `timestamptz '${month}-01T00:00:00Z'`
  return `${fine} and own.${begins} >= ${first} and own.${begins} < (${first} at time zone 'UTC' + interval '1 month') at time zone 'UTC'`
}

/**
 * Inserts staged rows whose instant lies where this database was blind, and removes those that came from the lake and that it
 * does not have any more. A sample holds until the next one of its series, so what this database measured last holds again
 * from the end of such an interval on, and what the lake's database measured before this interval, from where it began to
 * observe again. In the transaction of `lake_blind`, `lake_span` and `lake_seen`.
 * @returns rows of the lake that are in the table now and were not before
 * @throws FatalError when more than half of what came from the lake would go
 */
export async function mergeRows(sql: Sql, of: RowsTable, part: StagedPart): Promise<number> {
  const { table, resource, time, series, scope } = of
  const { staged, since } = part
  const named = await sql.query<{ name: string }>(
    `select quote_ident(attname) as name from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attidentity = ''`,
    [table],
  )
  const names = named.map(({ name }) => name)
  const blind = `blind.resource = $1 and ${scope ? `blind.scope = lake.${scope}::text` : 'blind.scope is null'}`
  const within = (row: string) => `${row}.${time} > blind.began and ${row}.${time} < blind.ended`
  const gone = await createGone(sql, of, part, cameFrom(of))
  const ends = series ? await holdAtEnds(sql, of, { names, blind, within }, staged) : 0
  await removeGone(sql, table)
  const merged = await countOf(
    sql,
    `insert into ${table} (${names.join(', ')})
     select ${names.map((name) => `lake.${name}`).join(', ')} from ${staged} lake
      where lake.${time} >= coalesce($2::timestamptz, '-infinity')
        and exists (select from lake_blind blind where ${blind} and ${within('lake')})
     on conflict do nothing returning 1`,
    [resource, since],
  )
  if (!series) return merged
  const held = ends + (await holdAtBegins(sql, of, part, names))
  const [oldest] = await sql.query<{ at: Date | null }>(
    `select least((select min(${time}) from ${staged}), (select min(${time}) from lake_gone)) as at`,
  )
  if (oldest?.at && merged + held + gone > 0) await averageTablesAgain(sql, [table], oldest.at)
  return merged
}

/**
 * SQL: whether a row of the table, `own`, came from the lake. Not those at the ends of an interval, where this database
 * observed or what was measured before holds again. Of a resource with a response per key only those that a response of the
 * lake about the key shows, and none from elsewhere: other databases may have observed other keys at that time.
 */
function cameFrom({ resource, time, scope }: RowsTable): string {
  const name = `'${resource}'`
  if (scope)
    return `coalesce((select bool_and(not ${isOtherObservation('one')}) from sync.observation one
                       where one.resource = ${name} and one.key = own.${scope}::text and one.observed_at = own.${time}), false)`
  return `own.${time} <= (select span.ended from lake_span span where span.resource = ${name} and span.began <= own.${time}
                           order by span.began desc limit 1)
    and not exists (select from (select resource, began as at from lake_blind union all select resource, ended from lake_blind
                                  union all
                                 select seen.resource, seen.began from lake_seen seen join lake_blind blind using (resource)
                                  where blind.began > '-infinity' and seen.began > blind.began and seen.began < blind.ended) held
                     where held.resource = ${name} and held.at = own.${time})`
}

/** Writes the rows that came from the lake and that it does not have any more, as they are here, into `lake_gone`. Returns how many. */
async function createGone(sql: Sql, { table }: RowsTable, part: StagedPart, came: string): Promise<number> {
  const { staged, whole } = part
  const columns = await sql.query<{ name: string; required: boolean }>(
    `select quote_ident(attname) as name, attnotnull as required from pg_attribute
      where attrelid = $1::regclass and attnum > 0 and not attisdropped and attidentity = ''`,
    [table],
  )
  const same = columns.map(
    ({ name, required }) => `lake.${name} ${required ? '=' : 'is not distinct from'} own.${name}`,
  )
  const free = columns.some(({ name }) => name === 'player_uuid')
    ? `(own.player_uuid is null or not (${isRestricted('own.player_uuid')}))`
    : 'true'
  await sql.query(
    `create temp table lake_gone on commit drop as select *, tableoid as lake_table, ctid as lake_row from ${table} limit 0`,
  )
  if (whole === undefined) return 0
  const [count] = await sql.query<{ had: number; now: number }>(
    `select (select count(*)::int from ${table} own where ${whole} and ${came} and ${free}) as had,
            (select count(*)::int from ${staged} own where ${whole} and ${came}) as now`,
  )
  refuseLoss(count?.had ?? 0, count?.now ?? 0, table)
  const gone = await countOf(
    sql,
    `insert into lake_gone select own.*, own.tableoid, own.ctid from ${table} own
      where ${whole} and ${came} and ${free} and not exists (select from ${staged} lake where ${same.join(' and ')})
     returning 1`,
  )
  return gone
}

async function removeGone(sql: Sql, table: string): Promise<void> {
  await sql.query(
    `delete from ${table} own using lake_gone gone where own.tableoid = gone.lake_table and own.ctid = gone.lake_row`,
  )
}

interface Parts {
  /** Columns of the table. */
  readonly names: readonly string[]
  /** SQL: which interval of blindness is one of a row of `lake`. */
  readonly blind: string
  /** SQL: whether the instant of a row lies in an interval. */
  readonly within: (row: string) => string
}

/** SQL of a statement that inserts rows again, with another instant. */
function holding({ table, time, series = [] }: RowsTable, names: readonly string[]) {
  const values = names.map((name) => (name === time ? '' : `version.${name}`))
  const same = series.map((name) => `before.${name} = lake.${name}`).join(' and ') || 'true'
  return {
    insert: (at: string) =>
      `insert into ${table} (${names.join(', ')}) select ${values.map((value) => value || at).join(', ')}`,
    key: series.length > 0 ? series.map((name) => `lake.${name}`).join(', ') : '1',
    latest: (from: string, at: string) =>
      `cross join lateral (select before.* from ${from} before where ${same} and before.${time} <= ${at}
                            order by before.${time} desc limit 1) version`,
  }
}

/** What holds at the end of an interval of blindness, before anything is changed in it. Returns the new rows. */
async function holdAtEnds(sql: Sql, of: RowsTable, { names, blind, within }: Parts, staged: string): Promise<number> {
  const { insert, key, latest } = holding(of, names)
  const all = names.join(', ')
  const ends = await countOf(
    sql,
    `${insert('ends.ended')}
       from (select distinct on (${key}, blind.ended) lake.*, blind.ended
               from (select ${all} from ${staged} union all select ${all} from lake_gone) lake
               join lake_blind blind on ${blind} and ${within('lake')} and blind.ended < 'infinity') ends
      ${latest(of.table, 'ends.ended').replaceAll('lake.', 'ends.')}
     on conflict do nothing returning 1`,
    [of.resource],
  )
  return ends
}

/** What holds where the lake's database began to observe in an interval of blindness. Returns the new rows. */
async function holdAtBegins(
  sql: Sql,
  of: RowsTable,
  { staged, since }: StagedPart,
  names: readonly string[],
): Promise<number> {
  const { resource, time, series = [] } = of
  const { insert, key, latest } = holding(of, names)
  // What holds from the beginning of time on has no measurement before it.
  const again = `lake_seen seen join lake_blind blind on blind.resource = $1 and blind.scope is null and seen.resource = $1
                            and blind.began > '-infinity' and seen.began > blind.began and seen.began < blind.ended`
  if ((await sql.query(`select from ${again} limit 1`, [resource])).length === 0) return 0
  await sql.query(`create index on pg_temp.${staged} (${[...series, time].join(', ')})`)
  const begins = await countOf(
    sql,
    `${insert('seen.began')}
       from ${again}
      cross join (select distinct ${key === '1' ? '1 as one' : key} from ${staged} lake) lake
      ${latest(staged, 'seen.began')}
      where version.${time} >= coalesce($2::timestamptz, '-infinity') and version.${time} <= blind.began
     on conflict do nothing returning 1`,
    [resource, since],
  )
  return begins
}

/**
 * Inserts staged sessions, ends those that a former import left open, and removes those that the lake does not have any more. Only where all responses of the resource come from
 * this lake: an end between two responses says nothing when a third one, of this database or another lake, lies between.
 * @returns rows of the lake that are in the table now and were not before
 */
export async function mergeSessions(sql: Sql, of: RowsTable, part: StagedPart, sourceId: string): Promise<number> {
  const { table, resource } = of
  const { staged } = part
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
  await createGone(sql, of, part, 'true')
  await removeGone(sql, table)
  const inserted = await countOf(
    sql,
    `insert into ${table} (${all.join(', ')}) select ${all.join(', ')} from ${staged} order by ${of.time}
     on conflict do nothing returning 1`,
  )
  return inserted
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
                           and not ${isOfLake('run')}) as only`,
    [resource, sourceId],
  )
  return row?.only ?? false
}
