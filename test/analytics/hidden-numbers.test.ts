import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { testDatabase } from '../support/postgres.ts'

/** A player about whom nothing is known, who may have been online whenever anybody was hidden: from 06:00 to 06:30. */
const stranger = '00000000-0000-4000-8000-000000000001'

describe('playtime of a player who may have been hidden', () => {
  let db: Database
  beforeAll(async () => {
    db = await testDatabase('server')
    await db.query(`
      insert into sync.run (run_id, resource, program, started_at, finished_at, status, observed_from, observed_at, complete, requests, pages, records, changed, living, content_hash)
      select gen_random_uuid(), 'online-players', 'test', at, at, 'ok', at, at, true, 1, 1, 1, 0, 1, '\\x00'
        from generate_series(timestamptz '2026-05-01 00:00Z', '2026-05-01 12:30Z', '30 seconds') at`)
    await db.query(`insert into sync.expectation (resource, valid_from, every_seconds, told_by)
                    values ('online-players', '2026-05-01 00:00Z', 30, 'start')`)
  })

  test.each([
    ['few', "interval '6 hours'"],
    ['more than a thousand', "interval '30 seconds'"],
  ])('is bounded alike by %s numbers without hidden players', async (_, apart) => {
    await db.query('delete from game.online_sample')
    await db.query(`
      insert into game.online_sample (observed_at, total, listed, hidden)
      select at, 9, 9, 0 from generate_series(timestamptz '2026-05-01 00:00Z', '2026-05-01 12:30Z', ${apart}) at
       where at not between '2026-05-01 06:00Z' and '2026-05-01 06:30Z'
       union all
      values (timestamptz '2026-05-01 06:00Z', 9, 6, 3), ('2026-05-01 06:30Z', 9, 9, 0)`)
    const rows = await db.values('select seconds_min, seconds_max from analytics.player_playtime($1, $2, $3)', [
      stranger,
      '2026-05-01T00:00:00Z',
      '2026-05-01T12:00:00Z',
    ])
    expect(rows).toEqual([[0, 1800]])
  })
})
