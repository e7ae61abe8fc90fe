import { describe, expect, test } from 'vitest'
import { resources } from '../../src/resources/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { compactCoverage } from '../../src/sync/coverage/coverage.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { type SentHeaders, sayingUnder } from '../support/clock-answers.ts'
import { place, playerId } from '../support/guild-answers.ts'
import { onlineBody, profile, syncPlayer, syncPlayers } from '../support/player-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

describe.each(kindsAtNight)('an old copy on the %s database', (kind) => {
  const world = worldOf(kind)
  const { rows } = world

  const { headersAt, say, sync, syncBoth } = sayingUnder(world)
  const actions = () =>
    rows(`select guard, action from sync.guard_action where guard in ('clock', 'header') order by at, 1`)
  const some = (...names: string[]) => names.map((name) => item(name))
  const current = () => rows(`select internal_name from game.item where valid_until = 'infinity' order by 1`)

  describe('an old copy that does not say its age', () => {
    const right = { Oak: place('b', '09:00'), Elm: place('d', '08:00') }
    const wrong = { Oak: place('a', '08:00'), Elm: place('d', '08:00') }
    const aged = (at: string) => (now: number) => ({
      Expires: null,
      Date: new Date(now).toUTCString(),
      Age: String(7200 + Math.round((now - instantOf(at)) / 1000)),
    })
    const holders = () =>
      rows(`select territory, guild_prefix from game.territory_hold where valid_until = 'infinity' order by 1`)

    test('and comes again for hours counts as one response: it ends no hold, and no item', async () => {
      await sync(territories, right, '10:00')
      await sync(territories, right, '10:01')
      await sync(items, some('Ash', 'Elm'), '10:00')
      for (const at of ['11:00', '11:01', '12:30', '14:00', '16:59']) {
        await say(territories, wrong, at, aged('11:00'))
        expect((await syncBoth(territories)).status).toBe('unchanged')
        await say(items, some('Ash'), at, aged('11:00'))
        await syncBoth(items)
      }
      expect(await holders()).toEqual([
        ['Elm', 'ddd'],
        ['Oak', 'bbb'],
      ])
      expect(await current()).toEqual([['Ash'], ['Elm']])
      expect(await rows('select kind, subject, times from sync.claim where times > 1')).toEqual([])
    })

    test.each([2 * 3600, 2 * 86_400])(
      'and comes by turns with new ones, %d seconds old each time, takes no place and ends no item',
      async (age) => {
        await sync(territories, right, '10:00')
        await sync(territories, right, '10:01')
        await sync(items, some('Ash', 'Elm'), '10:00')
        const old = (now: number) => ({ Expires: null, Date: new Date(now).toUTCString(), Age: String(age) })
        for (const hour of ['11', '12', '13', '15', '18', '22']) {
          await sync(territories, right, `${hour}:00`)
          for (const minutes of ['05', '10', '15']) {
            await say(territories, wrong, `${hour}:${minutes}`, old)
            await syncBoth(territories)
          }
          await sync(items, some('Ash', 'Elm'), `${hour}:20`)
          await say(items, some('Ash'), `${hour}:59`, old)
          await syncBoth(items)
        }
        expect(await rows('select territory, guild_prefix, valid_until from game.territory_hold order by 1')).toEqual([
          ['Elm', 'ddd', 'infinity'],
          ['Oak', 'bbb', 'infinity'],
        ])
        expect(await current()).toEqual([['Ash'], ['Elm']])
      },
    )

    test('and comes again for longer than six hours is believed', async () => {
      await sync(items, some('Ash', 'Elm'), '10:00')
      for (const at of ['11:00', '17:00']) {
        await say(items, some('Ash'), at, aged('11:00'))
        await syncBoth(items)
      }
      expect(await current()).toEqual([['Ash']])
    })

    test('confirms no restriction of a player for as long', async () => {
      const path = `/player/${playerId(1)}`
      const ask = async (at: string, body: object, headers: (now: number) => SentHeaders) => {
        const instant = instantOf(at)
        if (instant > world.clock.now()) await world.clock.advanceTo(instant)
        world.sandbox.setAnswer(path, () => ({ headers: headers(world.clock.now()), body }))
        await syncPlayers(world, { keys: [playerId(1)] })
      }
      const open = profile(1, { playtime: 5 })
      const hidden = profile(1, { restrictions: { main_access: true } })
      await ask('10:00', open, headersAt)
      for (const at of ['11:00', '12:00', '13:00']) await ask(at, hidden, aged('11:00'))
      expect((await rows('select is_pending from sync.privacy_restriction')).flat()).toEqual([true])
      await ask('14:00', hidden, headersAt)
      expect((await rows('select is_pending from sync.privacy_restriction')).flat()).toEqual([false])
    })
  })

  test('that a cache kept with its Date is stale, and brings neither a hold nor a sample', async () => {
    const right = { Oak: place('b', '10:15'), Elm: place('d', '08:00') }
    const wrong = { Oak: place('a', '08:00'), Elm: place('d', '08:00') }
    const keptFor = (seconds: number) => (now: number) => ({ ...headersAt(now, -1000 * seconds), Age: String(seconds) })
    await sync(territories, wrong, '10:00')
    await sync(territories, right, '10:20')
    await sync(onlinePlayers, onlineBody({ EU1: [1, 2, 3, 4], EU2: [5, 6] }), '10:20')
    for (const at of ['10:21', '10:22', '10:30', '10:45']) {
      const seconds = (instantOf(at) - instantOf('10:10')) / 1000
      await say(territories, wrong, at, keptFor(seconds))
      expect((await syncBoth(territories)).status).toBe('stale')
      await say(onlinePlayers, onlineBody({ EU1: [1, 2, 3], EU2: [5, 6] }), at, keptFor(seconds))
      expect((await syncBoth(onlinePlayers)).status).toBe('stale')
    }
    expect(
      await rows(`select guild_prefix, valid_from from game.territory_hold where territory = 'Oak' order by 2`),
    ).toEqual([
      ['aaa', '08:00'],
      ['bbb', '10:15'],
    ])
    expect(await rows('select listed, observed_at from game.online_sample')).toEqual([[6, '10:20']])
    expect(await actions()).toEqual([])
  })

  test('of one old copy after a pause: what was shown before stays', async () => {
    const [one, two] = [1, 2].map((levelRequirement) => [item('Bow', { levelRequirement }), item('Axe')])
    await world.sync(items, one, '01 10:00')
    // The program was off, and the first response after it says that it is two days old.
    await world.clock.advanceTo(instantOf('06 10:00'))
    await world.sync(items, one, '04 10:00')
    for (const at of ['06 11:30', '06 13:00', '06 14:30']) await world.sync(items, two, at)
    expect(await world.versions()).toEqual([
      ['Axe', '10:00', 'infinity'],
      ['Bow', '10:00', '06 11:30'],
      ['Bow', '06 11:30', 'infinity'],
    ])
    expect(await actions()).toEqual([])
  })

  test('of one old copy of a player whose ledger is compacted: older versions and samples stay', async () => {
    await setExpectedInterval(world.db, { resource: 'players', everySeconds: 120, setBy: 'sync', at: new Date(0) })
    await syncPlayer(world, 2, profile(2), '01 00:00')
    for (const of of ['01', '02', '03'])
      for (const hour of ['01', '05', '09'])
        await syncPlayer(
          world,
          1,
          profile(1, { playtime: Number(of) * 100 + Number(hour), rank: `R${of}` }),
          `${of} ${hour}:00`,
        )
    await syncPlayer(world, 2, profile(2, { rank: 'X' }), '03 18:00')
    await world.clock.advanceTo(instantOf('20 00:00'))
    await compactCoverage(world.db, { before: new Date(instantOf('13 00:00')), resources })
    await syncPlayer(world, 1, profile(1, { playtime: 900, rank: 'R03' }), '18 00:00')
    for (const at of ['20 00:10', '20 00:20'])
      await syncPlayer(world, 1, profile(1, { playtime: 1000, rank: 'R03' }), at)
    const kept = await rows(
      `select (select count(*)::int from game.player where player_uuid = '${playerId(1)}'),
              (select count(*)::int from game.player_counter where player_uuid = '${playerId(1)}' and observed_at < '2026-06-10Z')`,
    )
    expect(kept).toEqual([[3, 9]])
  })
})
