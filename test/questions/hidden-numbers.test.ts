import { beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '../../src/db/database.ts'
import { testDatabase } from '../support/postgres.ts'

/** A player about whom nothing is known, who may have been online whenever anybody was hidden: from 06:00 to 06:30. */
const stranger = '00000000-0000-4000-8000-000000000001'

/** A player who restricts `onlineStatus` from the 2nd of May on. */
const secretive = '00000000-0000-4000-8000-000000000002'

const runsAt = (instants: string) => `
  insert into sync.run (run_id, resource, program, started_at, finished_at, status, observed_from, observed_at, complete, requests, pages, records, changed, living, content_hash)
  select gen_random_uuid(), 'online-players', 'test', at, at, 'ok', at, at, true, 1, 1, 1, 0, 1, '\\x00' from ${instants} one(at)`

describe('playtime of a player who may have been hidden', () => {
  let db: Database
  beforeAll(async () => {
    db = await testDatabase('server')
    await db.query(runsAt(`generate_series(timestamptz '2026-05-01 00:00Z', '2026-05-01 12:30Z', '30 seconds')`))
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

test('playtime of a day without responses is unknown, not zero', async () => {
  const db = await testDatabase('server')
  await db.query(runsAt(`generate_series(timestamptz '2026-05-02 00:00Z', '2026-05-02 23:59Z', '30 seconds')`))
  await db.query(runsAt(`generate_series(timestamptz '2026-05-04 00:00Z', '2026-05-04 12:00Z', '30 seconds')`))
  await db.query(`insert into sync.expectation (resource, valid_from, every_seconds, told_by)
                  values ('online-players', '2026-05-02 00:00Z', 30, 'start')`)
  await db.query(`insert into sync.gap (resource, began_at, ended_at, missed, reason)
                  values ('online-players', '2026-05-02 23:59Z', '2026-05-04 00:00Z', 2881, 'not running')`)
  const playtime = await db.values(
    `select day::text, seconds_min, seconds_max, seconds_estimate
       from analytics.player_playtime($1, '2026-05-01Z', '2026-05-06Z')`,
    [stranger],
  )
  expect(playtime).toEqual([
    ['2026-05-01', null, null, null],
    ['2026-05-02', 0, 0, 0],
    ['2026-05-03', null, null, null],
    ['2026-05-04', 0, 0, 0],
    ['2026-05-05', null, null, null],
  ])
})

describe('playtime of a player who hides, of hourly responses', () => {
  let db: Database
  const hour = 3600
  /** A number of every response: how many hide at each full hour. */
  async function hides(hidden: string) {
    await db.query('delete from game.online_sample')
    await db.query(`insert into game.online_sample (observed_at, total, listed, hidden)
      select run.observed_at, 9 + ${hidden}, 9, ${hidden}
        from sync.run cross join lateral (select extract(hour from run.observed_at at time zone 'UTC')::int as hour) clock`)
  }
  const playtime = async (player: string, from = '2026-05-01T00:00:00Z') =>
    await db.values(
      `select seconds_min, seconds_max, round(coverage::numeric, 3)::float8 as coverage, seconds_estimate
         from analytics.player_playtime($1, $2, '2026-05-04T00:00:00Z')`,
      [player, from],
    )

  beforeAll(async () => {
    db = await testDatabase('server')
    // The 2nd has a gap: after 14:00 the next response is that of 20:00. The last one is of the 3rd, 12:00.
    await db.query(
      runsAt(`(select hour from generate_series(timestamptz '2026-05-01 00:00Z', '2026-05-03 12:00Z', '1 hour') hour
                where not (hour > '2026-05-02 14:00Z' and hour < '2026-05-02 20:00Z'))`),
    )
    await db.query(`insert into sync.expectation (resource, valid_from, every_seconds, told_by)
                    values ('online-players', '2026-05-01 00:00Z', 3600, 'start')`)
    await db.query(`insert into sync.gap (resource, began_at, ended_at, missed, reason)
                    values ('online-players', '2026-05-02 14:00Z', '2026-05-02 20:00Z', 5, 'not running')`)
    await db.query(
      `insert into sync.privacy_restriction values ($1, 'onlineStatus', 'players/x', '2026-05-02 00:00Z')`,
      [secretive],
    )
  })

  test('is bounded by the watched time, not by the instants of the responses', async () => {
    await hides('3')
    const watched = [
      [0, 24 * hour, 1],
      // From 15:00 to 20:00 nobody looked.
      [0, 19 * hour, 0.792],
      // The time after the latest response, at 12:00, does not count; it covers the hour until 13:00.
      [0, 12 * hour, 0.542],
    ]
    expect(await playtime(stranger)).toEqual(watched.map((day) => [...day, 0]))
    expect(await playtime(secretive)).toEqual(watched.map((day, nth) => [...day, nth === 0 ? 0 : null]))
  })

  test.each([
    ['few', 0],
    ['more than a thousand', 1001],
  ])('is bounded by the responses around those with hidden players, with %s others', async (_, others) => {
    const most = async (hidden: string) => {
      await hides(hidden)
      await db.query(
        `insert into game.online_sample (observed_at, total, listed, hidden)
         select timestamptz '2026-04-30 00:00Z' + nth * interval '1 minute', 9, 9, 0 from generate_series(1, $1::int) nth`,
        [others],
      )
      return (await playtime(stranger, '2026-04-30T00:00:00Z')).slice(1).map(([, seconds]) => seconds)
    }
    // At 10:00 and 11:00: whoever hides then logged in after 09:00 and out before 12:00.
    expect(await most('case when clock.hour in (10, 11) then 3 else 0 end')).toEqual([3 * hour, 3 * hour, 3 * hour])
    // The 3rd ends at 12:00.
    expect(await most('case when clock.hour in (10, 13) then 3 else 0 end')).toEqual([4 * hour, 4 * hour, 2 * hour])
  })
})
