import { beforeEach, describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, playerId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { headersOf, instantOf, item, worldOf } from '../support/world.ts'

describe.each(kindsOfPart)('what a response of a wrong clock ended on the %s database', (kind) => {
  const world = worldOf(kind)
  const some = (...names: string[]) => names.map((name) => item(name))
  const all = some('Ash', 'Elm', 'Fir', 'Oak')
  const less = some('Ash', 'Elm', 'Fir')
  const pending = () => world.rows('select subject, first_at, times from sync.claim order by subject')

  /** The API says at `came` what speaks for `dated`. */
  async function answer(path: string, body: object, came: string, dated: string) {
    await world.clock.advanceTo(instantOf(came))
    world.sandbox.setAnswer(path, () => ({ headers: headersOf(instantOf(dated), 60), body }))
  }
  async function syncItems(body: object, came: string, dated: string) {
    await answer(items.route, body, came, dated)
    return await world.syncNow(items)
  }

  describe('when it is given up', () => {
    const ends = async () => [
      await world.rows(`select internal_name from game.item where valid_until < 'infinity'`),
      await world.rows('select key, path, changed_at from game.field_change'),
    ]
    beforeEach(async () => {
      await world.sync(items, all, '10:00')
      await world.sync(items, less, '11:00')
      expect(await syncItems(less, '13:00', '02 08:00')).toMatchObject({ status: 'ok', closed: 1 })
      expect(await ends()).toEqual([[['Oak']], [['Oak', '', '11:00']]])
    })

    test('goes on, as one version without changes', async () => {
      for (const at of ['15:00', '17:00', '19:00']) await world.sync(items, all, at)
      expect(await ends()).toEqual([[], []])
      expect(await world.versions()).toContainEqual(['Oak', '10:00', 'infinity'])
      expect(await pending()).toEqual([])
    })

    test('is missing as often as the others lacked it, and ends when they go on to', async () => {
      for (const at of ['15:00', '17:00']) await world.sync(items, less, at)
      expect(await ends()).toEqual([[['Oak']], [['Oak', '', '11:00']]])
      expect(await pending()).toEqual([])
    })
  })

  test('of a guild: the member goes on, and did not leave', async () => {
    const both = guildBody('a', { 1: { rank: 'owner' }, 2: { contributed: 100 } })
    const one = guildBody('a', { 1: { rank: 'owner' } })
    const members = () => world.versions('guild_member', 'player_uuid')
    await syncGuild(world, both, '10:00')
    await syncGuild(world, one, '11:00')
    await answer(`/guild/uuid/${guildId('a')}`, one, '13:00', '02 08:00')
    await syncGuilds(world, { keys: [guildId('a')] })
    expect((await members())[1]).toEqual([playerId(2), expect.anything(), '11:00'])
    for (const at of ['15:00', '17:00', '19:00']) await syncGuild(world, both, at)
    expect((await members()).map(([, , until]) => until)).toEqual(['infinity', 'infinity'])
    expect(await world.rows(`select event from analytics.membership_event where event = 'left'`)).toEqual([])
  })

  test('of the worlds: the world goes on, and was not down', async () => {
    const both = onlineBody({ EU1: [1, 2], NA1: [3] })
    await syncOnline(world, both, '10:00')
    await syncOnline(world, onlineBody({ EU1: [1, 2] }), '10:01')
    await answer('/player', onlineBody({ EU1: [1, 2] }), '10:03', '20:00')
    await world.syncNow(onlinePlayers)
    expect(await world.versions('world', 'world')).toContainEqual(['NA1', '10:00', '10:01'])
    for (const at of ['10:05', '10:06', '10:07']) await syncOnline(world, both, at)
    expect(await world.versions('world', 'world')).toEqual([
      ['EU1', '10:00', 'infinity'],
      ['NA1', '10:00', 'infinity'],
    ])
  })

  test('of the map: territory and hold go on, and nothing is captured', async () => {
    const both = { Oak: place('a', '08:00'), Elm: place('b', '09:00') }
    const one = { Oak: place('a', '08:00') }
    const until = () => world.rows('select territory, valid_until from game.territory_hold order by 1, 2')
    await world.sync(territories, both, '10:00')
    await world.sync(territories, one, '10:02')
    await answer(territories.route, one, '10:04', '20:00')
    await world.syncNow(territories)
    expect(await until()).toContainEqual(['Elm', '10:02'])
    for (const at of ['10:06', '10:08', '10:10']) await world.sync(territories, both, at)
    expect(await until()).toEqual([
      ['Elm', 'infinity'],
      ['Oak', 'infinity'],
    ])
    expect(await world.versions('territory', 'territory')).toHaveLength(2)
    expect(await world.rows('select from game.territory_capture')).toEqual([])
  })

  test('of a shrunken list is nothing: hours by one wrong clock are none', async () => {
    const names = Array.from({ length: 20 }, (_, nth) => `Item${nth}`)
    const few = some(...names.slice(0, 8))
    await world.sync(items, some(...names), '10:00')
    for (const at of ['11:00', '12:00', '13:00', '14:00']) await world.sync(items, few, at)
    expect(await syncItems(few, '15:10', '02 03:00')).toMatchObject({ closed: 0 })
    for (const at of ['16:00', '17:00', '18:00']) await world.sync(items, some(...names), at)
    expect(await world.rows('select valid_from, valid_until, count(*)::int from game.item group by 1, 2')).toEqual([
      ['10:00', 'infinity', 20],
    ])
  })

  test('twenty seconds after another response is nothing, whichever of the two clocks is wrong', async () => {
    await world.sync(items, all, '10:00')
    await syncItems(less, '02 10:00', '11:00')
    expect(await syncItems(less, '02 10:00:20', '02 10:00:20')).toMatchObject({ closed: 0 })
    expect(await pending()).toEqual([['Oak', '11:00', 1]])
  })
})
