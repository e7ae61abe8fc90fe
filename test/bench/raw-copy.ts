import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import postgres from 'postgres'
import { copyStatement } from '../../src/db/bulk/copy-columns.ts'
import { copyText } from '../../src/db/bulk/copy-text.ts'
import type { CopyValue, Database, Sql } from '../../src/db/database.ts'

/** The least that getting given rows into given tables can cost: COPY, in one transaction, and nothing else. */
export interface RawCopy {
  /** What is given to COPY, for the table of results. */
  readonly how: string
  /** Keeps what these tables hold now, in this order. */
  remember(tables: readonly string[]): Promise<void>
  /** Puts it into the tables. */
  copy(): Promise<void>
}

/** Without it the end of each COPY waits for a delayed acknowledgement, which raw COPY should not be blamed for. */
const PROMPT = {
  socket: ({ host, port }: { host: string[]; port: number[] }) =>
    connect({ host: host[0] ?? 'localhost', port: port[0] ?? 5432, noDelay: true }),
}

/** Text of COPY made beforehand and sent as it is, past everything of ours. */
export function readyText(db: Database, url: string): RawCopy {
  const kept: { statement: string; pieces: Buffer[] }[] = []
  return {
    how: 'ready-made text',
    remember: async (tables) => {
      for (const table of tables) {
        const columns = await columnsOf(db, table)
        const pieces: Buffer[] = []
        await eachSlice(db, table, columns, (rows) => {
          for (const { text } of copyText(columns, rows)) pieces.push(Buffer.from(text))
        })
        kept.push({ statement: copyStatement(table, columns, 'stdin'), pieces })
      }
    },
    copy: async () => {
      const client = postgres(url, { max: 1, onnotice: () => {}, ...PROMPT })
      await client.begin(async (sql) => {
        for (const { statement, pieces } of kept) {
          await pipeline(Readable.from(pieces), await sql.unsafe(statement).writable())
        }
      })
      await client.end()
    },
  }
}

/** Values that are text already. For the embedded database, which has one session, and that is ours. */
export function readyValues(db: Database): RawCopy {
  const kept: { table: string; columns: string[]; rows: CopyValue[][] }[] = []
  return {
    how: 'ready-made values',
    remember: async (tables) => {
      for (const table of tables) {
        const columns = await columnsOf(db, table)
        const rows: CopyValue[][] = []
        await eachSlice(db, table, columns, (slice) => {
          for (const row of slice) rows.push(row)
        })
        kept.push({ table, columns, rows })
      }
    },
    copy: () =>
      db.transaction(async (sql) => {
        for (const { table, columns, rows } of kept) await sql.copy(table, columns, rows)
      }),
  }
}

async function columnsOf(sql: Sql, table: string): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    'select attname::text as name from pg_attribute where attrelid = $1::regclass and attnum > 0 order by attnum',
    [table],
  )
  return rows.map(({ name }) => name)
}

/** Reads a table in the order it was written, all values as text, in slices that fit into memory. */
async function eachSlice(
  db: Database,
  table: string,
  columns: readonly string[],
  take: (rows: CopyValue[][]) => void,
): Promise<void> {
  const texts = columns.map((name) => `"${name}"::text`).join(', ')
  await db.transaction(async (sql) => {
    await sql.query(`declare slices cursor for select ${texts} from ${table}`)
    for (;;) {
      const rows = await sql.values('fetch 20000 from slices')
      if (rows.length === 0) return
      take(rows as CopyValue[][])
    }
  })
}
