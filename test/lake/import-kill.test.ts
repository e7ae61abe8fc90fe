import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { FatalError } from '../../src/base/errors.ts'
import type { Database } from '../../src/db/database.ts'
import { exportLake } from '../../src/lake/export.ts'
import { importLake } from '../../src/lake/import/import.ts'
import { openPlace } from '../../src/lake/read/place.ts'
import { fillYear } from '../bench/year/fill.ts'
import { cutAt } from '../support/cut.ts'
import { different, linesOf } from '../support/lake-folder.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'

const until = new Date('2026-06-01T12:00Z')
const extent = { until, days: 1, guilds: 3, territories: 12, items: 30, seed: 1 }
const clock = virtualClock(until.getTime())
const onProgress = () => {}

/** Worked out anew by maintenance, or about this installation. */
const notCompared = ['sync.coverage_hour', 'sync.coverage_reach', 'sync.work_item', 'sync.tier']
/** The statements before which the database fails, as shares of all. */
const cuts = [0.1, 0.4, 0.7, 1]

async function importInto(db: Database, folder: string) {
  return await importLake(db, openPlace(folder), { clock, maxBytes: 1e9, onProgress })
}

describe('an import whose database fails', () => {
  let source: Database
  let folder: string
  let statements = 0
  let tables: readonly string[] = []
  beforeAll(async () => {
    source = await testDatabase('server')
    await fillYear(source, extent)
    folder = join(await temporaryFolder(), 'lake')
    await exportLake(source, folder, { clock, program: 'test', people: true, keepMs: 0, onProgress })
    const count = async () => {
      statements += 1
    }
    const done = await importInto(cutAt(await testDatabase('server'), { at: 0, act: count }), folder)
    tables = done.tables.map(({ table }) => table).filter((table) => !notCompared.includes(table))
    expect(statements).toBeGreaterThan(100)
  })

  test.each(cuts)('after %d of its statements refuses no file, and goes on to the same rows', async (share) => {
    const db = await testDatabase('server')
    // As the embedded database fails where its disk is full.
    const failure = new FatalError('the embedded database failed', { context: { sqlState: '58000' } })
    const at = 1 + Math.round(share * (statements - 1))
    const failing = cutAt(db, { at, act: () => Promise.reject(failure) })
    await expect(importInto(failing, folder)).rejects.toBe(failure)
    expect((await importInto(db, folder)).refused).toEqual([])
    for (const table of tables)
      expect([table, different(await linesOf(db, table), await linesOf(source, table))]).toEqual([table, [[], []]])
    expect(await wrongRows(db)).toEqual([])
  })
})
