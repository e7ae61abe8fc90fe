import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { testDatabase } from '../support/postgres.ts'
import { wrongRows } from '../support/verified.ts'
import { callsOf } from './year/calls.ts'
import type { Extent } from './year/draws.ts'
import { countRows, fillYear } from './year/fill.ts'
import { largeScans } from './year/scans.ts'

const extent: Extent = {
  until: new Date('2026-06-03T00:00Z'),
  days: 2,
  guilds: 4,
  territories: 20,
  items: 120,
  seed: 1,
}

/** Tables that a year fills with more than a hundred thousand rows; the partitions of the others are many. */
const large =
  /game\.territory$|territory_(hold|capture)|player_listing|sync\.run|sync\.observation|territory_resource|(world|online|guild)_sample|member_(counter|presence)|player_(status|counter)|guild_season/

describe('a made-up stretch of history', () => {
  let db: Database
  beforeAll(async () => {
    db = await testDatabase('server')
    await fillYear(db, extent)
  })

  test('has what the engine writes, in chains and in months of their own', async () => {
    const rows = new Map((await countRows(db)).map((one) => [one.table, one.rows]))
    // 22.6 captures a day, more or less, and the first hold of each.
    expect(rows.get('game.territory_hold')).toBeGreaterThan(20 * 2 * 15)
    expect(rows.get('sync.run')).toBeGreaterThan(2 * (8640 + 2880) * 0.98)
    for (const table of [
      'game.member_counter',
      'game.player_listing',
      'game.world_sample',
      'game.field_change',
      'sync.gap',
    ])
      expect([table, (rows.get(table) ?? 0) > 0]).toEqual([table, true])
    expect(
      await db.query(`select relname from pg_class where relname like '%\\_rest' and relkind = 'r' and reltuples > 0`),
    ).toEqual([])
    // No hold begins before the one before it ends, and every end but one has a successor.
    expect(
      await db.query(
        `select territory from game.territory_hold group by 1 having count(previous_until) <> count(*) - 1`,
      ),
    ).toEqual([])
  })

  test('is what verify finds nothing wrong with', async () => {
    expect(await wrongRows(db)).toEqual([])
  })

  test('answers every question with something, and reads no large table as a whole for a part of it', async () => {
    const scanned: string[] = []
    const nothing: string[] = []
    for (const call of await callsOf(db, extent)) {
      const tables = await largeScans(db, call, { large: 0, asIfLarge: true })
      for (const table of tables.filter((name) => large.test(name)))
        scanned.push(`${call.question} ${call.of}: ${table}`)
      if ((await db.values(call.text, call.values)).length === 0) nothing.push(`${call.question} ${call.of}`)
    }
    expect(scanned).toEqual([])
    expect(nothing).toEqual([])
  })
})
