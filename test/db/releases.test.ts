import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { effort } from '../support/effort.ts'
import { migrateAll, testDatabase, testDatabaseUrl } from '../support/postgres.ts'
import { dumpRelease, readDumps } from './releases/dump.ts'
import { tablesOf } from './releases/fill.ts'
import { describeSchema } from './releases/schema.ts'

/** Tests of all dumps take long; these are what an edited migration would have blocked, and the newest. */
const dumps = Object.entries(readDumps()).filter(
  ([name], index, all) => effort.everyAnswer || /_items$|\.1$/.test(name) || index === all.length - 1,
)

/** Columns that got another name since: `table.old` -> new. */
const renamed: Readonly<Record<string, string>> = Object.fromEntries(
  ['left', 'right', 'above', 'under', 'touching', 'not_touching'].map((name) => [
    `game.item_ingredient.${name}`,
    `on_${name}`,
  ]),
)

/** Tables that are gone: what was in them is in another one, as a test of its own says. */
const moved = new Set(['sync.absence', 'sync.unconfirmed_version'])

type Content = Record<string, Record<string, unknown>[]>

async function contentOf(db: Database, tables: readonly string[]): Promise<Content> {
  const content: Content = {}
  for (const table of tables) {
    const rows = await db.query<{ row: Record<string, unknown> }>(`select to_jsonb(each) as row from ${table} each`)
    content[table] = rows.map(({ row }) => row)
  }
  return content
}

/** Rows by the columns that the earlier schema had, in an order that does not depend on the table. */
function comparable(rows: readonly Record<string, unknown>[], columns: readonly (readonly [string, string])[]) {
  return rows.map((row) => JSON.stringify(columns.map(([from, to]) => [to, row[from]]))).sort()
}

/** Restores a dump into an empty database. Its own connection, because a dump changes the session's settings. */
async function restored(dump: string): Promise<Database> {
  const url = await testDatabaseUrl({ migrated: false })
  const restoring = await openServer(url)
  await restoring.query(dump)
  await restoring.close()
  return openServer(url)
}

describe('a database of every schema that main has ever had', () => {
  let present: string[]
  beforeAll(async () => {
    present = await describeSchema(await testDatabase('server'))
  })

  test.each(dumps)('%s migrates to the schema of a new one and keeps every row', async (_, dump) => {
    const db = await restored(dump)
    try {
      const tables = (await tablesOf(db)).filter((table) => !moved.has(table))
      const before = await contentOf(db, tables)
      expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([])
      await migrateAll(db)
      const after = await contentOf(db, tables)
      for (const [table, rows] of Object.entries(before)) {
        const columns = Object.keys(rows[0] ?? {})
        const now = columns.map((name) => renamed[`${table}.${name}`] ?? name)
        expect({
          table,
          rows: comparable(
            after[table] ?? [],
            now.map((name) => [name, name]),
          ),
        }).toEqual({
          table,
          rows: comparable(
            rows,
            columns.map((name, index) => [name, now[index] ?? name]),
          ),
        })
      }
      // A file that has moved since keeps its line under the earlier name.
      const migrated = await describeSchema(db)
      expect(migrated.filter((line) => !line.startsWith('installed ') || present.includes(line))).toEqual(present)
    } finally {
      await db.close()
    }
  })
})

// Adds a dump: WYNNSYNC_DUMP=name [WYNNSYNC_DUMP_OF=checkout] TEST_DATABASE_URL=... npx vitest run ... test/db/releases.test.ts
const { WYNNSYNC_DUMP: name, WYNNSYNC_DUMP_OF: checkout } = process.env
if (name)
  test('writes the dump of a checkout', async () => {
    await dumpRelease(checkout ?? fileURLToPath(new URL('../../', import.meta.url)), name)
  })
