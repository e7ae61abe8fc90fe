import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { FOREVER } from '../../src/db/bulk/values.ts'
import { integer, text } from '../../src/db/columns.ts'
import type { Database, Sql } from '../../src/db/database.ts'
import { historyTable, partTable } from '../../src/db/history.ts'
import { game } from '../../src/db/schemas.ts'
import { typed } from '../../src/db/typed.ts'
import { bothKinds, testDatabase } from '../support/postgres.ts'
import { migrationSql } from '../support/schema-sql.ts'

const swords = historyTable(
  'swords',
  'Swords.',
  { smithId: text('Smith.'), ordinal: integer('Number.') },
  { level: integer('Level.').notNull() },
)
const gems = partTable(swords, 'sword_gems', 'Gems.', { slot: integer('Slot.') }, { colour: text('Colour.').notNull() })

const day = (number: number) => new Date(Date.UTC(2026, 0, number))

interface Version {
  readonly from: number
  readonly until?: number
  readonly previous?: number
  readonly ordinal?: number
}

async function insert(sql: Sql, ...versions: Version[]): Promise<void> {
  for (const { from, until, previous, ordinal = 1 } of versions)
    await sql.query(
      `insert into game.swords (smith_id, ordinal, level, valid_from, valid_until, previous_until, hash)
       values ('smith', $1, 1, $2, $3, $4, '\\x00')`,
      [ordinal, day(from), until === undefined ? FOREVER : day(until), previous === undefined ? null : day(previous)],
    )
}

const violates = (constraint: string) => ({ context: { constraint } })

describe.each(bothKinds)('the versions of a key on the %s database', (kind) => {
  let db: Database
  const insertTogether = (...versions: Version[]) => db.transaction((sql) => insert(sql, ...versions))

  beforeAll(async () => {
    db = await testDatabase(kind, { migrated: false })
    await db.query(await migrationSql({ game, swords, gems }))
  })

  beforeEach(async () => {
    await db.query('truncate game.swords cascade')
  })

  test('may follow one another without a gap, or after one', async () => {
    await insertTogether({ from: 1, until: 3 }, { from: 3, until: 5, previous: 3 }, { from: 9, previous: 5 })
    expect(await db.query('select count(*) as n from game.swords')).toEqual([{ n: 3 }])
  })

  test('may be loaded in any order within one transaction', async () => {
    await insertTogether({ from: 9, previous: 5 }, { from: 3, until: 5, previous: 3 }, { from: 1, until: 3 })
    expect(await db.query('select count(*) as n from game.swords')).toEqual([{ n: 3 }])
  })

  test('are closed and followed by the next one in two statements', async () => {
    await insertTogether({ from: 1 })
    await db.transaction(async (sql) => {
      await sql.query('update game.swords set valid_until = $1 where valid_until = $2', [day(4), FOREVER])
      await insert(sql, { from: 4, previous: 4 })
    })
    expect(await db.values('select valid_from, valid_until from game.swords order by 1')).toEqual([
      [day(1), day(4)],
      [day(4), FOREVER],
    ])
  })

  test('of different keys know nothing of each other', async () => {
    await insertTogether({ from: 1 }, { from: 1, ordinal: 2 })
    expect(await db.query('select count(*) as n from game.swords')).toEqual([{ n: 2 }])
  })

  test('are refused when two begin a chain', async () => {
    await expect(insertTogether({ from: 1, until: 3 }, { from: 3 })).rejects.toMatchObject(violates('swords_start'))
    await expect(insertTogether({ from: 5, until: 7 }, { from: 1, until: 3 })).rejects.toMatchObject(
      violates('swords_start'),
    )
  })

  test('are refused when two are current', async () => {
    await expect(insertTogether({ from: 1 }, { from: 3, previous: 2 })).rejects.toMatchObject(violates('swords_end'))
  })

  test('are refused when they overlap', async () => {
    await expect(insertTogether({ from: 1, until: 5 }, { from: 3, previous: 5 })).rejects.toMatchObject(
      violates('swords_after'),
    )
  })

  test('are refused when one lies within another', async () => {
    const around = { from: 1, until: 9 }
    await expect(insertTogether(around, { from: 3, until: 5, previous: 9 })).rejects.toMatchObject(
      violates('swords_after'),
    )
    await expect(insertTogether(around, { from: 3, until: 5, previous: 2 })).rejects.toMatchObject(
      violates('swords_chain'),
    )
  })

  test('are refused when they are equal', async () => {
    await expect(insertTogether({ from: 1, until: 3 }, { from: 1, until: 3, previous: 1 })).rejects.toMatchObject(
      violates('swords_pkey'),
    )
  })

  test('are refused when two follow the same one', async () => {
    const branches = [
      { from: 1, until: 3 },
      { from: 3, until: 5, previous: 3 },
      { from: 4, until: 6, previous: 3 },
    ]
    await expect(insertTogether(...branches)).rejects.toMatchObject(violates('swords_start'))
  })

  test('are refused when they follow an end that does not exist', async () => {
    await expect(insertTogether({ from: 1, until: 3 }, { from: 4, previous: 4 })).rejects.toMatchObject(
      violates('swords_chain'),
    )
  })

  test('are refused when the end that another one follows is moved away', async () => {
    await insertTogether({ from: 1, until: 3 }, { from: 3, previous: 3 })
    await expect(
      db.query('update game.swords set valid_until = $1 where valid_until = $2', [day(5), day(3)]),
    ).rejects.toMatchObject(violates('swords_chain'))
  })

  test('are refused when they end before they begin, or at once', async () => {
    await expect(insertTogether({ from: 3, until: 1 })).rejects.toMatchObject(violates('swords_order'))
    await expect(insertTogether({ from: 3, until: 3 })).rejects.toMatchObject(violates('swords_order'))
  })

  test('never follow themselves', async () => {
    await expect(insertTogether({ from: 1, until: 3, previous: 3 })).rejects.toMatchObject(violates('swords_after'))
  })

  test('own their parts: none without a version, and gone with it', async () => {
    await insertTogether({ from: 1 })
    const insertGem = `insert into game.sword_gems (smith_id, ordinal, valid_from, slot, colour) values ('smith', 1, $1, 1, 'red')`
    await expect(db.query(insertGem, [day(2)])).rejects.toMatchObject(violates('sword_gems_root'))
    await db.query(insertGem, [day(1)])
    await db.query('delete from game.swords')
    expect(await db.query('select * from game.sword_gems')).toEqual([])
  })

  test('are read and written by typed queries with Dates, bytes and infinity', async () => {
    const row = { smithId: 'smith', ordinal: 1, level: 7, validFrom: day(1), hash: new Uint8Array([0, 255]) }
    await typed(db)
      .insert(swords)
      .values({ ...row, extra: { unknown: ['field'] } })
    expect(await typed(db).select().from(swords)).toEqual([
      { ...row, validUntil: FOREVER, previousUntil: null, extra: { unknown: ['field'] } },
    ])
    await typed(db).update(swords).set({ validUntil: FOREVER, extra: null })
    expect(await typed(db).select({ until: swords.validUntil, extra: swords.extra }).from(swords)).toEqual([
      { until: FOREVER, extra: null },
    ])
  })
})
