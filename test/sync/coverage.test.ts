import { describe, expect, test } from 'vitest'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { expectationAt, setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { guildBody, guildId, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { instantOf, openWorld, worldOf } from '../support/world.ts'

describe.each(kindsOfPart)('what was expected and missed, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows } = world
  const tell = (resource: string, everySeconds: number | null, at = '00:00', setBy: 'start' | 'sync' = 'sync') =>
    expectEvery(world.db, { resource, everySeconds, setBy, at: new Date(instantOf(at)) })
  const online = (at: string, count: number) =>
    syncOnline(world, onlineBody({ EU1: Array.from({ length: count }, (_, nth) => nth) }), at)
  const gaps = () => rows('select resource, began_at, ended_at, missed, reason from sync.gap order by 1, 2')

  test('is told once, and again when it is something else', async () => {
    await tell('items', 3600, '10:00')
    await tell('items', 3600, '11:00', 'start')
    await tell('items', 60, '12:00', 'start')
    await tell('items', null, '13:00', 'start')
    await tell('items', null, '14:00')
    expect(await rows('select valid_from, every_seconds, told_by from sync.expectation order by 1')).toEqual([
      ['10:00', 3600, 'sync'],
      ['12:00', 60, 'start'],
      ['13:00', null, 'start'],
    ])
    expect(await expectationAt(world.db, 'items', new Date(instantOf('12:30')))).toEqual({
      everySeconds: 60,
      setBy: 'start',
    })
    expect(await expectationAt(world.db, 'items', new Date(instantOf('09:59')))).toBeUndefined()
  })

  test('is no gap while answers come in time, also when some come a little late', async () => {
    await tell('online-players', 60)
    for (const at of ['10:00', '10:01:02', '10:02:04', '10:03:30']) await online(at, 2)
    expect(await gaps()).toEqual([])
  })

  test('is a gap when nobody asked', async () => {
    await tell('online-players', 60)
    await online('10:00', 2)
    await online('10:05', 2)
    expect(await gaps()).toEqual([['online-players', '10:00', '10:05', 4, 'no request was sent']])
  })

  test('is a gap with its reason when those who asked got no good answer', async () => {
    await tell('online-players', 60)
    await online('10:00', 2)
    for (const at of ['10:01', '10:02']) expect(await syncOnline(world, {}, at)).toMatchObject({ status: 'rejected' })
    await online('10:03', 2)
    world.sandbox.setAnswer('/player', () => ({ status: 403, body: { error: 'Forbidden', detail: 'not you' } }))
    await world.clock.advanceTo(instantOf('10:04'))
    expect(await world.syncNow(onlinePlayers)).toMatchObject({ status: 'failed' })
    await online('10:06', 3)
    expect(await gaps()).toEqual([
      ['online-players', '10:00', '10:03', 2, 'the response holds no records'],
      ['online-players', '10:03', '10:06', 2, expect.stringContaining('403')],
    ])
  })

  test('is no gap when the API gives the same copy to who asks in time, and one when nobody asked for it', async () => {
    await tell('online-players', 60)
    await online('10:00', 2)
    for (const asked of ['10:01', '10:02', '10:03']) {
      await world.clock.advanceTo(instantOf(asked))
      expect(await online('10:00', 2)).toMatchObject({ status: 'unchanged' })
    }
    await online('10:04', 3)
    expect(await gaps()).toEqual([])
    await world.clock.advanceTo(instantOf('10:10'))
    await online('10:04', 3)
    expect(await gaps()).toEqual([['online-players', '10:04', '10:10', 5, 'no request was sent']])
  })

  test('is no gap when copies are of different age', async () => {
    await tell('online-players', 30)
    await world.clock.advanceTo(instantOf('10:00:29'))
    await online('10:00', 2)
    // Asked half a minute later, for a copy that is new instead of old.
    await online('10:00:59', 3)
    expect(await gaps()).toEqual([])
  })

  test('is a gap by the time of the answers where the clock of who asks has nothing to do with it', async () => {
    await tell('online-players', 60, '20:00')
    await world.clock.advanceTo(instantOf('20:00'))
    for (const at of ['10:00', '10:01', '12:01']) await online(at, Number(at.slice(-1)) + 1 + Number(at.slice(0, 2)))
    expect(await gaps()).toEqual([['online-players', '10:01', '12:01', 119, 'no request was sent']])
  })

  test('is a gap of before anybody told, too, and one without missed ones while it is switched off', async () => {
    await online('10:00', 2)
    await online('11:00', 2)
    expect(await gaps()).toEqual([])
    await tell('online-players', 60, '11:00')
    await tell('online-players', null, '11:01')
    await tell('online-players', 60, '11:59:30')
    await online('12:00', 2)
    expect(await gaps()).toEqual([
      ['online-players', '10:00', '11:00', 59, 'no request was sent'],
      ['online-players', '11:01', '11:59:30', 0, 'switched off'],
    ])
  })

  test('is a gap because of the budget when its request waited for that', async () => {
    const narrow = await openWorld(world.db, { limits: { guest: 1, token: 1 } })
    try {
      await tell('online-players', 10)
      narrow.sandbox.setAnswer(onlinePlayers.route, () => ({ body: onlineBody({ EU1: [1] }) }))
      for (const _ of [1, 2]) await narrow.syncNow(onlinePlayers)
      const [[, began, , , reason] = []] = await gaps()
      expect(began).toBe('00:00')
      expect(reason).toMatch(/^budget used up by others: the request waited for the rate limit since 2026-06-01T00:00/)
    } finally {
      await narrow.api.close()
      await narrow.sandbox.close()
    }
  })

  test('is a gap of a worklist when no key at all was answered', async () => {
    await tell('guilds', 120)
    await syncGuild(world, guildBody('a', { 1: {} }), '10:00')
    await syncGuild(world, guildBody('b', { 2: {} }), '10:02')
    await syncGuild(world, guildBody('a', { 1: {}, 3: {} }), '10:05')
    expect(await gaps()).toEqual([])
    await syncGuild(world, guildBody('b', { 2: {} }, { members: { total: 9 } }), '10:07')
    world.sandbox.setAnswer(`/guild/uuid/${guildId('b')}`, () => ({ status: 404, body: { error: 'NotFound' } }))
    await syncGuild(world, guildBody('a', { 1: {} }), '10:15')
    expect(await gaps()).toEqual([['guilds', '10:05', '10:15', 4, 'no request was sent']])
  })
})
