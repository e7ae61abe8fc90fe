import { describe, expect, test } from 'vitest'
import { readOverview, statusText } from '../../src/cli/commands/status/status-command.ts'
import { playerId } from '../support/guild-answers.ts'
import { profile, syncPlayers } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { closed, restrictionsIn } from '../support/private-player.ts'
import { headersOf, instantOf, worldOf } from '../support/world.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, nth) => nth + 1)

describe.each(kindsOfLongTests)('restrictions on the %s database', (kind) => {
  const world = Object.assign(worldOf(kind), { raw: true })
  const { rows } = world
  const { pending, actions, guards, count } = restrictionsIn(world)
  const many = 25
  const open = (number: number) => profile(number, { playtime: 100 + number, globalData: { wars: 5 } })

  async function syncMany(body: (number: number) => object, at: string, accept = false) {
    const instant = instantOf(at)
    await world.clock.advanceTo(instant)
    const headers = headersOf(instant, 120)
    for (const number of numbers(many))
      world.sandbox.setAnswer(`/player/${playerId(number)}`, () => ({ headers, body: body(number) }))
    return await syncPlayers(world, { keys: numbers(many).map(playerId) }, 'anonymize', accept)
  }

  test('of many players in one run are held, and concluded by responses hours apart', async () => {
    await syncMany(open, '09:00')
    const before = await count('game.player_counter')
    expect(await syncMany(closed, '10:00')).toMatchObject({ status: 'rejected' })
    expect(await guards()).toEqual([['mass-restriction', 'pending']])
    for (const at of ['10:10', '11:00', '12:10']) await syncMany(closed, at)
    expect(await count('game.player_counter')).toBe(before)
    expect(await rows('select distinct is_pending, is_held from sync.privacy_restriction')).toEqual([[true, true]])
    expect(await rows('select distinct kind, times from sync.claim')).toEqual([['restricted', 2]])
    const status = () => readOverview(world.db, world.clock.now())
    const { restrictions } = await status()
    expect(restrictions).toEqual([
      { group: 'mainAccess', pending: many, held: many, needsToken: 0, since: new Date(instantOf('10:00')) },
    ])
    expect(statusText(await status(), world.clock.now())).toMatch(
      new RegExp(`pending until another response confirms it\n.*\nmainAccess +${many} +${many} +0 +2.2 h ago\n`),
    )
    await syncMany(closed, '14:20')
    expect(await count('game.player_counter')).toBe(0)
    expect((await status()).restrictions).toEqual([])
  })

  test('of many players are held also in runs of two players each', async () => {
    await syncMany(open, '09:00')
    const before = await count('game.player_counter')
    const each = async (hour: string) => {
      for (let first = 1; first < many; first += 2) {
        await world.clock.advanceTo(instantOf(`${hour}:${10 + first}`))
        const headers = headersOf(world.clock.now(), 120)
        for (const number of [first, first + 1])
          world.sandbox.setAnswer(`/player/${playerId(number)}`, () => ({ headers, body: closed(number) }))
        await syncPlayers(world, { keys: [first, first + 1].map(playerId) })
      }
    }
    for (const hour of ['10', '11']) await each(hour)
    expect(await count('game.player_counter')).toBe(before)
    expect(await rows('select is_pending, is_held, count(*)::int from sync.privacy_restriction group by 1, 2')).toEqual(
      [[true, true, many - 1]],
    )
    expect((await guards())[0]).toEqual(['mass-restriction', 'pending'])
    for (const hour of ['13', '15', '17']) await each(hour)
    expect(await rows('select distinct is_pending from sync.privacy_restriction')).toEqual([[false]])
  })

  describe('of all players, while the run that saw them goes on,', () => {
    const eight = numbers(8)
    const keys = eight.map(playerId)

    /** Eight players are shown; then the API says that each hides what it showed. @param before what happens before it responds about one */
    async function hideAll(before: (number: number) => Promise<unknown>) {
      const answerWith = (body: (number: number) => object, first: typeof before) => {
        for (const number of eight)
          world.sandbox.setAnswer(`/player/${playerId(number)}`, async () => {
            await first(number)
            return { headers: headersOf(world.clock.now(), 120), body: body(number) }
          })
      }
      answerWith(open, async () => {})
      await syncPlayers(world, { keys })
      await world.clock.advanceTo(instantOf('10:00'))
      answerWith(closed, before)
      return await count('game.player_counter')
    }

    test('are held before the same run meets them again, two hours later', async () => {
      const shown = await hideAll(() => world.clock.advance(300_000))
      expect(await syncPlayers(world, { limit: 32 })).toMatchObject({ status: 'rejected', requests: 32 })
      expect(world.clock.now()).toBeGreaterThan(instantOf('12:30'))
      expect([await count('game.player_counter'), await actions()]).toEqual([shown, []])
      expect(await rows('select distinct is_pending, is_held from sync.privacy_restriction')).toEqual([[true, true]])
    })

    test('are held before another run concludes some of them', async () => {
      let beside: unknown
      const shown = await hideAll(async (number) => {
        if (number < 8 || beside) return
        await world.clock.advance(600_000)
        beside = await syncPlayers(world, { keys: keys.slice(0, 3) })
      })
      await syncPlayers(world, { keys })
      expect(beside).toMatchObject({ requests: 3 })
      expect([await count('game.player_counter'), await actions()]).toEqual([shown, []])
      for (const minutes of [10, 130, 250, 370]) {
        await world.clock.advanceTo(instantOf('10:10') + minutes * 60_000)
        await syncPlayers(world, { keys })
      }
      expect(await rows('select distinct is_pending from sync.privacy_restriction')).toEqual([[false]])
    })
  })

  test('of many players in one run are withdrawn by good responses, or concluded by a person', async () => {
    await syncMany(open, '09:00')
    const before = await count('game.player_counter')
    await syncMany(closed, '10:00')
    for (const at of ['10:10', '10:20'])
      expect(await syncMany(open, at)).toMatchObject({ status: expect.not.stringMatching('rejected') })
    expect([(await count('game.player_counter')) >= before, await pending()]).toEqual([true, []])
    await syncMany(closed, '10:30')
    await syncMany(closed, '10:40', true)
    expect(await count('game.player_counter')).toBe(0)
  })
})
