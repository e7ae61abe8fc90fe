import { createHash } from 'node:crypto'
import { quoted } from '../db/bulk/copy-columns.ts'
import type { Sql } from '../db/database.ts'
import { listTables } from '../db/move/copied-table.ts'
import { resources } from '../resources/index.ts'
import { inProfiles } from '../resources/personal.ts'
import { writtenTables } from '../sync/declare/written-tables.ts'
import { engineNaming } from '../sync/privacy/named-columns.ts'

/** Of the engine's tables, those that say what was observed, and when; the others belong to one installation. */
const OF_ENGINE = 'run observation answer_span coverage_hour expectation gap tier unsent unread claim'
  .split(' ')
  .map((name) => `sync.${name}`)

/** Tables about single keys, which can have a player in them: the column, and of which rows a lake has any (SQL). */
const BY_KEY: Readonly<Record<string, { readonly column: string; readonly rows: string }>> = {
  'sync.unread': { column: 'key', rows: 'true' },
  // The others wait for responses to this installation, and say nothing of what was so.
  'sync.claim': { column: 'subject', rows: `kind in ('missing', 'unread')` },
}

/** Columns that say when a row began, the best first. */
const TIMES =
  'captured_at changed_at valid_from observed_at received_at started_at hour began_at starts_at first_listed_at latest'

/** A column as it is read from Postgres and written to Parquet. */
interface LakeColumn {
  readonly name: string
  /** SQL of Postgres that gives its value as text, or NULL. */
  readonly text: string
  /** Whether the text may need quotes in CSV. */
  readonly quotes: boolean
  /** SQL of DuckDB that makes the value of the text. */
  readonly value: string
}

export interface LakeTable {
  /** Schema-qualified. */
  readonly name: string
  readonly columns: readonly LakeColumn[]
  /** SQL of the primary key; of a table without one, of its time. */
  readonly order: string
  /** SQL of the instant at which a row begins; undefined where rows have no time. */
  readonly time: string | undefined
  /** SQL: the month of it as `2026-05`. */
  readonly month: string | undefined
  /** Whether it can name players. */
  readonly isPersonal: boolean
  /** SQL: whether a row `kept` names the player of a row `pending`. Rows of who hides something are left out while that is pending. */
  readonly names: string | undefined
  /** SQL: which rows it has. */
  readonly rows: string
  /** Of a table about single keys: the column with them. */
  readonly keyed: string | undefined
  /** Columns that are NULL in the rows that would name a player. */
  readonly hidden: readonly string[]
  /** The type of each column in Postgres. */
  readonly types: Readonly<Record<string, string>>
  /** SHA-256 of the columns with their types, in hex. */
  readonly schema: string
  /** What the database says of the table, and of each column. */
  readonly comment: string
  readonly comments: Readonly<Record<string, string>>
}

interface CatalogueColumn {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly required: boolean
  /** Its place in the primary key, from 1. */
  readonly place: number | null
  readonly comment: string | null
  readonly ofTable: string | null
}

/** The tables that are exported, with their columns. @param people whether with what names players */
export async function lakeTables(sql: Sql, people: boolean): Promise<LakeTable[]> {
  const names = (await listTables(sql))
    .map(({ name }) => name)
    .filter((name) => name.startsWith('game.') || OF_ENGINE.includes(name))
  const columns = await sql.query<CatalogueColumn>(
    `select kept.name as table, attname::text as name, format_type(atttypid, null) as type, attnotnull as required,
            array_position(conkey, attnum) as place, col_description(attrelid, attnum) as comment,
            obj_description(attrelid, 'pg_class') as "ofTable"
       from unnest($1::text[]) kept(name)
       join pg_attribute on attrelid = to_regclass(kept.name) and attnum > 0 and not attisdropped
       left join pg_constraint on conrelid = attrelid and contype = 'p'
      order by kept.name, attnum`,
    [names],
  )
  return names.flatMap((name) =>
    tableOf(
      name,
      columns.filter(({ table }) => table === name),
      people,
    ),
  )
}

function tableOf(name: string, all: readonly CatalogueColumn[], people: boolean): LakeTable[] {
  const naming = namingOf(name)
  const shown = people ? all : all.filter((column) => naming.shownAs(column.name) !== 'left out')
  // Of rows about single players nothing is left but when they were observed.
  if (!people && naming.isAboutPlayers) return []
  const hidden = people ? [] : shown.map(({ name }) => name).filter((one) => naming.shownAs(one) === 'by resource')
  const columns = shown.map((column) => {
    const own = quoted(column.name)
    return columnOf(column, hidden.includes(column.name) ? `case when ${naming.isOther} then ${own} end` : own)
  })
  if (all.some((column) => column.name === 'valid_until'))
    columns.push({
      name: 'is_current',
      text: `(valid_until = 'infinity')::text`,
      quotes: false,
      value: 'is_current::boolean',
    })
  const key = all.filter(({ place }) => place !== null).sort((one, other) => (one.place ?? 0) - (other.place ?? 0))
  const time = TIMES.split(' ').flatMap((one) => all.find((column) => column.name === one && column.required) ?? [])[0]
  // As Parquet compares text, whatever the collation of the database.
  const order = (key.length > 0 ? key : time ? [time] : all).map((column) =>
    column.type === 'text' ? `${quoted(column.name)} collate "C"` : quoted(column.name),
  )
  const types = Object.fromEntries(shown.map((column) => [column.name, column.type]))
  const schema = createHash('sha256').update(JSON.stringify(columns)).digest('hex')
  const month = time && `to_char(${quoted(time.name)} at time zone 'UTC', 'YYYY-MM')`
  return [
    {
      name,
      columns,
      order: order.join(', '),
      time: time && quoted(time.name),
      month,
      isPersonal: naming.isPersonal,
      names: people ? naming.names : undefined,
      rows: people ? naming.rows : naming.rowsWithoutPlayers,
      keyed: BY_KEY[name]?.column,
      hidden,
      types,
      schema,
      comment: all[0]?.ofTable ?? '',
      comments: Object.fromEntries(shown.map((column) => [column.name, column.comment ?? ''])),
    },
  ]
}

/** Histories with players in their keys, as claims name them. */
const ofPlayers = resources
  .flatMap(writtenTables)
  .flatMap((one) => (one.kind === 'versions' && one.key.includes('player_uuid') ? [one.history] : []))

/** What the declarations that `privacy purge` works from say of a table. */
function namingOf(name: string) {
  const person = inProfiles.tables.find(({ table }) => table === name)
  const declared = [...engineNaming, ...inProfiles.naming].find(({ table }) => table === name)
  const named = new Set([
    ...(declared?.columns.map((column) => column.name) ?? []),
    ...(person ? ['player_uuid', person.username ?? 'player_uuid', ...(person.emptied ?? [])] : []),
  ])
  const resources = Object.keys(inProfiles.responses).map((one) => `'${one}'`)
  const byKey = BY_KEY[name]
  const rows = byKey?.rows ?? 'true'
  const shownAs = (column: string) =>
    !named.has(column) || column === byKey?.column
      ? 'whole'
      : declared?.hasResource && !person
        ? 'by resource'
        : 'left out'
  return {
    isPersonal: named.size > 0,
    names: person
      ? 'pending.player_uuid = kept.player_uuid'
      : byKey && `pending.player_uuid::text = any(string_to_array(kept.${byKey.column}, '/'))`,
    rows,
    rowsWithoutPlayers: byKey ? `${rows} and resource not in (${ofPlayers.map((one) => `'${one}'`).join(', ')})` : rows,
    isAboutPlayers: person !== undefined && person.emptied === undefined,
    isOther: `split_part(resource, '/', 1) not in (${resources.join(', ')})`,
    shownAs,
  }
}

/** Types of Postgres whose text DuckDB reads without quotes, and as what. A uuid stays text: Spark does not read Parquet's own type. */
const PLAIN: Readonly<Record<string, string>> = {
  uuid: 'varchar',
  boolean: 'boolean',
  smallint: 'smallint',
  integer: 'integer',
  bigint: 'bigint',
  real: 'float',
  'double precision': 'double',
}

function columnOf({ name, type }: CatalogueColumn, sql: string): LakeColumn {
  const own = quoted(name)
  if (type === 'timestamp with time zone')
    return {
      name,
      text: `(case when isfinite(${sql}) then ${sql} end)::text`,
      quotes: false,
      value: `${own}::timestamptz`,
    }
  const plain = PLAIN[type]
  if (plain) return { name, text: `(${sql})::text`, quotes: false, value: `${own}::${plain}` }
  if (type === 'bytea') return { name, text: `encode(${sql}, 'hex')`, quotes: false, value: `unhex(${own})` }
  if (type === 'text[]')
    return { name, text: `array_to_json(${sql})::text`, quotes: true, value: `from_json(${own}, '["VARCHAR"]')` }
  const value = type === 'jsonb' || type === 'json' ? `${own}::json` : own
  return { name, text: `(${sql})::text`, quotes: true, value }
}
