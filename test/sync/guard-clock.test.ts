import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { worldEvents } from '../../src/resources/world-events/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { type SentHeaders, sayingUnder } from '../support/clock-answers.ts'
import { guildBody, guildId, place, syncGuilds } from '../support/guild-answers.ts'
import { ofPart } from '../support/parts.ts'
import { onlineBody } from '../support/player-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

const minute = 60_000
const day = 86_400_000
const year = 365 * day
describe.each(kindsAtNight)('a wrong clock on the %s database', (kind) => {
  const world = worldOf(kind)
  const { rows } = world

  const { headersAt, say, sync, syncBoth } = sayingUnder(world)
  const actions = () =>
    rows(`select guard, action from sync.guard_action where guard in ('clock', 'header') order by at, 1`)
  const some = (...names: string[]) => names.map((name) => item(name))
  const current = () => rows(`select internal_name from game.item where valid_until = 'infinity' order by 1`)

  test("a start of an event that is over by the API's clock stays, although it is still to come by that of this machine", async () => {
    const event = (internalName: string, start: string) => ({
      internalName,
      name: internalName,
      schedule: `2026-06-01T${start}:00Z`,
    })
    const announce = async (events: object[], at: string) => await sync(worldEvents, events, at, 50 * minute)
    for (const at of ['10:00', '10:35']) await announce([event('moves', '11:30'), event('ends', '11:30')], at)
    for (const at of ['10:41', '10:46', '10:51']) await announce([event('moves', '12:30')], at)
    expect(await rows('select internal_name, starts_at from game.world_event_occurrence order by 2, 1')).toEqual([
      ['ends', '11:30'],
      ['moves', '11:30'],
      ['moves', '12:30'],
    ])
    expect(await rows(`select internal_name from game.world_event where valid_until = 'infinity'`)).toEqual([['moves']])
    // What is to come by both clocks is taken back.
    for (const at of ['10:56', '11:01']) await announce([event('moves', '12:20')], at)
    expect(
      await rows(
        "select starts_at from game.world_event_occurrence where starts_at > announced_at + interval '1 hour' order by 1",
      ),
    ).toEqual([['11:30'], ['11:30'], ['12:20']])
  })

  describe("that differs from this machine's by", () => {
    test.each([
      ['two minutes: the instant is by Date', 2 * minute, '10:02', []],
      ['fifteen minutes ahead: the instant is by this machine', 15 * minute, '10:00', [['clock', 'accepted']]],
      ['an hour behind: the instant is by this machine', -60 * minute, '10:00', [['clock', 'accepted']]],
      [
        'an hour of summer time and a moment: the instant is by this machine',
        -60 * minute - 2000,
        '10:00',
        [['clock', 'accepted']],
      ],
    ] as const)('%s', async (_what, ahead, instant, said) => {
      await sync(items, some('Ash'), '10:00', ahead)
      expect(await world.versions()).toEqual([['Ash', instant, 'infinity']])
      expect(await actions()).toEqual(said)
    })

    test.each([5 * day, -5 * day, year, -year, 61 * minute])(
      'more than an hour (%d ms): it is rejected, leaves no instant, and blocks nothing',
      async (ahead) => {
        await sync(items, some('Ash'), '10:00')
        for (const at of ['11:00', '11:30'])
          expect(await sync(items, some('Ash', 'Elm'), at, ahead)).toMatchObject({ status: 'rejected', inserted: 0 })
        expect(await sync(items, some('Ash', 'Elm'), '11:40', ahead, { accept: true })).toMatchObject({
          status: 'rejected',
          observedAt: null,
        })
        expect(await sync(items, some('Ash', 'Fir'), '12:00')).toMatchObject({ status: 'ok', inserted: 1 })
        expect(await world.versions()).toEqual([
          ['Ash', '10:00', 'infinity'],
          ['Fir', '12:00', 'infinity'],
        ])
        expect(await rows(`select count(*) from sync.run where observed_at is null`)).toEqual([[3]])
      },
    )

    test('years, where a person says whose clock is right: that one dates everything', async () => {
      expect(await sync(items, some('Ash'), '10:00', -year, { clock: 'api' })).toMatchObject({
        observedAt: '2025-06-01T10:00:00.000Z',
      })
      expect(await sync(items, some('Elm'), '11:00', -year, { clock: 'machine' })).toMatchObject({
        observedAt: '2026-06-01T11:00:00.000Z',
      })
      expect(await actions()).toEqual([])
    })

    test('hours for days: a gap that says so, and then everything goes on', async () => {
      await setExpectedInterval(world.db, { resource: 'items', everySeconds: 6 * 3600, setBy: 'sync', at: new Date(0) })
      await sync(items, some('Ash'), '01 00:00')
      for (const at of ['02', '03', '04', '05'].flatMap((of) =>
        ['00', '06', '12', '18'].map((hour) => `${of} ${hour}:00`),
      ))
        expect(await sync(items, some('Ash', 'Elm'), at, 5 * 60 * minute)).toMatchObject({ status: 'rejected' })
      expect(await sync(items, some('Ash', 'Elm'), '06 00:00')).toMatchObject({ status: 'ok', inserted: 1 })
      expect(await rows('select began_at, ended_at, reason from sync.gap')).toEqual([
        ['00:00', '06 00:00', expect.stringContaining("the API's clock is 300 minutes ahead of this machine's")],
      ])
    })
  })

  test('of a list of who is online that is dated fifteen minutes ahead blinds nothing', async () => {
    await sync(onlinePlayers, onlineBody({ WC1: [1, 2] }), '10:00')
    await sync(onlinePlayers, onlineBody({ WC1: [1, 2, 3] }), '10:01', 15 * minute)
    expect(await sync(onlinePlayers, onlineBody({ WC1: [1, 2, 3, 4] }), '10:02')).toMatchObject({ status: 'ok' })
    expect(await rows('select observed_at, total from game.online_sample order by 1')).toEqual([
      ['10:00', 2],
      ['10:01', 3],
      ['10:02', 4],
    ])
  })

  test('of this machine that was ahead: until then, order goes on from what it dated', async () => {
    await sync(items, some('Ash'), '10:00', 40 * minute, { clock: 'api' })
    for (const [nth, at] of ['10:01', '10:11', '10:21'].entries())
      expect(await sync(items, some('Ash', at), at)).toMatchObject({
        status: 'ok',
        observedAt: `2026-06-01T10:40:00.00${nth + 1}Z`,
      })
    expect(await sync(items, some('Ash', 'Elm'), '10:41')).toMatchObject({ observedAt: '2026-06-01T10:41:00.000Z' })
    expect(await actions()).toEqual([['clock', 'accepted']])
    expect((await current()).flat()).toContain('Elm')
  })

  test.each([
    ['an hour', 59 * minute],
    ['a day', day],
  ])(
    'that was %s ahead, by which responses were dated, costs no capture and no end until then',
    async (_much, ahead) => {
      const elm = place('e', '08:00')
      await sync(territories, { Oak: place('a', '08:00'), Elm: elm }, '10:00', ahead, { clock: 'api' })
      for (const [oak, ...instants] of [
        [place('b', '10:00:55'), '10:01:00', '10:01:10'],
        [place('c', '10:01:50'), '10:02:00', '10:02:10'],
        [place('d', '10:02:50'), '10:03:00'],
        [place('c', '10:01:50'), '10:03:10', '10:03:20', '10:03:30'],
      ] as const)
        for (const at of instants) await sync(territories, { Oak: oak }, at)
      expect(
        await rows('select from_guild_name, to_guild_name, captured_at from analytics.territory_capture order by 3'),
      ).toEqual([
        ['Guild a', 'Guild b', '10:00:55'],
        ['Guild b', 'Guild c', '10:01:50'],
      ])
      expect(
        await rows(`select count(*)::int from game.territory where territory = 'Elm' and valid_until = 'infinity'`),
      ).toEqual([[0]])
    },
  )

  test('of a refusal is no reason to end a guild: it fails, and the next one counts', async () => {
    const key = guildId('a')
    const path = `/guild/uuid/${key}`
    const body = guildBody('a', { 1: { rank: 'owner' } })
    const ask = async (at: string, answer: { status?: number; body: unknown; ahead?: number }) => {
      const { ahead = 0, ...rest } = answer
      const instant = instantOf(at)
      if (instant > world.clock.now()) await world.clock.advanceTo(instant)
      world.sandbox.setAnswer(path, () => ({ ...rest, headers: headersAt(world.clock.now(), ahead) }))
      return await syncGuilds(world, { keys: [key] }, { clock: 'both' })
    }
    const gone = { status: 404, body: { error: 'NotFound', detail: 'no such guild', code: 404 } }
    await ask('10:00', { body })
    for (const at of ['11:00', '12:00', '13:00'])
      expect(await ask(at, { ...gone, ahead: -year })).toMatchObject({
        status: 'failed',
        error: expect.stringContaining("behind this machine's"),
      })
    expect(await world.versions('guild', 'guild_uuid')).toEqual([[key, '10:00', 'infinity']])
    for (const at of ['14:00', '15:00']) await ask(at, gone)
    expect(await world.versions('guild', 'guild_uuid')).toEqual([[key, '10:00', '14:00']])
  })

  test.each([5 * day, -5 * day])('of %s ms dates refusals, too, where a person says that it decides', async (ahead) => {
    const of = (letter: string, body: unknown, status = 200) =>
      world.sandbox.setAnswer(`/guild/uuid/${guildId(letter)}`, () => ({
        status,
        body,
        headers: headersAt(world.clock.now(), ahead),
      }))
    const ask = async (at: string) => {
      if (instantOf(at) > world.clock.now()) await world.clock.advanceTo(instantOf(at))
      return await syncGuilds(world, { keys: [guildId('a')] }, { clock: 'api' })
    }
    of('a', guildBody('a', { 1: { rank: 'owner' } }))
    await ask('10 10:00')
    of('a', { error: 'NotFound', detail: 'no such guild', code: 404 }, 404)
    for (const at of ['10 11:00', '10 12:00']) await ask(at)
    const [from, until] = ahead > 0 ? ['15 10:00', '15 11:00'] : ['05 10:00', '05 11:00']
    expect(await world.versions('guild', 'guild_uuid')).toEqual([[guildId('a'), from, until]])
  })

  /** Headers that stay odd for ever, under a right `Date`. */
  const odd = new Map<string, (now: number) => SentHeaders>([
    [
      'a TerritoryLastTick that stands still',
      (now) => ({ ...headersAt(now), TerritoryLastTick: new Date(instantOf('01 00:00')).toISOString() }),
    ],
    ['an Expires of 1970', (now) => ({ ...headersAt(now), Expires: new Date(0).toUTCString() })],
    [
      'an Expires an hour before Date',
      (now) => ({ ...headersAt(now), Expires: new Date(now - 60 * minute).toUTCString() }),
    ],
    [
      'an Expires an hour after Date',
      (now) => ({ ...headersAt(now), Expires: new Date(now + 60 * minute).toUTCString() }),
    ],
    [
      'an Age that grows',
      (now) => ({
        Expires: null,
        Date: new Date(now).toUTCString(),
        Age: String(9999 + Math.round((now - instantOf('01 00:00')) / 1000)),
      }),
    ],
    ['a lifetime of a year', (now) => ({ ...headersAt(now), 'Cache-Control': 'max-age=31536000' })],
  ])

  const everyOdd = [...odd]
  test.each(ofPart({ quick: everyOdd.slice(0, 1), rest: everyOdd.slice(1) }))(
    'with %s for a month: every response is loaded, what is gone ends, and it is said',
    async (_what, headers) => {
      const hours = ['00', '10']
      const days = Array.from({ length: 30 }, (_, nth) => String(nth + 1).padStart(2, '0'))
      const polls = days.flatMap((of) => hours.map((hour) => `${of} ${hour}:00`))
      const statuses = new Set<string>()
      for (const at of polls) {
        const of = Number(at.slice(0, 2))
        // Every ten days another guild takes Oak, and another item replaces one.
        const [owner, since] = (
          [
            ['a', '01'],
            ['b', '11'],
            ['c', '21'],
          ] as const
        )[Math.floor((of - 1) / 10)] ?? ['a', '01']
        const map = { Oak: place(owner, `${since} 00:00`), Elm: place('d', '01 00:00') }
        await say(territories, map, at, headers)
        statuses.add((await syncBoth(territories)).status)
        await say(items, some('Ash', `Since${since}`), at, headers)
        statuses.add((await syncBoth(items)).status)
        await say(onlinePlayers, onlineBody({ WC1: [1, 2, of] }), at, headers)
        statuses.add((await syncBoth(onlinePlayers)).status)
      }
      expect([...statuses].toSorted()).toEqual(['ok', 'unchanged'])
      expect(await rows('select to_guild_name, captured_at from game.territory_capture order by 2')).toEqual([
        ['Guild b', '11 00:00'],
        ['Guild c', '21 00:00'],
      ])
      expect(await world.versions()).toEqual([
        ['Ash', '00:00', 'infinity'],
        ['Since01', '00:00', '11 00:00'],
        ['Since11', '11 00:00', '21 00:00'],
        ['Since21', '21 00:00', 'infinity'],
      ])
      expect(await rows(`select count(distinct observed_at) from sync.run where resource = 'online-players'`)).toEqual([
        [polls.length],
      ])
      expect(
        (await rows(`select distinct guard, action from sync.guard_action where guard <> 'absence'`)).flat(),
      ).toEqual(['header', 'ignored'])
    },
  )

  test('of a list that is shrunken is nothing: hours by one wrong clock are none', async () => {
    const names = Array.from({ length: 20 }, (_, nth) => `Item${nth}`)
    const few = some(...names.slice(0, 8))
    await sync(items, some(...names), '10:00')
    for (const at of ['11:00', '12:00', '13:00', '14:00']) await sync(items, few, at)
    expect(await sync(items, few, '15:10', 16 * 60 * minute, { clock: 'api' })).toMatchObject({ closed: 0 })
    for (const at of ['16:00', '17:00', '18:00']) await sync(items, some(...names), at)
    expect(await rows('select valid_from, valid_until, count(*)::int from game.item group by 1, 2')).toEqual([
      ['10:00', 'infinity', 20],
    ])
  })

  test('remarks about a response that repeat are made once an hour', async () => {
    for (const at of ['10:00', '10:01', '10:30', '10:59', '11:01']) await sync(items, some('Ash', at), at, 15 * minute)
    expect(await rows(`select at from sync.guard_action where guard = 'clock'`)).toEqual([['10:00'], ['11:01']])
  })

  test('in one record: two responses that agree give the hold back, and nothing is captured', async () => {
    const right = { Oak: place('a', '08:00'), Elm: place('b', '09:55') }
    const holders = () =>
      rows(`select territory, guild_prefix from game.territory_hold where valid_until = 'infinity' order by 1`)
    const captures = () => rows('select territory, to_guild_name from game.territory_capture order by 1, captured_at')
    await sync(territories, right, '10:00')
    // Both territories under each other's name.
    await sync(territories, { Oak: right.Elm, Elm: right.Oak }, '10:01')
    const wrong = [['Oak', 'Guild b']]
    expect(await captures()).toEqual(wrong)

    expect(await sync(territories, right, '10:02')).toMatchObject({ status: 'unchanged' })
    expect(await actions()).toContainEqual(['clock', 'pending'])
    // One that agrees with what is stored begins anew.
    await sync(territories, { ...right, Oak: right.Elm }, '10:03')
    await sync(territories, right, '10:04')
    expect(await holders()).toEqual([
      ['Elm', 'bbb'],
      ['Oak', 'bbb'],
    ])
    await sync(territories, right, '10:05')
    expect(await holders()).toEqual([
      ['Elm', 'bbb'],
      ['Oak', 'aaa'],
    ])
    expect((await actions()).at(-1)).toEqual(['clock', 'given up'])
    expect(await captures()).toEqual(wrong)
    expect(await rows('select from sync.claim')).toEqual([])
    expect(await sync(territories, right, '10:06')).toMatchObject({ status: 'unchanged' })
    await sync(territories, { ...right, Oak: place('c', '10:06') }, '10:07')
    expect(await captures()).toEqual([...wrong, ['Oak', 'Guild c']])
  })
})
