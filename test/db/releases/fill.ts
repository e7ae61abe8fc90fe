import { createHash } from 'node:crypto'
import type { Sql } from '../../../src/db/database.ts'

interface Column {
  readonly name: string
  readonly type: string
  /** The column of the parent that it refers to, with the parent's table. */
  readonly parent: string | null
  readonly parentColumn: string | null
  readonly isKey: boolean
}

const ROWS = 4
const START = Date.UTC(2026, 0, 1)

/** Tables of schemas `game` and `sync` that hold data, parents before their parts. */
export async function tablesOf(sql: Sql): Promise<string[]> {
  const rows = await sql.values(
    `select relnamespace::regnamespace || '.' || relname from pg_class
      where relnamespace in ('game'::regnamespace, 'sync'::regnamespace) and relkind in ('r', 'p') and relname not in ('installed_sql', 'installed_program')
      order by (select count(*) from pg_constraint where conrelid = pg_class.oid and contype = 'f' and confrelid <> conrelid), 1`,
  )
  return rows.map(([name]) => String(name))
}

/** Fills every table with a few rows that are the same each time: players, guilds and instants agree between the tables. */
export async function fill(sql: Sql): Promise<void> {
  const filled = new Map<string, Record<string, unknown>[]>()
  for (const table of await tablesOf(sql)) {
    const columns = await columnsOf(sql, table)
    const rows = Array.from({ length: ROWS }, (_, index) => rowOf(table, columns, index, filled))
    filled.set(table, rows)
    const names = columns.map(({ name }) => `"${name}"`).join(', ')
    await sql.query(
      `insert into ${table} (${names}) select ${names} from jsonb_populate_recordset(null::${table}, $1::text::jsonb)`,
      [JSON.stringify(rows)],
    )
  }
}

async function columnsOf(sql: Sql, table: string): Promise<Column[]> {
  return await sql.query<Column>(
    `select own.attname::text as name, format_type(own.atttypid, null) as type,
            parent.confrelid::regclass::text as parent,
            (select attname::text from pg_attribute
              where attrelid = parent.confrelid and attnum = parent.confkey[array_position(parent.conkey, own.attnum)]) as "parentColumn",
            exists (select from pg_constraint where conrelid = own.attrelid and contype = 'p' and own.attnum = any(conkey)) as "isKey"
       from pg_attribute own
       left join pg_constraint parent on parent.conrelid = own.attrelid and parent.contype = 'f'
                                     and parent.confrelid <> parent.conrelid and own.attnum = any(parent.conkey)
      where own.attrelid = $1::text::regclass and own.attnum > 0 and not own.attisdropped and own.attidentity = ''
      order by own.attnum`,
    [table],
  )
}

function rowOf(
  table: string,
  columns: readonly Column[],
  index: number,
  filled: ReadonlyMap<string, Record<string, unknown>[]>,
): Record<string, unknown> {
  const isHistory = columns.some(({ name }) => name === 'previous_until')
  const row: Record<string, unknown> = {}
  for (const { name, type, parent, parentColumn, isKey } of columns) {
    // Two versions of each key, so the key changes every second row.
    const number = isHistory && isKey ? Math.floor(index / 2) : index
    row[name] =
      parent !== null && parentColumn !== null
        ? filled.get(parent)?.[index]?.[parentColumn]
        : syntheticValue(name, type, number)
  }
  if (isHistory) Object.assign(row, versionOf(index))
  if (table === 'sync.privacy_action') row[index % 2 === 0 ? 'player_hash' : 'player_uuid'] = null
  return row
}

/** The first version of a key ends where the second begins, which is current. */
function versionOf(index: number) {
  const isFirst = index % 2 === 0
  return {
    valid_from: instant(index),
    valid_until: isFirst ? instant(index + 1) : 'infinity',
    previous_until: isFirst ? null : instant(index),
  }
}

function syntheticValue(name: string, type: string, number: number): unknown {
  switch (type) {
    case 'uuid':
      return uuidOf(`${name.replace(/^(from|to)_/, '')} ${number}`)
    case 'timestamp with time zone':
      return instant(number)
    case 'boolean':
      return number % 2 === 0
    case 'bytea':
      return `\\x${createHash('sha256').update(`${name} ${number}`).digest('hex')}`
    case 'json':
    case 'jsonb':
      return { [name]: number }
    case 'text':
      return `${name} ${number}`
    case 'text[]':
      return [`${name} ${number}`, 'another']
    default:
      return number + 1
  }
}

function instant(number: number): string {
  return new Date(START + number * 3_600_000).toISOString()
}

function uuidOf(text: string): string {
  const hex = createHash('md5').update(text).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
