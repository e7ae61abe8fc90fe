import { describe, expect, test } from 'vitest'
import { seasons } from '../../src/resources/seasons/index.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'

const reward = { condition: { type: 'SR', value: 1000 }, type: 'EMERALD', value: 4096, expires: null }
const place = {
  condition: { type: 'LEADERBOARD_POSITION', value: 1 },
  type: 'BADGE',
  value: 'gold',
  expires: '2026-09-01T00:00:00Z',
}
const season = {
  territoryHoldingSrPerHour: 120,
  srPerWar: 80,
  ratingRewards: [reward, { ...reward, type: 'STRUCTURE', value: null }],
  leaderboardRewards: [place],
  endDate: '2026-06-20T04:01:00Z',
}

describe.each(kindsOfPart)('seasons on the %s database', (kind) => {
  const world = worldOf(kind)

  test.each(['initDate', 'startDate'])(
    'are defined with %s for their beginning, and their rewards',
    async (spelling) => {
      const body = { 31: { ...season, [spelling]: '2026-05-01T23:01:00Z' } }
      expect(await world.sync(seasons, body, '10:00')).toMatchObject({ status: 'ok', inserted: 1, quarantined: 0 })
      expect(
        await world.rows(
          'select season, started_at, ends_at, territory_holding_sr_per_hour, sr_per_war, extra from game.season',
        ),
      ).toEqual([[31, expect.stringContaining('23:01'), '20 04:01', 120, 80, null]])
      expect(
        await world.rows(
          `select list, position, condition_type, condition_value, reward_type, reward_value, expires_at::date::text
           from game.season_reward order by 1, 2`,
        ),
      ).toEqual([
        ['leaderboard', 0, 'LEADERBOARD_POSITION', 1, 'BADGE', 'gold', '2026-09-01'],
        ['rating', 0, 'SR', 1000, 'EMERALD', '4096', null],
        ['rating', 1, 'SR', 1000, 'STRUCTURE', null, null],
      ])
    },
  )

  test('that are changed get another version with rewards of its own', async () => {
    await world.sync(seasons, { 31: season }, '10:00')
    await world.sync(seasons, { 31: { ...season, srPerWar: 90, leaderboardRewards: [] }, 32: season }, '11:00')
    expect(
      await world.rows('select season, sr_per_war, valid_from, valid_until from game.season order by 1, 3'),
    ).toEqual([
      [31, 80, '10:00', '11:00'],
      [31, 90, '11:00', 'infinity'],
      [32, 80, '11:00', 'infinity'],
    ])
    expect(
      await world.rows('select season, valid_from, count(*) from game.season_reward group by 1, 2 order by 1, 2'),
    ).toEqual([
      [31, '10:00', 3],
      [31, '11:00', 2],
      [32, '11:00', 3],
    ])
  })

  test('without a number for a name are set aside; the others go on', async () => {
    const body = { soon: season, 31: { ...season, ratingRewards: undefined, leaderboardRewards: null } }
    expect(await world.sync(seasons, body, '10:00')).toMatchObject({ status: 'partial', inserted: 1, quarantined: 1 })
  })
})
