import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { latestNews } from '../../src/resources/latest-news/index.ts'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { kindsOfPart, testDatabase } from '../support/postgres.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

const names = Array.from({ length: 12 }, (_, nth) => `thing ${String(nth).padStart(2, '0')}`)
const without = (record: object, ...fields: string[]) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !fields.includes(name)))

describe('what answers with current rows leaves out what the API does not send:', () => {
  /** Views of current rows that say nothing of a field: what they show is a key, an event, or known otherwise. */
  const others: Readonly<Record<string, string>> = {
    counter: 'lists which counters there are',
    member_counter_dip: 'events',
    membership: 'versions of the past, too',
    territory_hold: 'leaves out what is not sent by territory_confirmed_until',
    world: 'a world is a key of the list; how many are on it is a sample',
  }

  test('every view does', async () => {
    const db = await testDatabase('server')
    const views = await db.values(
      `select relname from pg_class
        where relnamespace = 'analytics'::regnamespace and relkind = 'v'
          and pg_get_viewdef(oid) like '%game.%' and pg_get_viewdef(oid) like '%valid\\_until = ''infinity''%'
          and pg_get_viewdef(oid) not like '%not_sent(%' and relname !~ '_(history|sample|past)$' order by 1`,
    )
    expect(views.flat()).toEqual(Object.keys(others))
  })

  test('every function that has a whole record does', async () => {
    const db = await testDatabase('server')
    const functions = await db.values(
      `select proname from pg_proc where pronamespace = 'analytics'::regnamespace and prosqlbody is not null
          and prorettype = 'jsonb'::regtype and pg_get_function_sqlbody(oid) like '%.document%' and pg_get_function_sqlbody(oid) not like '%as_sent(%' order by 1`,
    )
    expect(functions).toEqual([])
  })
})

describe.each(kindsOfPart)('while the API does not send a field, in the %s database,', (kind) => {
  const world = worldOf(kind)
  const { sync, rows } = world
  const at = (nth: number, hour: string) => `${String(nth).padStart(2, '0')} ${hour}`

  test('an item has NULL and null, then, and what it has before and after', async () => {
    const fields = { tier: 'rare', requirements: { level: 3 }, identifications: { rawStrength: 2 } }
    const all = names.map((name) =>
      item(name, { ...fields, dropMeta: { name: 'a cave', type: ['cave'], coordinates: [1, 2, 3] } }),
    )
    const lacking = all.map((one) => without(one, 'tier', 'identifications', 'dropMeta'))
    const answers = async (day: number) => ({
      item: await rows(`select distinct tier, level, drop_name from analytics.item`),
      identification: await rows(`select distinct identification, raw, level from analytics.item_identification`),
      place: await rows(`select distinct place, x from analytics.item_drop_place`),
      recorded: await rows(`select distinct drop_type from analytics.item_drop_type`),
      at: await rows(
        `select distinct kept -> 'tier', kept -> 'identifications', kept -> 'requirements'
           from game.item cross join analytics.item_at(internal_name, '2026-06-${at(day, '12:00')}Z') as kept`,
      ),
    })
    await sync(items, all, at(1, '10:00'))
    const known = await answers(1)
    expect(known).toEqual({
      item: [['rare', 3, 'a cave']],
      identification: [['rawStrength', 2, 3]],
      place: [['a cave', 1]],
      recorded: [['cave']],
      at: [['rare', { rawStrength: 2 }, { level: 3 }]],
    })
    for (const day of [2, 3, 4]) await sync(items, lacking, at(day, '10:00'))
    const unknown = {
      item: [[null, 3, null]],
      identification: [[null, null, 3]],
      place: [[null, null]],
      recorded: [[null]],
      at: [[null, null, { level: 3 }]],
    }
    expect(await answers(4)).toEqual(unknown)
    expect((await answers(1)).at).toEqual(known.at)
    await sync(items, all, at(5, '10:00'))
    expect(await answers(5)).toEqual(known)
    expect((await answers(3)).at).toEqual(unknown.at)
    expect(await rows('select count(*)::int from analytics.item_change')).toEqual([[0]])
  })

  test('an item has no place then, of two fields what the other one says, and of a place what is sent', async () => {
    const dropMeta = { name: 'a cave', type: ['cave'], coordinates: [1, 2, 3] }
    const droppedBy = [{ name: 'a bat', coords: [4, 5, 6, 7] }]
    const all = (meta: object | undefined) => [
      ...names.map((name) => item(name, { dropMeta: meta })),
      ...names.map((name) => item(`${name} of a bat`, { droppedBy })),
    ]
    const places = () => rows('select distinct place, kind, x, radius from analytics.item_drop_place order by 1, 2')
    await sync(items, all(dropMeta), at(1, '10:00'))
    const bat = ['a bat', 'creature', 4, 7]
    expect(await places()).toEqual([bat, ['a cave', 'place', 1, null]])
    for (const day of [2, 3]) await sync(items, all(without(dropMeta, 'coordinates')), at(day, '10:00'))
    expect(await places()).toContainEqual(['a cave', 'place', null, null])
    await sync(items, all(dropMeta), at(4, '10:00'))
    for (const day of [5, 6]) await sync(items, all(undefined), at(day, '10:00'))
    expect(await places()).toEqual([bat, [null, null, null, null]])
    await sync(items, all(dropMeta), at(7, '10:00'))
    expect(await places()).toEqual([bat, ['a cave', 'place', 1, null]])
    expect(await rows('select count(*)::int from analytics.item_change')).toEqual([[0]])
  })

  test('a field that has another name now is known', async () => {
    const tiers = (fields: object) => names.map((name) => item(name, fields))
    await sync(items, tiers({ tier: 'rare' }), at(1, '10:00'))
    for (const day of [2, 3, 4]) await sync(items, tiers({ rarity: 'rare' }), at(day, '10:00'))
    expect(await rows('select field, columns from sync.unsent')).toEqual([['/tier', []]])
    expect(await rows('select distinct tier from analytics.item')).toEqual([['rare']])
  })

  test('a field that has another name and another value now has changed', async () => {
    const restricted = (fields: object) => names.map((name) => item(name, fields))
    await sync(items, restricted({ restriction: 'untradable' }), at(1, '10:00'))
    await sync(items, restricted({ restrictions: 'quest item' }), at(2, '10:00'))
    expect(await rows('select distinct restriction from analytics.item')).toEqual([['quest item']])
  })

  test('the name of a thing stays', async () => {
    const named = (fields: object) => names.map((name) => ({ ...item(name), displayName: undefined, ...fields }))
    await sync(items, named({ displayName: 'Old Bow' }), at(1, '10:00'))
    for (const day of [2, 3, 4]) await sync(items, named({}), at(day, '10:00'))
    expect(await rows('select distinct display_name from analytics.item')).toEqual([['Old Bow']])
    expect(await rows('select distinct field from sync.unsent')).toEqual([['/displayName']])
  })

  test('a field that comes back otherwise changed at some time since it was last sent', async () => {
    const tiers = (tier: object) => names.map((name) => item(name, tier))
    await sync(items, tiers({ tier: 'rare' }), at(1, '10:00'))
    for (const day of [2, 3, 20, 21]) await sync(items, tiers({}), at(day, '10:00'))
    await sync(items, tiers({ tier: 'mythic' }), at(22, '10:00'))
    expect(
      await rows(`select distinct path, old_value, new_value, not_before, changed_at from analytics.item_change`),
    ).toEqual([['/tier', 'rare', 'mythic', '10:00', '22 10:00']])
    expect(
      await rows('select distinct tier, valid_until, confirmed_until from analytics.item_history order by 3'),
    ).toEqual([
      ['rare', '22 10:00', '10:00'],
      ['mythic', 'infinity', '22 10:00'],
    ])
  })

  test('it is not known what is in the pools: no span goes on, and none that returns was there all along', async () => {
    const reward = { name: 'Old Bow', type: 'ITEM', amount: 1, always: false }
    const pools = (fields: object) =>
      ['one', 'two', 'three', 'four', 'five', 'six'].map((name, nth) => ({
        internalName: name,
        name,
        type: 'camp',
        level: 0,
        location: { x: nth, y: 0, z: 0 },
        ...fields,
      }))
    await sync(lootPools, pools({ rewards: [reward] }), at(1, '10:00'))
    for (const day of [3, 4, 5]) await sync(lootPools, pools({}), at(day, '10:00'))
    const pool = (day: number) =>
      rows(`select distinct reward from analytics.loot_pool_at('2026-06-${at(day, '12:00')}Z') order by 1`)
    const spans = () => rows('select distinct since, until, reward from analytics.reward_span order by 1')
    expect(await pool(1)).toEqual([['Old Bow']])
    expect(await pool(4)).toEqual([[null]])
    expect(await spans()).toEqual([['10:00', '03 10:00', 'Old Bow']])
    await sync(lootPools, pools({ rewards: [reward] }), at(9, '10:00'))
    expect(await spans()).toEqual([
      ['10:00', '03 10:00', 'Old Bow'],
      ['09 10:00', 'infinity', 'Old Bow'],
    ])
    expect([await pool(1), await pool(4), await pool(10)]).toEqual([[['Old Bow']], [[null]], [['Old Bow']]])
    // It need not have come again.
    expect(
      await rows('select distinct first_seen, last_seen, times, usual_interval from analytics.reward_appearance'),
    ).toEqual([['10:00', '09 10:00', 1, null]])
    for (const day of [10, 11])
      await sync(lootPools, pools({ rewards: [{ ...reward, name: 'New Bow' }] }), at(day, '10:00'))
    await sync(lootPools, pools({ rewards: [reward] }), at(15, '10:00'))
    expect(
      await rows(
        `select distinct reward, times, usual_interval::text from analytics.reward_appearance order by 1 desc`,
      ),
    ).toEqual([
      ['Old Bow', 2, '14 days'],
      ['New Bow', 1, null],
    ])
  })

  test('nobody has what was stored in a place then, nor was it held, and its treasury is unknown', async () => {
    const rich = { resources: [{ type: 'ORE', generation: 1, stored: 1, limit: 100 }] }
    const whole = { hq: false, treasury: 'LOW', defences: 'HIGH' }
    const map = (letter: string, since: string, stored: number, ...fields: string[]) =>
      Object.fromEntries(
        names.map((name) => {
          const resources = rich.resources.map((one) => ({ ...one, stored }))
          return [name, without(place(letter, since, { ...whole, resources }), ...fields)]
        }),
      )
    const season = { territoryHoldingSrPerHour: 1, srPerWar: 1, initDate: '2026-06-01T10:00:00Z' }
    await sync(seasons, { 1: { ...season, endDate: '2026-07-01T10:00:00Z' } }, '09:00')
    await expectEvery(world.db, { resource: 'territories', everySeconds: 86_400, setBy: 'sync', at: new Date(0) })
    for (const day of [1, 2]) await sync(territories, map('a', '08:00', day), at(day, '10:00'))
    // Somebody else holds them, which no response says.
    for (const day of [3, 4, 5]) await sync(territories, map('b', '03 09:00', day, 'guild'), at(day, '10:00'))
    for (const day of [6, 7]) await sync(territories, map('c', '06 09:00', day), at(day, '10:00'))
    for (const day of [8, 9])
      await sync(territories, map('c', '06 09:00', day, 'treasury', 'defences', 'hq'), at(day, '10:00'))
    const economy = (letter: string) =>
      rows(
        `select at, stored, treasury, defences, is_hq
           from analytics.territory_economy('${guildId(letter)}', '2026-06-01Z', '2026-07-01Z') where territory = 'thing 00'`,
      )
    const known = ['LOW', 'HIGH', false]
    expect(await economy('a')).toEqual([
      ['10:00', 1, ...known],
      ['02 10:00', 2, ...known],
    ])
    expect(await economy('c')).toEqual([
      ['06 10:00', 6, ...known],
      ['07 10:00', 7, ...known],
      ['08 10:00', 8, null, null, null],
      ['09 10:00', 9, null, null, null],
    ])
    // The view writes out what these functions say.
    const before = `analytics.whole_response_before('territories', analytics.territory_sent_until('{/guild,/guild/uuid}', captured_at))`
    expect(
      await rows(`select distinct to_guild_name, captured_at, not_before, ${before} from analytics.territory_capture`),
    ).toEqual([['Guild c', '06 09:00', '02 10:00', '02 10:00']])
    const rated = await rows(
      'select guild_name, holding_estimate, coverage, reason from analytics.season_rating(1) order by 1',
    )
    // Of a from the season's beginning to the last response that names it and one day on, of c from its capture.
    expect(rated.map((row) => row.slice(0, 3))).toEqual([
      ['Guild a', 12 * 48, 1],
      ['Guild c', 12 * 73, 1],
    ])
    for (const row of rated) expect(row[3]).toContain('the API did not send all the time who held territories')
  })

  test('it is not known who is inactive, what a guild is rated, and how many wars it fought', async () => {
    const season = { territoryHoldingSrPerHour: 1, srPerWar: 10, initDate: '2026-06-02T08:00:00Z' }
    await sync(seasons, { 1: { ...season, endDate: '2026-07-01T10:00:00Z' } }, '09:00')
    const lacking = { guild: ['wars', 'seasonRanks'], member: ['lastJoin'] }
    const ask = async (day: number, isWhole: boolean) => {
      for (const [nth, letter] of ['a', 'b', 'c', 'd'].entries()) {
        const member = { lastJoin: new Date(instantOf(at(day < 9 ? 1 : 5, '09:00'))).toISOString() }
        const members = Array.from({ length: 6 }, (_, one) => [
          10 * nth + one + 1,
          { rank: one ? 'recruit' : 'owner', ...without(member, ...(isWhole ? [] : lacking.member)) },
        ])
        const body = guildBody(letter, Object.fromEntries(members), {
          wars: day,
          seasonRanks: { 1: { rating: 10 * day, finalTerritories: 0 } },
        })
        await syncGuild(world, without(body, ...(isWhole ? [] : lacking.guild)), at(day, `10:0${nth}`))
      }
    }
    const told = async (day: number) => [
      await rows(
        `select distinct last_seen, status, reason from analytics.member_activity('${guildId('a')}', '2026-06-${at(day, '12:00')}Z')`,
      ),
      (await rows('select reported_rating, war_estimate, as_of, reason from analytics.season_rating(1) limit 1'))[0],
    ]
    for (const day of [1, 2]) await ask(day, true)
    for (const day of [3, 4, 8]) await ask(day, false)
    const late = 'no response with a last login seven days after the player was last seen'
    const unknown = [['09:00', 'unknown', late]]
    const map = 'the map was not watched all the time'
    const [members, rated] = await told(8)
    expect(members).toEqual(unknown)
    expect(rated?.slice(0, 2)).toEqual([null, 0])
    for (const reason of [map, 'the API does not send ratings', 'wars since the API does not send them are not known'])
      expect(rated?.[3]).toContain(reason)
    await ask(9, true)
    const [later, whole] = await told(9)
    expect(later).toEqual([['05 09:00', 'active', null]])
    expect(whole?.slice(0, 2)).toEqual([90, 70])
    expect(whole?.[3]).not.toMatch(/not send/)
    expect((await told(8))[0]).toEqual(unknown)
  })

  test('a single map without it confirms nothing, before another one agrees', async () => {
    const map = (fields: string[]) =>
      Object.fromEntries(names.map((name) => [name, without(place('a', '08:00'), ...fields)]))
    for (const hour of ['10:00', '10:10']) await sync(territories, map([]), hour)
    await sync(territories, map(['guild']), '10:20')
    const confirmed = () => rows('select distinct confirmed_until from analytics.territory_hold')
    expect(await confirmed()).toEqual([['10:10']])
    await sync(territories, map([]), '10:30')
    expect(await confirmed()).toEqual([['10:30']])
  })

  test('nothing is confirmed by a map that a person accepts without it', async () => {
    const map = (fields: string[]) =>
      Object.fromEntries(names.map((name) => [name, without(place('a', '08:00'), ...fields)]))
    await sync(territories, map([]), '10:00')
    expect(await sync(territories, map(['guild']), '11:00', { accept: true })).not.toMatchObject({ status: 'partial' })
    await sync(territories, map(['guild']), '12:00')
    const owner = `select distinct held.guild_name, held.confirmed_until, held.reason
                     from analytics.territory place cross join lateral analytics.territory_owner_at(place.territory, '2026-06-01 12:00Z') held`
    expect(await rows(owner)).toEqual([[null, '10:00', 'not observed']])
    expect(await rows('select distinct guild_name, held_from from analytics.territory')).toEqual([[null, null]])
    await sync(territories, map([]), '13:00')
    expect(await rows('select distinct guild_name from analytics.territory')).toEqual([['Guild a']])
    expect(await rows('select from_at, until_at from sync.unsent')).toEqual([['11:00', '13:00']])
  })

  test('news have no title, announced events no level, and a biography ends without a rank', async () => {
    const news = (fields: string[]) => names.map((name) => ({ ...without(newsOf(name), ...fields) }))
    const newsOf = (name: string) => ({
      title: name,
      date: '2026-05-01T00:00:00Z',
      forumThread: `https://e.org/${name}`,
      author: 'A',
      content: 'x',
      comments: '1',
    })
    const start = new Date(instantOf('20 10:00')).toISOString()
    const events = (fields: string[]) =>
      names.map((name) =>
        without({ name, internalName: name, level: 5, difficulty: 'EASY', schedule: start }, ...fields),
      )
    const answers = async () => [
      ...(await rows('select distinct title is null, author is null from analytics.news')),
      ...(await rows(
        `select distinct level, difficulty from analytics.world_event_schedule('2026-06-20', '2026-06-21')`,
      )),
    ]
    for (const day of [1, 2]) {
      await sync(latestNews, news([]), at(day, '10:00'))
      await sync(worldEvents, events([]), at(day, '10:00'))
    }
    const known = [
      [false, false],
      [5, 'EASY'],
    ]
    expect(await answers()).toEqual(known)
    for (const day of [3, 4]) {
      await sync(latestNews, news(['title']), at(day, '10:00'))
      await sync(worldEvents, events(['level']), at(day, '10:00'))
    }
    expect(await answers()).toEqual([
      [true, false],
      [null, 'EASY'],
    ])
    await sync(latestNews, news([]), at(5, '10:00'))
    await sync(worldEvents, events([]), at(5, '10:00'))
    expect(await answers()).toEqual(known)
  })

  test('a profile has no rank, and of its counters that one is NULL', async () => {
    const of = (number: number, fields: object, guild: object) =>
      profile(number, {
        globalData: { wars: 5, totalLevel: 7, ...fields },
        guild: { uuid: guildId('a'), name: 'A', prefix: 'a', ...guild },
      })
    const biography = () => rows(`select guild_name, guild_rank from analytics.player_biography('${playerId(1)}')`)
    const counters = () =>
      rows(`select counter, value from analytics.player_counter where player_uuid = '${playerId(1)}' order by 1`)
    const numbers = Array.from({ length: 25 }, (_, nth) => nth + 1)
    for (const number of numbers) await syncPlayer(world, number, of(number, {}, { rank: 'OWNER' }), '10:00')
    expect(await biography()).toEqual([['A', 'owner']])
    for (const time of ['11:00', '12:00'])
      for (const number of numbers) await syncPlayer(world, number, of(number, { wars: undefined }, {}), time)
    expect(await rows(`select field from sync.unsent order by 1`)).toEqual([['/globalData/wars'], ['/guild/rank']])
    expect(await biography()).toEqual([['A', null]])
    expect(await counters()).toEqual([
      ['totalLevel', 7],
      ['wars', null],
    ])
    await syncPlayer(world, 1, of(1, { wars: 5 }, { rank: 'OWNER' }), '13:00')
    expect([await biography(), await counters()]).toEqual([
      [['A', 'owner']],
      [
        ['totalLevel', 7],
        ['wars', 5],
      ],
    ])
    // Of this player the rank is another one when it is sent again, some time after that of others.
    await syncPlayer(world, 2, of(2, {}, { rank: 'CHIEF' }), '14:00')
    const confirmed = (from: string) =>
      rows(`select guild_rank, valid_until, confirmed_until from ${from} order by valid_until`)
    expect(await confirmed(`analytics.player_biography('${playerId(2)}') where valid_until is not null`)).toEqual([
      ['owner', '14:00', '10:00'],
    ])
    expect(await confirmed(`analytics.player_history where player_uuid = '${playerId(2)}'`)).toEqual([
      ['OWNER', '14:00', '10:00'],
      ['CHIEF', 'infinity', '14:00'],
    ])
  })

  test('the rank of members and when a guild was founded are NULL', async () => {
    const ranks = Object.fromEntries(
      Array.from({ length: 6 }, (_, nth) => [nth + 1, { rank: nth ? 'recruit' : 'owner' }]),
    )
    const guild = (letter: string) =>
      guildBody(letter, ranks, { level: 10, wars: 5, online: 6, created: '2020-01-01T00:00:00.000Z' })
    const known = () => rows('select distinct created_at from analytics.guild')
    for (const [nth, letter] of ['a', 'b', 'c'].entries()) await syncGuild(world, guild(letter), `10:0${nth}`)
    expect(await known()).toHaveLength(1)
    for (const hour of ['11', '12', '13'])
      for (const [nth, letter] of ['a', 'b', 'c'].entries())
        await syncGuild(world, without(guild(letter), 'created'), `${hour}:0${nth}`)
    expect(await known()).toEqual([[null]])
  })
})
