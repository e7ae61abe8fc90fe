import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, syncGuild } from '../support/guild-answers.ts'
import { ofPart } from '../support/parts.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { item, worldOf } from '../support/world.ts'

const names = Array.from({ length: 12 }, (_, nth) => `Place ${String(nth).padStart(2, '0')}`)
const minute = (nth: number) => new Date(Date.UTC(2026, 5, 1, 10, nth)).toISOString().slice(11, 16)
const without = (record: object, field: string) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => name !== field))

const resources = [{ type: 'ORE', generation: 10, baseGeneration: 5, stored: 3, limit: 9 }]
const whole = (_name: string, nth: number): object =>
  place('a', '08:00', { hq: nth === 0, treasury: 'LOW', defences: 'HIGH', links: ['X'], resources })

describe.each(kindsAtNight)('a field that is sent no more, in the %s database,', (kind) => {
  const world = worldOf(kind)
  const { sync, rows } = world
  const map = (made: (record: object, name: string) => object) =>
    Object.fromEntries(names.map((name, nth) => [name, made(whole(name, nth), name)]))
  const spans = () => rows('select resource, field, last_sent_at, from_at, until_at from sync.unsent order by 1, 2, 4')
  const game = async () => {
    const counts = await world.rowCounts()
    return Object.fromEntries(Object.entries(counts).filter(([name]) => name.startsWith('game.')))
  }

  const fields = { quick: ['guild', 'location'], rest: ['acquired', 'hq', 'treasury', 'links', 'resources'] }
  test.each(ofPart(fields))(
    '%s of all territories is unknown: no row comes of it, and it is a span from the second response on',
    async (field) => {
      for (const nth of [0, 1])
        expect(
          await sync(
            territories,
            map((one) => one),
            minute(nth),
          ),
        ).not.toMatchObject({ status: 'partial' })
      const before = await game()
      const lacking = map((one) => without(one, field))
      expect(await sync(territories, lacking, minute(2))).toMatchObject({ status: 'partial', changed: 0, events: 0 })
      expect(await spans()).toEqual([])
      expect(await sync(territories, lacking, minute(3))).toMatchObject({ status: 'partial', changed: 0, events: 0 })
      expect(await spans()).toEqual([['territories', `/${field}`, '10:01', '10:02', null]])
      expect(await rows('select kind, path from sync.drift')).toEqual([['missing_field', `/${field}`]])
      for (let nth = 4; nth < 40; nth++) await sync(territories, lacking, minute(nth))
      expect(await game()).toEqual(before)
      expect(
        await sync(
          territories,
          map((one) => one),
          minute(40),
        ),
      ).toMatchObject({ status: 'unchanged' })
      expect(await game()).toEqual(before)
      expect(await spans()).toEqual([['territories', `/${field}`, '10:01', '10:02', '10:40']])
      expect(await rows('select kind, path from sync.drift order by 1')).toEqual([
        ['missing_field', `/${field}`],
        ['returned_field', `/${field}`],
      ])
    },
  )

  test('is removed after two weeks: responses are whole again, nothing comes of it, and it is unknown for that time', async () => {
    await sync(
      territories,
      map((one) => one),
      '01 10:00',
    )
    const before = await game()
    const statuses: string[] = []
    for (let day = 1; day <= 29; day++) {
      const lacking = map((one) => without(one, 'guild'))
      statuses.push((await sync(territories, lacking, `${String(day).padStart(2, '0')} 12:00`)).status)
    }
    expect(statuses).toEqual([...Array(15).fill('partial'), ...Array(14).fill('unchanged')])
    expect(await game()).toEqual(before)
    expect(await spans()).toEqual([['territories', '/guild', '10:00', '12:00', null]])
    const owners = async (day: string) => {
      const at = `timestamptz '2026-06-${day}Z'`
      const [map, place, hold] = [
        `select distinct guild_name, reason from analytics.map_at(${at})`,
        `select guild_name, confirmed_until, reason from analytics.territory_owner_at('Place 01', ${at})`,
        `select is_current, confirmed_until, confirmed_for from analytics.territory_hold where territory = 'Place 01'`,
      ]
      return await Promise.all([map, place, hold].map(rows))
    }
    // No response since the first has shown who holds it.
    const seen = '10:00'
    for (const day of ['02 12:00', '29 12:00'])
      expect(await owners(day)).toEqual([
        [[null, 'not observed']],
        [[null, seen, 'not observed']],
        [[true, seen, '02:00:00']],
      ])
    expect((await owners('01 11:59'))[0]).toEqual([['Guild a', null]])
    await sync(
      territories,
      map((one) => ({ ...without(one, 'guild'), treasury: 'HIGH' })),
      '30 11:00',
    )
    expect(
      await rows(
        `select count(*)::int from game.territory_hold where valid_until = 'infinity' and guild_uuid = '${guildId('a')}'`,
      ),
    ).toEqual([[12]])
    await sync(
      territories,
      map((one) => one),
      '30 12:00',
    )
    expect(await spans()).toEqual([['territories', '/guild', '10:00', '12:00', '30 12:00']])
    // The same hold, by the game's own clock: it was held throughout.
    expect((await owners('20 12:00'))[0]).toEqual([['Guild a', null]])
    expect(
      await sync(
        territories,
        map((one) => without(one, 'guild')),
        '30 13:00',
      ),
    ).toMatchObject({ status: 'partial' })
  })

  test('comes back with another owner who says no time: it happened at some time since the last response that had it', async () => {
    const timeless = (letter: string) => (one: object) => ({ ...without(one, 'acquired'), ...guildOf(letter) })
    const guildOf = (letter: string) => ({ guild: Reflect.get(place(letter, '08:00'), 'guild') })
    await sync(territories, map(timeless('a')), '10:00')
    for (const at of ['11:00', '12:00', '13:00'])
      await sync(
        territories,
        map((one) => without(timeless('a')(one), 'guild')),
        at,
      )
    for (const at of ['14:00', '14:30']) await sync(territories, map(timeless('b')), at)
    expect(
      await rows('select distinct to_guild_name, captured_at, not_before from analytics.territory_capture'),
    ).toEqual([['Guild b', '14:00', '10:00']])
    expect(
      await rows(
        `select guild_name, held_until, confirmed_until from analytics.territory_hold where territory = 'Place 01' order by held_from`,
      ),
    ).toEqual([
      ['Guild a', '14:00', '10:00'],
      ['Guild b', null, '14:30'],
    ])
    const [at12, at1030] = await Promise.all(
      ['12:00', '10:30'].map((at) =>
        rows(`select distinct guild_name, reason from analytics.map_at('2026-06-01 ${at}Z')`),
      ),
    )
    expect([at12, at1030]).toEqual([[[null, 'not observed']], [['Guild a', null]]])
  })

  test('is taken for removed from the response on that a person accepts, of maps and of guilds', async () => {
    const lacking = map((one) => without(one, 'treasury'))
    await sync(
      territories,
      map((one) => one),
      minute(0),
    )
    for (const nth of [1, 2]) await sync(territories, lacking, minute(nth))
    await sync(territories, lacking, minute(3), { accept: true })
    for (const nth of [4, 5])
      expect(await sync(territories, lacking, minute(nth))).toMatchObject({ status: 'unchanged' })
    const members = Object.fromEntries(
      Array.from({ length: 6 }, (_, nth) => [nth + 1, { rank: nth === 0 ? 'owner' : 'recruit' }]),
    )
    const guild = guildBody('a', members, { level: 10, wars: 5, online: 6 })
    for (const nth of [10, 15, 20]) await syncGuild(world, guild, minute(nth))
    for (const nth of [25, 30]) await syncGuild(world, without(guild, 'wars'), minute(nth))
    expect((await spans()).map(([, field]) => field)).toEqual(['/wars', '/treasury'])
    await syncGuild(world, without(guild, 'wars'), minute(35), { accept: true })
    for (const nth of [40, 45])
      expect(await syncGuild(world, without(guild, 'wars'), minute(nth))).not.toMatchObject({ status: 'partial' })
  })

  test('makes no version when it returns unchanged, where another one changed meanwhile', async () => {
    const other = { defences: 'LOW' }
    await sync(
      territories,
      map((one) => one),
      minute(0),
    )
    for (const nth of [1, 2])
      await sync(
        territories,
        map((one) => ({ ...without(one, 'treasury'), ...other })),
        minute(nth),
      )
    const whole = map((one) => ({ ...one, ...other }))
    for (const nth of [3, 4]) expect(await sync(territories, whole, minute(nth))).toMatchObject({ changed: 0 })
    await sync(
      territories,
      map((one) => ({ ...one, ...other, treasury: 'HIGH' })),
      minute(5),
    )
    expect(
      await rows(`select treasury, defences, valid_from from game.territory where territory = 'Place 01' order by 3`),
    ).toEqual([
      ['LOW', 'HIGH', '10:00'],
      ['LOW', 'LOW', '10:01'],
      ['HIGH', 'LOW', '10:05'],
    ])
    const members = Object.fromEntries(
      Array.from({ length: 6 }, (_, nth) => [nth + 1, { rank: nth === 0 ? 'owner' : 'recruit' }]),
    )
    const guild = (letter: string, prefix: string, wars = 5) =>
      guildBody(letter, members, { level: 10, wars, online: 6, prefix, created: '2020-01-01T00:00:00.000Z' })
    const guilds = ['a', 'b']
    for (const letter of guilds) await syncGuild(world, guild(letter, 'old'), minute(10))
    for (const nth of [15, 20])
      for (const letter of guilds) await syncGuild(world, without(guild(letter, 'new', nth), 'created'), minute(nth))
    for (const nth of [25, 30])
      for (const letter of guilds) await syncGuild(world, guild(letter, 'new', 20), minute(nth))
    expect(await rows('select prefix, count(*)::int from game.guild group by 1 order by 1')).toEqual([
      ['new', 2],
      ['old', 2],
    ])
  })

  test('leaves other fields as they are sent', async () => {
    await sync(
      territories,
      map((one) => one),
      '10:00',
    )
    for (const nth of [1, 2]) {
      const defences = nth === 1 ? 'LOW' : 'MEDIUM'
      await sync(
        territories,
        map((one) => ({ ...without(one, 'hq'), defences })),
        minute(nth),
      )
    }
    expect(
      await rows(
        `select is_hq, treasury, defences from game.territory where territory = 'Place 00' order by valid_from`,
      ),
    ).toEqual([
      [true, 'LOW', 'HIGH'],
      [true, 'LOW', 'LOW'],
      [true, 'LOW', 'MEDIUM'],
    ])
    expect(await rows(`select count(*)::int from game.territory_link where territory = 'Place 00'`)).toEqual([[3]])
  })

  test('is not one that is null for all, as after a reset of the map', async () => {
    await sync(
      territories,
      map((one) => one),
      '10:00',
    )
    for (const nth of [1, 2, 3])
      await sync(
        territories,
        map((one) => ({ ...one, guild: null, acquired: null })),
        minute(nth),
      )
    expect(await spans()).toEqual([])
    expect(
      await rows(`select count(*)::int from game.territory_hold where valid_until = 'infinity' and guild_uuid is null`),
    ).toEqual([[12]])
  })

  test('is also one that has another type or another name', async () => {
    await sync(
      territories,
      map((one) => one),
      '10:00',
    )
    const before = await game()
    for (const nth of [1, 2, 3]) {
      const odd = map((one) => ({ ...without(one, 'hq'), headquarters: false, treasury: 7 }))
      await sync(territories, odd, minute(nth))
    }
    expect((await spans()).map(([, field]) => field)).toEqual(['/hq', '/treasury'])
    expect(
      await rows(
        `select is_hq, treasury from game.territory where territory = 'Place 00' and valid_until = 'infinity'`,
      ),
    ).toEqual([[true, 'LOW']])
    expect((await game())['game.territory_hold']).toBe(before['game.territory_hold'])
  })

  test.each<[string, (one: { guild: { name: string } }) => object]>([
    ['is a name alone', ({ guild }) => ({ guild: guild.name })],
    ['is null although it has captured the place', () => ({ guild: null })],
    ['has no uuid although it has captured the place', ({ guild }) => ({ guild: { ...guild, uuid: null } })],
  ])('is also a guild that %s: who holds a place is unknown until it is back', async (_what, odd) => {
    await sync(
      territories,
      map((one) => one),
      '10:00',
    )
    const before = await game()
    const lacking = map((one) => ({ ...one, ...odd(one as { guild: { name: string } }) }))
    for (const at of ['11:00', '12:00', '15 12:00', '28 12:00']) await sync(territories, lacking, at)
    const owners = `select distinct guild_name, reason from analytics.map_at('2026-06-28 12:00Z')`
    expect(await rows(owners)).toEqual([[null, 'not observed']])
    expect(
      await rows(`select distinct confirmed_until from analytics.territory_hold where territory = 'Place 01'`),
    ).toEqual([['10:00']])
    await sync(
      territories,
      map((one) => one),
      '28 13:00',
    )
    expect(await rows(owners)).toEqual([['Guild a', null]])
    expect(await game()).toEqual(before)
    expect(await rows('select * from game.territory_capture')).toEqual([])
  })

  test('is no span where one response has it again, and may never have been sent by most', async () => {
    const some = (name: string) => (names.indexOf(name) < 4 ? { treasury: 'LOW' } : {})
    for (let nth = 0; nth < 8; nth++)
      await sync(
        territories,
        map((one, name) =>
          nth % 2 === 0 ? { ...without(one, 'treasury'), ...some(name) } : without(without(one, 'treasury'), 'hq'),
        ),
        minute(nth),
      )
    expect(await spans()).toEqual([])
  })

  test('of items makes no version and no row of item_change', async () => {
    const all = (fields: object) =>
      names.map((name) => item(name, { tier: 'rare', requirements: { level: 3 }, ...fields }))
    await sync(items, all({}), '10:00')
    const before = await game()
    const lacking = names.map((name) => item(name, { requirements: { level: 3 } }))
    for (const hour of ['11:00', '12:00', '13:00'])
      expect(await sync(items, lacking, hour)).toMatchObject({ status: 'partial', changed: 0 })
    expect(await game()).toEqual(before)
    expect((await spans()).map(([, field]) => field)).toEqual(['/tier'])
    await sync(items, all({ tier: 'mythic' }), '14:00')
    expect(await rows(`select distinct old_value, new_value from game.field_change`)).toEqual([['rare', 'mythic']])
  })

  test('of a resource with a single record is a span too', async () => {
    const season = {
      initDate: '2026-05-01T23:01:00Z',
      srPerWar: 80,
      ratingRewards: [],
      leaderboardRewards: [],
      endDate: '2026-06-20T04:01:00Z',
    }
    await sync(seasons, { 31: season }, '10:00')
    for (const hour of ['11:00', '12:00', '13:00']) await sync(seasons, { 31: without(season, 'srPerWar') }, hour)
    expect((await spans()).map(([, field]) => field)).toEqual(['/srPerWar'])
    expect(await rows('select sr_per_war from game.season')).toEqual([[80]])
  })
})
