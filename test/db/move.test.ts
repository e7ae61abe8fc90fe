import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { migrateDatabase } from '../../src/app/app.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { type Moved, moveDatabase } from '../../src/db/move/move.ts'
import { growingTables } from '../../src/resources/index.ts'
import { repairPartitions } from '../../src/sync/retention/partitions.ts'
import { contentOf, partitionsOf } from '../support/database-content.ts'
import { bothKinds, testDatabase } from '../support/postgres.ts'
import { fill } from './releases/fill.ts'

const hostile = ['\\N', '\\.', 'tab\there', 'line\nfeed\r', '\u202ebidi \u001b[31m', '<b>', '"quoted, {}"', 'ünï 🂡', '']

/** Every table with rows, months of samples in partitions, texts that COPY escapes, and numbers that were used up. */
async function filledDatabase(kind: Database['kind']): Promise<Database> {
  const db = await testDatabase(kind)
  await fill(db)
  await db.query(
    `insert into game.world_sample (world, observed_at, online)
     select 'WC' || (nth % 40), timestamptz '2026-02-01' + nth / 40 * interval '1 day', nth % 50
       from generate_series(0, 7999) nth`,
  )
  for (const [nth, text] of hostile.entries())
    await db.query(
      `insert into sync.quarantine (resource, key, path, reason, raw, raw_hash, first_seen_at, run_id)
       select resource, $1::text, $1::text, $1::text, to_json($1::text), sha256(convert_to($1::text, 'UTF8')),
              timestamptz '2026-01-01' + $2::int * interval '1 microsecond', run_id from sync.quarantine limit 1`,
      [text, nth],
    )
  for (const table of growingTables) await repairPartitions(db, table, new Date('2026-12-01'))
  return db
}

const silent = { onProgress: () => undefined, onCopied: () => undefined }
const move = (
  source: Database,
  target: Database,
  options: Partial<Parameters<typeof moveDatabase>[2]> = {},
): Promise<Moved> => moveDatabase(source, target, { ...silent, ...options })

async function expectSame(source: Database, target: Database): Promise<void> {
  expect(await contentOf(target)).toEqual(await contentOf(source))
  expect(await partitionsOf(target)).toEqual(await partitionsOf(source))
}

const nextId = async (db: Database) => {
  const [[id] = []] = await db.values(`select nextval(pg_get_serial_sequence('sync.quarantine', 'id'))`)
  return Number(id)
}

describe.each(bothKinds)('a move into the %s database', (kind) => {
  const other = kind === 'server' ? 'embedded' : 'server'
  let source: Database
  let target: Database

  // Filling takes longer than a move: only the last test changes the source.
  beforeAll(async () => {
    source = await filledDatabase(other)
  })
  beforeEach(async () => {
    target = await testDatabase(kind)
  })

  test('copies every row, the partitions and where numbers go on, and leaves the source as it was', async () => {
    const before = await contentOf(source)
    const moved = await move(source, target)
    await expectSame(source, target)
    expect(await contentOf(source)).toEqual(before)
    expect((await partitionsOf(target)).length).toBeGreaterThan(12)
    expect(moved).toMatchObject({ resumed: 0, rows: expect.any(Number) })
    const samples = moved.tables.find(({ table }) => table === 'game.world_sample')
    expect(samples?.rows).toBe(8_004)
    const id = await nextId(source)
    expect([id > hostile.length, await nextId(target)]).toEqual([true, id])
    await migrateDatabase(target, { clock: systemClock })
  })

  test('refuses a database that has data of its own, and leaves it alone', async () => {
    await target.query(`insert into sync.backfill values (gen_random_uuid(), 'items', now(), now(), 1, null)`)
    await expect(move(source, target)).rejects.toThrow(/has data of its own, in sync.backfill: a move needs an empty/)
    await migrateDatabase(target, { clock: systemClock })
  })

  test('finds at the end what differs, and copies it again in the next call', async () => {
    const onCopied = (table: string) => {
      if (table === 'sync.claim') void target.query('delete from sync.claim')
    }
    await expect(move(source, target, { onCopied })).rejects.toThrow(
      /differs from the source in sync.claim; these tables were emptied/,
    )
    expect((await move(source, target)).resumed).toBeGreaterThan(50)
    await expectSame(source, target)
  })

  test('goes on after an interruption at any instant, with what changed in the source meanwhile', async () => {
    let calls = 0
    let copied = 0
    for (const stopAt of [1, 9, 30, 2, 40]) {
      calls = 0
      const stop = () => {
        calls++
        if (calls === stopAt) throw new Error('interrupted')
      }
      await expect(move(source, target, { onProgress: stop, onCopied: stop })).rejects.toThrow('interrupted')
      await expect(migrateDatabase(target, { clock: systemClock })).rejects.toThrow(
        'run the same `wynnsync move` again',
      )
      const [row] = await target.query<{ tables: number }>('select count(*) as tables from sync.move_progress')
      expect(row?.tables).toBeGreaterThanOrEqual(copied)
      copied = row?.tables ?? 0
    }
    // Parts refer to their roots, which are copied again with them.
    await source.query(`update game.item set display_name = 'Changed'`)
    await source.query(`delete from sync.claim`)
    const { resumed } = await move(source, target)
    expect(resumed).toBeGreaterThan(10)
    await expectSame(source, target)
  })
})
