import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock as clock } from '../../src/base/clock.ts'
import { beforeOthers, type Database } from '../../src/db/database.ts'
import { openEmbedded } from '../../src/db/embedded/embedded.ts'
import { testDataDir } from '../support/postgres.ts'

const ROWS = 200_000

/** What the planner knows of the table; -1: nothing. */
async function rowsKnown(db: Database): Promise<number | undefined> {
  const [row] = await db.query<{ rows: number }>(`select reltuples as rows from pg_class where oid = 't'::regclass`)
  return row?.rows
}

test('a poll comes between the tables that are analyzed after much was written, and the process ends with all of them', async () => {
  const dataDir = await testDataDir({ migrated: false })
  const db = await openEmbedded(dataDir, { clock })
  await db.transaction((sql) => sql.query('create table t (name text)'))
  await db.transaction((sql) =>
    sql.query(`insert into t select md5(n::text) || md5(n::text) from generate_series(1, ${ROWS}) n`),
  )
  // It is the newest table, and so the last one.
  expect(await beforeOthers(() => rowsKnown(db))).toBe(-1)
  await db.close()
  const again = await openEmbedded(dataDir, { clock })
  onTestFinished(() => again.close())
  expect(await rowsKnown(again)).toBe(ROWS)
})

test('a process that is told to end leaves the tables that are not analyzed yet for the next one', async () => {
  const dataDir = await testDataDir({ migrated: false })
  const ending = new AbortController()
  const db = await openEmbedded(dataDir, { clock, ending: ending.signal })
  await db.transaction((sql) => sql.query('create table t (name text)'))
  await db.transaction((sql) =>
    sql.query(`insert into t select md5(n::text) || md5(n::text) from generate_series(1, ${ROWS}) n`),
  )
  ending.abort()
  await db.close()
  expect(readFileSync(join(dataDir, 'vacuumed'), 'utf8')).toBe('0')
  const again = await openEmbedded(dataDir, { clock })
  onTestFinished(() => again.close())
  expect(await rowsKnown(again)).toBe(-1)
})
