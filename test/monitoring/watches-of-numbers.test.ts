import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { jsonSchemas } from '../../src/cli/output/json-schemas.ts'
import { checkWatches, parseWatches } from '../../src/monitoring/watches/watch.ts'
import { saveWatch } from '../../src/monitoring/watches/watch-store.ts'
import { openWatching } from '../../src/monitoring/watches/watching.ts'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import {
  answerGuild,
  guildBody,
  guildId,
  type MemberFields,
  openMember,
  playerId,
  syncGuilds,
} from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { kindsAtNight, temporaryFolder } from '../support/postgres.ts'
import { openReceiver } from '../support/receiver.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

const notifies = { notifies: true }

describe.each(kindsAtNight)('watches of numbers and of what is to come on the %s database', (kind) => {
  const world = worldOf(kind)
  /** How far the clock of what watches was set back, ms. */
  let behind = 0

  /** Looks as `start` does, and gives the lines that each watch sent since the last look. */
  async function watched(...watches: readonly object[]) {
    const receiver = await openReceiver()
    const target = { type: 'webhook', url: receiver.url }
    const all = watches.map((watch) => ({ groupSeconds: 0, target, ...watch }))
    for (const watch of parseWatches('the test', { watches: all }).watches) await saveWatch(world.db, watch, undefined)
    const warnings: string[] = []
    const open = async () => {
      const watching = openWatching({
        db: world.db,
        file: join(await temporaryFolder(), 'watches.json'),
        clock: { ...systemClock, now: () => world.clock.now() - behind },
        warn: (text) => void warnings.push(text),
      })
      onTestFinished(() => watching.close(1000))
      await watching.begin()
      return watching
    }
    let watching = await open()
    const sent = async (at?: string) => {
      if (at !== undefined) await world.clock.advanceTo(instantOf(at))
      const before = receiver.got.length
      for (let times = 0; times < 3; times++) await watching.look()
      expect(warnings).toEqual([])
      const messages = receiver.got.slice(before)
      for (const message of messages) expect(jsonSchemas['watch-message'].safeParse(message).error).toBeUndefined()
      const lines = messages.flatMap(({ watch, events }) =>
        (events as { text: string }[]).map(({ text }) => `${watch}: ${text}`),
      )
      return lines.sort()
    }
    const restart = async () => {
      await watching.close(1000)
      watching = await open()
    }
    return { sent, restart }
  }

  const guild = async (letter: string, at: string, fields: object, members: Record<number, MemberFields> = {}) => {
    const players = Object.fromEntries(
      Object.entries({ 1: { rank: 'owner' }, ...members }).map(([one, more]) => [one, { ...openMember, ...more }]),
    )
    const key = await answerGuild(world, guildBody(letter, players, fields), at)
    await syncGuilds(world, { keys: [key] }, notifies)
  }

  test('a level and a counter are sent when they are reached, once, and only of what the watch names', async () => {
    await guild('a', '10:00', { level: 89, wars: 95 })
    await guild('b', '10:00', { level: 9, wars: 95 })
    const { sent } = await watched(
      { name: 'levels', events: ['level'], guild: ['aaa'] },
      { name: 'wars', events: ['counter'], guild: ['aaa'], counter: { kind: 'guild', name: 'wars', above: 100 } },
    )
    await guild('a', '10:10', { level: 89, wars: 99 })
    await guild('b', '10:10', { level: 10, wars: 101 })
    expect(await sent('10:11')).toEqual([])
    await guild('a', '10:20', { level: 90, wars: 103 })
    expect(await sent('10:21')).toEqual(['levels: Guild a reached level 90', 'wars: Guild a has 103 (wars)'])
    await guild('a', '10:30', { level: 90, wars: 104 })
    expect(await sent('10:31')).toEqual([])
  })

  test('what was sent is not sent again by a clock that was set back by a day, and what is new is', async () => {
    await guild('a', '10:00', { level: 89 })
    const { sent } = await watched({ name: 'levels', events: ['level'], guild: ['aaa'] })
    await guild('a', '02 11:00', { level: 90 })
    expect(await sent('02 11:01')).toEqual(['levels: Guild a reached level 90'])
    await guild('a', '02 11:10', { level: 90 })
    expect(await sent('02 11:11')).toEqual([])
    behind = 86_400_000
    onTestFinished(() => {
      behind = 0
    })
    expect(await sent('02 11:12')).toEqual([])
    await guild('a', '02 11:20', { level: 91 })
    expect(await sent('02 11:21')).toEqual(['levels: Guild a reached level 91'])
  })

  test('a member who gains so much in a day is sent once a day, and not one who hides it', async () => {
    const contributed = (one: number, two: number) => ({
      1: { rank: 'owner', joined: '-9 00:00', contributed: one },
      2: { joined: '-9 00:00', contributed: two, wars: one, restrictions: { main_access: true } },
    })
    await guild('a', '10:00', {}, contributed(1000, 10))
    await guild('a', '10:10', {}, contributed(1000, 10))
    const counter = { kind: 'member', name: 'contributed', gains: 500 }
    const { sent } = await watched({ name: 'busy', events: ['counter'], guild: ['aaa'], counter })
    await guild('a', '10:20', {}, contributed(1400, 10))
    expect(await sent('10:21')).toEqual([])
    await guild('a', '10:30', {}, contributed(1600, 10))
    expect(await sent('10:31')).toEqual(['busy: Player1 gained at least 600 in 24 hours, and has 1600 (contributed)'])
    await guild('a', '10:40', {}, contributed(1700, 10))
    expect(await sent('10:41')).toEqual([])
  })

  test('who gained most of a period is sent once, an hour after it ended, and not one who hides it', async () => {
    const named = { 1: { rank: 'owner', joined: '-9 00:00' }, 2: { joined: '-9 00:00' } }
    const hidden = { joined: '-9 00:00', restrictions: { main_access: true } }
    const members = (one: number, two: number, three: number) => ({
      1: { ...named[1], globalData: { wars: one } },
      2: { ...named[2], globalData: { wars: two } },
      3: { ...hidden, globalData: { wars: three } },
    })
    const others = (four: number) => ({ 1: {}, 4: { rank: 'owner', joined: '-9 00:00', globalData: { wars: four } } })
    const wars = (of: string, each: string) => ({ events: ['top'], counter: { kind: of, name: 'wars', top: 2, each } })
    await guild('a', '10:00', { wars: 10 }, members(10, 10, 10))
    await guild('b', '10:00', { wars: 10 }, others(10))
    const { sent, restart } = await watched(
      { name: 'weekly', guild: ['aaa'], ...wars('member', 'week') },
      { name: 'all', ...wars('member', 'week') },
      { name: 'guilds', ...wars('guild', 'week') },
      { name: 'monthly', ...wars('guild', 'month') },
      { name: 'unknown-counter', ...wars('player', 'week') },
    )
    await guild('a', '06 10:00', { wars: 30 }, members(12, 15, 90))
    await guild('b', '06 10:00', { wars: 50 }, others(30))
    await guild('a', '08 00:30', { wars: 90 }, members(90, 15, 90))
    await guild('b', '08 00:30', { wars: 50 }, others(30))
    expect(await sent('08 00:59')).toEqual([])
    expect(await sent('08 01:00')).toEqual([
      'all: 1. Player4 gained at least 20 (wars)',
      'all: 2. Player2 gained at least 5 (wars)',
      'guilds: 1. Guild b gained at least 40 (wars)',
      'guilds: 2. Guild a gained at least 20 (wars)',
      'weekly: 1. Player2 gained at least 5 (wars)',
      'weekly: 2. Player1 gained at least 2 (wars)',
    ])
    expect(await sent('08 01:10')).toEqual([])
    await restart()
    expect(await sent('08 02:00')).toEqual([])
    expect(await sent('09 02:00')).toEqual([])
    await restart()
    expect(await sent('31 01:30')).toEqual([
      'monthly: 1. Guild a gained at least 80 (wars)',
      'monthly: 2. Guild b gained at least 40 (wars)',
    ])
  })

  test('a guild next to one in the season is sent when it comes so close', async () => {
    const rated = (rating: number) => ({ seasonRanks: { 30: { rating, finalTerritories: 1 } } })
    await guild('a', '10:00', rated(10_000))
    await guild('b', '10:00', rated(20_000))
    await guild('c', '10:00', rated(100))
    const { sent } = await watched({ name: 'close', events: ['rating gap'], guild: ['aaa'], gap: 3000 })
    await guild('a', '10:10', rated(15_000))
    expect(await sent('10:11')).toEqual([])
    await guild('a', '10:20', rated(18_000))
    expect(await sent('10:21')).toEqual(['close: Guild b is 2000 rating ahead of Guild a'])
    await guild('a', '10:30', rated(18_500))
    expect(await sent('10:31')).toEqual([])
    await guild('a', '10:40', rated(24_000))
    await guild('a', '10:50', rated(20_500))
    expect(await sent('10:51')).toEqual(['close: Guild b is 500 rating behind Guild a'])
  })

  test('another name of a guild or player is sent once, whichever response shows it first, and not of one who was purged', async () => {
    const list = (name: string, prefix: string) => ({ [guildId('a')]: { name, prefix }, [guildId('b')]: named.b })
    const named = { b: { name: 'Guild b', prefix: 'bbb' } }
    const members = (first: string, third = 'Player3') => ({
      1: { rank: 'owner', username: first },
      3: { username: third },
    })
    await world.sync(guildList, list('Guild a', 'aaa'), '10:00', notifies)
    await guild('a', '10:00', {}, members('Player1'))
    await syncPlayer(world, 1, profile(1), '10:00', 404, 'anonymize', true)
    await syncPlayer(world, 5, profile(5), '10:00', 404, 'anonymize', true)
    const { sent } = await watched(
      { name: 'all', events: ['renamed'] },
      { name: 'guild', events: ['renamed'], guild: [guildId('a')] },
      { name: 'friends', events: ['renamed'], player: [1, 5].map(playerId) },
    )
    await world.db.query(
      `insert into sync.privacy_action (at, player_hash, field_group, policy, rows, reason)
       values (now(), sha256($1::bytea), 'everything', 'purge', 1, 'asked')`,
      [playerId(3)],
    )
    await guild('a', '11:00', { level: 12 }, members('Player1'))
    expect(await sent('11:01')).toEqual([])
    await world.sync(guildList, list('Guild of a', 'aaa'), '12:00', notifies)
    const renamed = 'Guild a [aaa] is now Guild of a [aaa] (some time after 1 Jun, 10:00)'
    expect(await sent('12:01')).toEqual([`all: ${renamed}`, `guild: ${renamed}`])
    await guild('a', '12:30', { name: 'Guild of a' }, members('Other', 'Purged'))
    const member = 'Player1 is now Other (some time after 1 Jun, 11:00)'
    expect(await sent('12:31')).toEqual([`all: ${member}`, `friends: ${member}`, `guild: ${member}`])
    await syncPlayer(world, 1, profile(1, { username: 'Other' }), '12:40', 404, 'anonymize', true)
    await syncPlayer(world, 5, profile(5, { username: 'Fifth' }), '12:40', 404, 'anonymize', true)
    expect(await sent('12:41')).toEqual(['friends: Player5 is now Fifth (some time after 1 Jun, 10:00)'])
  })

  test('an item of which only the form of the data changed is not sent, and of others only what is of the game counts', async () => {
    const many = (fields: (nth: number) => object) =>
      Array.from({ length: 30 }, (_, nth) =>
        item(`item ${nth}`, { averageDps: nth, lore: `Lore ${nth}`, ...fields(nth) }),
      )
    const icon = (name: string) => ({ format: 'attribute', value: { id: 'minecraft:bow', name } })
    await world.sync(
      items,
      many(() => ({})),
      '10:00',
      notifies,
    )
    const { sent } = await watched({ name: 'items', events: ['item changed'] })
    // Most have a field that none had, and one another icon.
    await world.sync(
      items,
      many((nth) => ({ novel: nth, ...(nth === 1 ? { icon: icon('a') } : {}) })),
      '11:00',
      notifies,
    )
    expect(await sent('11:01')).toEqual([])
    await world.sync(
      items,
      many((nth) => ({ averageDps: nth === 2 ? 200 : nth, ...(nth < 3 ? { icon: icon('b') } : {}) })),
      '12:00',
      notifies,
    )
    expect(await sent('12:01')).toEqual(['items: item 2: 1 changed'])
    const [, ...without] = many((nth) => (nth < 3 ? { icon: icon('b') } : {}))
    await world.sync(items, [...without, item('item 30')], '13:00', notifies)
    expect(await sent('13:01')).toEqual(['items: item 2: 1 changed', 'items: item 30: appeared'])
  })

  test('a reward that comes into a pool is sent, not what was there before', async () => {
    const pool = (...rewards: readonly string[]) => [
      ...[{ name: 'The Vault', internalName: 'vault', type: 'RAID' }].map((one) => ({
        ...one,
        rewards: rewards.map((name) => ({
          name,
          type: 'ITEM',
          amount: 1,
          always: false,
          tier: 'MYTHIC',
          shiny: false,
        })),
      })),
    ]
    await world.sync(lootPools, pool('Old Bow'), '10:00', notifies)
    const { sent } = await watched(
      { name: 'bow', events: ['in pool'], item: ['New Bow'] },
      { name: 'all', events: ['in pool'] },
    )
    await world.sync(lootPools, pool('Old Bow', 'New Bow', 'Other Bow'), '08 10:00', notifies)
    expect(await sent('08 10:01')).toEqual([
      'all: New Bow is in the pool of The Vault',
      'all: Other Bow is in the pool of The Vault',
      'bow: New Bow is in the pool of The Vault',
    ])
  })

  test('a world event is sent so many minutes before it begins, once, also by a later process', async () => {
    const event = { internalName: '0a0b0c0d', name: 'Hold the Mill', level: 30, difficulty: 'HARD' }
    const other = { ...event, internalName: '0a0b0c0e', name: 'Find the Ring' }
    const { sent, restart } = await watched(
      { name: 'soon', events: ['event soon'] },
      { name: 'mill', events: ['event soon'], before: 30, worldEvent: ['Hold the Mill'] },
    )
    const schedule = '2026-06-01T11:00:00+00:00'
    await world.sync(
      worldEvents,
      [
        { ...event, schedule },
        { ...other, schedule },
      ],
      '10:00',
      notifies,
    )
    expect(await sent('10:29')).toEqual([])
    expect(await sent('10:31')).toEqual(['mill: Hold the Mill begins in 30 minutes, at 11:00 UTC'])
    await restart()
    expect(await sent('10:40')).toEqual([])
    expect(await sent('10:51')).toEqual([
      'soon: Find the Ring begins in 10 minutes, at 11:00 UTC',
      'soon: Hold the Mill begins in 10 minutes, at 11:00 UTC',
    ])
    expect(await sent('10:52')).toEqual([])
  })
})

test.each([
  [{ events: ['counter'], guild: ['aaa'] }, 'counter must say which'],
  [
    { events: ['counter'], guild: ['aaa'], counter: { kind: 'guild', name: 'wars' } },
    'must have one of above, gains and top',
  ],
  [{ events: ['top'], counter: { kind: 'guild', name: 'wars', top: 3 } }, 'must have top and each together'],
  [{ events: ['top'], counter: { kind: 'guild', name: 'wars', above: 3 } }, 'with the event `top`'],
  [{ events: ['counter'], counter: { kind: 'guild', name: 'wars', top: 3, each: 'day' } }, 'with the event `counter`'],
  [{ events: ['counter'], counter: { kind: 'guild', name: 'wars', above: 1 } }, 'must come with players'],
  [
    { events: ['counter'], guild: ['aaa'], counter: { kind: 'player', name: 'wars', above: 1 } },
    'must come with players',
  ],
  [{ events: ['rating gap'], guild: ['aaa'] }, 'gap must be there'],
  [{ events: ['rating gap'], gap: 10 }, 'gap must be there'],
  [{ events: ['event soon'], before: 0 }, 'before must be at least 1'],
])('a watch that cannot be used is refused: %j', (watch, problem) => {
  const target = { type: 'slack', url: 'https://example.org' }
  const { problems } = checkWatches({ watches: [{ name: 'one', target, ...watch }] })
  expect(problems.join('\n')).toContain(problem)
})
