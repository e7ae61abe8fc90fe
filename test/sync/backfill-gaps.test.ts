import { expect, test } from 'vitest'
import { openRecordedResponses } from '../../src/api/recordings/recorded.ts'
import { systemClock } from '../../src/base/clock.ts'
import { resourcesNamed } from '../../src/resources/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { loadRecorded } from '../../src/sync/backfill/backfill-recorded.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { guildId, place } from '../support/guild-answers.ts'
import { lakeBetween } from '../support/lake-folder.ts'
import { type Line, recordingFolder } from '../support/recording-folder.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

const world = worldOf('server')
const other = worldOf('server')

async function load(...lines: readonly Line[]): Promise<void> {
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25 }
  const loading = { db: world.db, clock: systemClock, program: 'test', guards, log }
  const recorded = openRecordedResponses(await recordingFolder(lines))
  const { broken } = await loadRecorded(recorded, loading, { resources: resourcesNamed([]) })
  expect(broken).toEqual([])
}

const map = (at: string, oak: string, acquired: string): Line => ({
  at,
  path: '/guild/list/territory',
  body: { Oak: place(oak, acquired), Elm: place('c', '08:00') },
})
const gaps = (resource = 'territories') =>
  world.rows(`select began_at, ended_at, missed > 0 from sync.gap where resource = '${resource}' order by 1`)
const at = (day: string, time = '12:00') => `timestamptz '2026-06-${day}T${time}Z'`

test('how often recordings should have been observed comes with their lake, and goes on with further recordings', async () => {
  await load(map('10:00', 'a', '09:00'), map('10:01', 'a', '09:00'), map('20 10:00', 'b', '20 08:00'))
  const lake = lakeBetween({ ...world, clock: systemClock }, { ...other, clock: systemClock })
  await lake.exported()
  await lake.imported()
  const expected = 'select resource, valid_from, every_seconds, told_by from sync.expectation order by 2'
  expect(await other.rows(expected)).toEqual(await world.rows(expected))
  expect(await other.rows(expected)).toHaveLength(2)
  const hour = `select expected, observed, missed from analytics.coverage('territories', ${at('01', '10:00')}, ${at('01', '11:00')})`
  expect(await other.rows(hour)).toEqual([[60, 2, 58]])
})

test('what was recorded without any schedule has gaps, in which and after which who held a place is unknown', async () => {
  await load(map('10:00', 'a', '09:00'), map('10:01', 'a', '09:00'), map('20 10:00', 'b', '20 08:00'))
  expect(await gaps()).toEqual([['10:01', '20 10:00', true]])
  const owner = async (...when: string[]) =>
    await world.rows(
      `select guild_name, confirmed_until, reason from analytics.territory_owner_at(${["'Oak'", ...when].join(', ')})`,
    )
  expect(await owner(at('01', '10:01'))).toEqual([['Guild a', '10:01', null]])
  expect(await owner(at('10'))).toEqual([[null, '10:01', 'not observed']])
  expect(await owner(at('20', '10:00'))).toEqual([['Guild b', '20 10:00', null]])
  // Without an instant it is now, and no response came since.
  expect(await owner()).toEqual([[null, '20 10:00', 'not observed']])
  expect(await world.rows(`select territory, guild_name, reason from analytics.map_at()`)).toEqual([
    ['Elm', null, 'not observed'],
    ['Oak', null, 'not observed'],
  ])
  // What is shown again after the gap was so all along.
  expect(await world.rows(`select territory, guild_name, reason from analytics.map_at(${at('10')})`)).toEqual([
    ['Elm', 'Guild c', null],
    ['Oak', null, 'not observed'],
  ])
  expect(
    await world.rows(
      `select expected, observed, missed from analytics.coverage('territories', ${at('01', '10:00')}, ${at('01', '11:00')})`,
    ),
  ).toEqual([[60, 2, 58]])
  const records = `select distinct quality from analytics.territory_record where record like 'most %'`
  expect(await world.rows(records)).toEqual([['at_least']])
})

test('recordings that are loaded later have gaps of their own, and none between those that lie close', async () => {
  await load(map('10:00', 'a', '09:00'))
  await load(map('25 10:00', 'a', '09:00'), map('25 10:01', 'b', '25 10:00'))
  expect(await gaps()).toEqual([['10:00', '25 10:00', true]])
  expect(
    await world.rows(
      `select every_seconds, told_by from sync.expectation where resource = 'territories' order by valid_from`,
    ),
  ).toEqual([
    [60, 'backfill'],
    [null, 'backfill'],
  ])
})

test('what came before the first schedule has the gaps of that schedule', async () => {
  for (const when of ['10:00', '10:30', '10:31']) await world.sync(territories, { Oak: place('a', '09:00') }, when)
  expect(await gaps()).toEqual([])
  const minutely = { resource: 'territories', everySeconds: 60, setBy: 'sync' } as const
  await setExpectedInterval(world.db, { ...minutely, at: new Date(instantOf('11:00')) })
  expect(await gaps()).toEqual([['10:00', '10:30', true]])
  await setExpectedInterval(world.db, { ...minutely, everySeconds: 10, at: new Date(instantOf('12:00')) })
  expect(await gaps()).toEqual([['10:00', '10:30', true]])
})

test('in a gap after which something else was shown, and after the last response, items, pools and boards are unknown', async () => {
  const bow = (level: number) => item('bow', { requirements: { level } })
  const pool = (...rewards: object[]) => [{ name: 'The Vault', internalName: 'vault', type: 'RAID', rewards }]
  const [coin, ring] = ['Coin', 'Ring'].map((name) => ({ name, type: 'ITEM', amount: 1, always: false }))
  const board = (...letters: string[]) =>
    Object.fromEntries(
      letters.map((letter, nth) => [nth + 1, { uuid: guildId(letter), name: `Guild ${letter}`, level: 9 - nth }]),
    )
  const items = '/item/database?fullResult'
  const pools = '/map/loot-pools'
  const boards = '/leaderboards/guildLevel'
  await load(
    { at: '10:00', path: items, body: [bow(1), item('ring')] },
    { at: '20 10:00', path: items, body: [bow(2), item('ring')] },
    { at: '10:00', path: pools, body: pool(coin ?? {}, ring ?? {}) },
    { at: '20 10:00', path: pools, body: pool(coin ?? {}) },
    { at: '10:00', path: boards, body: board('a', 'b') },
    { at: '20 10:00', path: boards, body: board('c', 'b') },
  )
  const known = async (name: string, ...when: string[]) =>
    (await world.rows(`select analytics.item_at(${[`'${name}'`, ...when].join(', ')}) is not null`))[0]?.[0]
  expect(await known('bow', at('01', '10:30'))).toBe(true)
  expect(await known('bow', at('10'))).toBe(false)
  expect(await known('ring', at('10'))).toBe(true)
  expect(await known('bow', at('20', '10:00'))).toBe(true)
  expect(await known('ring')).toBe(false)
  const held = async (...when: string[]) =>
    await world.rows(`select pool, reward, reason from analytics.loot_pool_at(${when.join('')}) order by reward`)
  expect(await held(at('01', '10:10'))).toEqual([
    ['The Vault', 'Coin', null],
    ['The Vault', 'Ring', null],
  ])
  for (const when of [[at('10')], []]) expect(await held(...when)).toEqual([['The Vault', null, 'not observed']])
  expect(await world.rows('select reward, last_seen from analytics.reward_appearance order by 1')).toEqual([
    ['Coin', '20 10:00'],
    ['Ring', '10:00'],
  ])
  const places = async (...when: string[]) =>
    await world.rows(
      `select place, name, score, reason from analytics.leaderboard_at(${["'guildLevel'", ...when].join(', ')}) order by 1`,
    )
  expect(await places(at('01', '10:10'))).toEqual([
    [1, 'Guild a', 9, null],
    [2, 'Guild b', 8, null],
  ])
  expect(await places(at('10'))).toEqual([
    [1, null, null, 'not observed'],
    [2, 'Guild b', 8, null],
  ])
  expect(await places()).toEqual([
    [1, null, null, 'not observed'],
    [2, null, null, 'not observed'],
  ])
})
