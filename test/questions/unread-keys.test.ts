import { describe, expect, test } from 'vitest'
import { guildTerritoriesFigure } from '../../src/drawing/guild/guild-territories.ts'
import { empiresFigure } from '../../src/drawing/map/empires.ts'
import { readHolds } from '../../src/drawing/map/holds.ts'
import { mapFigure } from '../../src/drawing/map/map.ts'
import { mapFrameOf } from '../../src/drawing/map/map-frame.ts'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { expireLedger } from '../../src/sync/retention/expiry.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { instantOf, worldOf } from '../support/world.ts'

const rich = (stored: number) => ({ resources: [{ type: 'EMERALD', stored, limit: 500, generation: 10 }] })
const rest = Object.fromEntries(['Ash', 'Elm', 'Fir', 'Yew', 'Box'].map((name) => [name, place('b', '09:00')]))
const good = { ...rest, Oak: place('a', '08:00', rich(100)) }
/** Who holds it cannot be read. */
const nameless = { ...rest, Oak: { ...place('a', '08:00', rich(200)), guild: 'Guild a' } }
const days = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, nth) => `${String(from + nth).padStart(2, '0')} 10:00`)
const iso = (time: string) => new Date(instantOf(time)).toISOString()

describe('of a key that could not be read for a month', () => {
  const world = worldOf('server')
  const { sync, rows } = world

  test('the map shows no holder, and figures count it for nobody, until one is shown', async () => {
    await setExpectedInterval(world.db, {
      resource: 'territories',
      everySeconds: 86_400,
      setBy: 'start',
      at: new Date(instantOf('00:00')),
    })
    await sync(
      seasons,
      { 1: { startDate: iso('00:00'), endDate: iso('28 00:00'), territoryHoldingSrPerHour: 10, srPerWar: 1 } },
      '00:10',
    )
    for (const at of ['10:00', '10:01']) await sync(territories, good, at)
    for (const at of ['10:02', '10:03', ...days(2, 27)]) await sync(territories, nameless, at)
    const period = { from: new Date(instantOf('10:00')), to: new Date(instantOf('27 10:00')) }
    const holds = await readHolds(world.db, period)
    const shown = (territory: string, guild: string) => {
      const at: number[] = []
      holds.over(holds.steps)(territory, (began, ended, uuid) => {
        if (uuid === guild) for (let step = began; step < ended; step++) at.push(step)
      })
      return at.map((step) => holds.steps[step]?.getTime() ?? 0)
    }
    expect(Math.max(...shown('Oak', guildId('a')))).toBeLessThan(instantOf('10:02'))
    expect(Math.max(...shown('Ash', guildId('b')))).toBeGreaterThan(instantOf('27 09:00'))
    const frame = await mapFrameOf(world.db, { ...period, guild: null, writtenAt: period.to })
    const map = await mapFigure(world.db, frame)
    const owners = new Map(map.table?.rows.map(([name, holder]) => [name, holder]))
    expect([owners.get('Oak'), owners.get('Ash')]).toEqual([null, 'Guild b'])
    const sizes = (await empiresFigure(world.db, frame)).table
    expect([sizes?.columns, sizes?.rows.at(-1)?.slice(1)]).toEqual([
      ['At (UTC)', 'bbb', 'aaa'],
      [5, 0],
    ])
    const own = (await guildTerritoriesFigure(world.db, { uuid: guildId('a'), name: 'Guild a' }, frame)).table
    expect(own?.rows.at(-1)?.[1]).toBe(0)
    expect(
      await rows(
        `select at from analytics.territory_economy('${guildId('a')}', '${iso('00:00')}', '${iso('28 00:00')}')`,
      ),
    ).toEqual([['10:00']])
    const rated = await rows(`select guild_name, holding_estimate, reason from analytics.season_rating(1) order by 1`)
    // Two hours and two minutes of ten an hour.
    expect(rated[0]?.slice(0, 2)).toEqual(['Guild a', 20])
    expect(String(rated[0]?.[2])).toContain('who held a territory could not be read all the time')
  })

  test('a member who is gone then left at some time since the last response that showed them', async () => {
    const members = (...numbers: number[]) =>
      guildBody('a', { 1: { rank: 'owner' }, ...Object.fromEntries(numbers.map((number) => [number, {}])) })
    const unreadable = members(2, 3, 4, 5, 6)
    Object(unreadable).members.recruit.Player2.joined = 'never'
    for (const at of ['10:00', '10:10']) await syncGuild(world, members(2, 3, 4, 5, 6), at)
    for (const at of ['10:20', '10:30', ...days(2, 27)]) await syncGuild(world, unreadable, at)
    const told = async (number: number) =>
      await rows(
        `select valid_until, guild_rank, confirmed_until from analytics.player_biography('${playerId(number)}')`,
      )
    expect(await told(2)).toEqual([[null, 'recruit', '10:10']])
    expect(await told(3)).toEqual([[null, 'recruit', '27 10:00']])
    for (const at of ['28 10:00', '28 10:10']) await syncGuild(world, members(3, 4, 5, 6), at)
    expect(await told(2)).toEqual([['28 10:00', 'recruit', '10:10']])
    expect(
      await rows(
        `select observed_at, not_before from analytics.membership_event where player_uuid = '${playerId(2)}' and event = 'left'`,
      ),
    ).toEqual([['28 10:00', '10:10']])
  })

  test('a guild that a list lacks, and what was in a pool, were last seen before', async () => {
    const list = (letters: string) =>
      Object.fromEntries([...letters].map((letter) => [guildId(letter), { name: `Guild ${letter}`, prefix: letter }]))
    await sync(guildList, list('abcdef'), '10:00')
    await sync(guildList, list('bcdef'), '27 10:00')
    expect(await rows('select prefix, observed_at from analytics.guild order by 1 limit 2')).toEqual([
      ['a', '10:00'],
      ['b', '27 10:00'],
    ])
    const rewards = [{ name: 'Pale Coin', type: 'CURRENCY', amount: 2, always: true }]
    const pools = ['vault', 'mill', 'cave', 'tomb', 'yard'].map((name) => ({
      name,
      internalName: name,
      type: 'CAMP',
      rewards,
    }))
    await sync(lootPools, pools, '27 10:10')
    await sync(lootPools, pools.slice(1), '28 10:00')
    expect(
      await rows('select pool, last_seen from analytics.reward_appearance order by last_seen, pool limit 2'),
    ).toEqual([
      ['vault', '27 10:10'],
      ['cave', '28 10:00'],
    ])
  })

  test('nothing of it stays once the retention of the ledger is over', async () => {
    for (const at of ['10:00', '10:01']) await sync(territories, good, at)
    for (const at of ['10:02', '10:03']) await sync(territories, nameless, at)
    for (const at of ['11:00', '11:01']) await sync(territories, good, at)
    for (const at of ['02 10:02', '02 10:03']) await sync(territories, nameless, at)
    const count = async (before: string) => {
      await expireLedger(world.db, territories, new Date(instantOf(before)))
      return await rows('select from_at, until_at from sync.unread order by 1')
    }
    const open = ['02 10:02', null]
    expect(await count('11:00')).toEqual([['10:02', '11:00'], open])
    expect(await count('28 10:00')).toEqual([open])
  })
})
