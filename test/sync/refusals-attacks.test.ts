import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { seededRandom } from '../../src/base/clock.ts'
import { guildBody, guildId, playerId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { profile, syncPlayer, syncPlayers } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { forbidden, notFound } from '../support/refusing-world.ts'
import { headersOf, instantOf, type World, worldOf } from '../support/world.ts'

const hour = 3_600_000
const numbers = [1, 2, 3, 4, 5, 6]
const letters = [...'abcdef']
const open = (number: number) => profile(number, { playtime: 100 + number, characters: {} })
const guild = (letter: string) => guildBody(letter, { [letter.charCodeAt(0)]: { rank: 'owner' } })

describe.each(kindsOfLongTests)('a gateway that refuses, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows } = world
  const guildAnswers = (letter: string, answer: Parameters<typeof world.sandbox.setAnswer>[1]) =>
    world.sandbox.setAnswer(`/guild/uuid/${guildId(letter)}`, answer)
  const playerAnswers = (number: number, answer: Parameters<typeof world.sandbox.setAnswer>[1]) =>
    world.sandbox.setAnswer(`/player/${playerId(number)}`, answer)
  const endings = () => rows(`select valid_until from game.guild order by 1`)
  const counters = async () => (await rows('select count(*)::int from game.player_counter'))[0]?.[0]
  const removals = () => rows('select right(player_uuid::text, 1), field_group from sync.privacy_action order by 1')
  const claims = () =>
    rows(`select kind, value, times from sync.claim where kind in ('gone', 'forbidden') order by 1, 2`)
  const content = async () => [
    await rows('select valid_from, valid_until, name from game.guild order by 1'),
    await rows('select player_uuid, valid_from, valid_until from game.guild_member order by 1, 2'),
    await rows('select key, gone_at, reload from sync.work_item'),
    await rows('select event, username, observed_at from analytics.membership_event order by 1, 2'),
  ]
  const askGuild = async (letter = 'a', trusts = world.trusts ?? 'both') =>
    await syncGuilds(world, { keys: [guildId(letter)] }, { clock: trusts })

  async function begin(): Promise<void> {
    for (const one of numbers) await syncPlayer(world, one, open(one), '10:00')
    for (const one of letters) await syncGuild(world, guild(one), '10:00')
  }

  async function askAll(): Promise<void> {
    await syncPlayers(world, { keys: numbers.map(playerId) })
    await syncGuilds(world, { keys: letters.map(guildId) })
  }

  test.each([
    ['403', forbidden],
    ['404', notFound],
  ])('everything with %s, for an instant or a month, ends and removes nothing', async (_status, answer) => {
    await begin()
    const before = await counters()
    for (const one of numbers) playerAnswers(one, () => answer)
    for (const one of letters) guildAnswers(one, () => answer)
    for (let half = 0; half < 60; half++) {
      await world.clock.advance(12 * hour)
      await askAll()
    }
    expect([await counters(), await removals(), await claims()]).toEqual([before, [], []])
    expect((await endings()).flat()).toEqual(letters.map(() => 'infinity'))
    const now = world.clock.now()
    for (const one of numbers) playerAnswers(one, () => ({ headers: headersOf(now + 300_000, 120), body: open(one) }))
    for (const one of letters) guildAnswers(one, () => ({ headers: headersOf(now + 300_000, 120), body: guild(one) }))
    await world.clock.advance(300_000)
    await askAll()
    expect((await endings()).flat()).toEqual(letters.map(() => 'infinity'))
  })

  test('one guild with 404 for a month ends it where that began; it comes back as a version of its own', async () => {
    await syncGuild(world, guild('a'), '10:00')
    guildAnswers('a', () => notFound)
    await world.clock.advanceTo(instantOf('11:00'))
    await askGuild()
    expect((await endings()).flat()).toEqual(['infinity'])
    for (let day = 0; day < 30; day++) {
      await world.clock.advance(24 * hour)
      await askGuild()
      expect((await endings()).flat()).toEqual(['11:00'])
    }
    const back = world.clock.now() + hour
    await world.clock.advance(hour)
    guildAnswers('a', () => ({ headers: headersOf(back, 120), body: guild('a') }))
    await askGuild()
    expect((await endings()).flat()).toEqual(['11:00', 'infinity'])
  })

  test.each([
    ['the same as before', guild('a')],
    ['another', guildBody('a', { 97: { rank: 'owner' }, 98: {} }, { level: 12 })],
  ])('a guild that ended, with one old copy of it (%s) between: it ended where that began', async (_which, copy) => {
    await syncGuild(world, guild('a'), '10:00')
    const refuse = async (...times: readonly string[]) => {
      guildAnswers('a', () => notFound)
      for (const at of times) {
        await world.clock.advanceTo(instantOf(at))
        await askGuild()
      }
    }
    await refuse('11:00', '11:12')
    const ended = await content()
    for (const [at, later] of [
      ['11:20', ['11:30', '11:45']],
      ['12:20', ['12:30', '12:45', '13:20']],
    ] as const) {
      await syncGuild(world, copy, at)
      expect((await endings()).flat()).toEqual(['11:00', 'infinity'])
      await refuse(...later)
      expect(await content()).toEqual(ended)
    }
    expect(
      await rows(`select action, count(*)::int from sync.guard_action where reason like '%taken back' group by 1`),
    ).toEqual([['withdrawn', 2]])
    for (const at of ['15:00', '15:10']) await syncGuild(world, copy, at)
    await refuse('16:00', '16:12')
    expect((await endings()).flat()).toEqual(['11:00', '16:00'])
  })

  test('two old copies of one cache window, each with other content, are one: the guild ended where that began', async () => {
    await syncGuild(world, guild('a'), '10:00')
    const refuse = async (...times: readonly string[]) => {
      guildAnswers('a', () => notFound)
      for (const at of times) {
        await world.clock.advanceTo(instantOf(at))
        await askGuild()
      }
    }
    await refuse('11:00', '11:12')
    const ended = await content()
    await syncGuild(world, guild('a'), '11:20')
    await syncGuild(world, guildBody('a', { 97: { rank: 'chief' }, 98: {} }, { level: 12 }), '11:20:30')
    await refuse('11:30', '11:45')
    expect(await content()).toEqual(ended)
  })

  test.each([400, 410, 451])(
    'one guild with %d for a month ends nothing and stops no other; what changed meanwhile is dated by its return',
    async (status) => {
      for (const one of letters) await syncGuild(world, guild(one), '10:00')
      guildAnswers('a', () => ({ status, body: { error: 'Odd', detail: 'odd', code: status } }))
      const answerAll = (of: readonly string[], level: number) => {
        const headers = headersOf(world.clock.now(), 120)
        for (const one of of)
          guildAnswers(one, () => ({ headers, body: { ...guildBody(one, { [level]: { rank: 'owner' } }), level } }))
      }
      for (let day = 1; day <= 30; day++) {
        await world.clock.advance(24 * hour)
        answerAll(letters.slice(1), day)
        expect((await syncGuilds(world, { keys: letters.map(guildId) })).status).toBe('partial')
      }
      expect(await rows('select distinct valid_until from game.guild')).toEqual([['infinity']])
      const ofDays = `select left(guild_uuid::text, 1), count(*)::int from game.guild_sample group by 1 order by 1`
      expect(await rows(ofDays)).toEqual(letters.map((one) => [one, one === 'a' ? 1 : 31]))
      for (const minutes of [10, 20]) {
        await world.clock.advance(minutes * 60_000)
        answerAll(['a'], 60)
        await askGuild()
      }
      const stays = `select right(player_uuid::text, 2), valid_from, valid_until from game.guild_member where guild_uuid = '${guildId('a')}' order by 1`
      expect(await rows(stays)).toEqual([
        ['60', expect.any(String), 'infinity'],
        ['97', '10:00', '2026-07-01 10:10'],
      ])
    },
  )

  test('a guild with every other response ends nothing', async () => {
    await syncGuild(world, guild('a'), '10:00')
    for (let nth = 0; nth < 40; nth++) {
      await world.clock.advance(hour)
      const now = world.clock.now()
      guildAnswers('a', () => (nth % 2 === 0 ? notFound : { headers: headersOf(now, 120), body: guild('a') }))
      await askGuild()
    }
    expect((await endings()).flat()).toEqual(['infinity'])
    expect(await rows('select count(*)::int from game.guild_member')).toEqual([[1]])
  })

  const instant = instantOf('11:00')
  const dated = (at: number) => new Date(at).toUTCString()
  test.each<[string, (now: number) => Record<string, string>]>([
    ['that does not age', () => ({ date: dated(instant) })],
    ['that ages', (now) => ({ date: dated(now), age: `${(now - instant) / 1000}`, 'cache-control': 'max-age=3600' })],
    ['without a date', () => ({ date: '' })],
  ])(
    'with one copy of a 404 or 403 %s, again and again for an hour, ends and removes nothing',
    async (_name, headers) => {
      await begin()
      const before = await counters()
      for (let nth = 0; nth <= 12; nth++) {
        await world.clock.advanceTo(instant + nth * 300_000 - (nth === 12 ? 60_000 : 0))
        const now = world.clock.now()
        guildAnswers('a', () => ({ ...notFound, headers: headers(now) }))
        playerAnswers(1, () => ({ ...forbidden, headers: headers(now) }))
        await askGuild('a', 'both')
        await syncPlayers({ ...world, ...worldWith(world), trusts: 'both' }, { keys: [playerId(1)] })
      }
      expect((await endings()).flat()).toEqual(letters.map(() => 'infinity'))
      expect([await counters(), await removals()]).toEqual([before, []])
      expect(await claims()).toEqual([
        ['forbidden', 'guest', 1],
        ['gone', '', 1],
      ])
    },
  )

  test('half of the players is believed where a person accepts it, and takes nothing from the others', async () => {
    await begin()
    const half = numbers.slice(0, 3)
    for (const one of half) playerAnswers(one, () => forbidden)
    const ask = async (at: string, accept: boolean) => {
      await world.clock.advanceTo(instantOf(at))
      const now = world.clock.now()
      for (const one of numbers.slice(3)) playerAnswers(one, () => ({ headers: headersOf(now, 120), body: open(one) }))
      return await syncPlayers(world, { keys: numbers.map(playerId) }, 'anonymize', accept)
    }
    expect(await ask('11:00', false)).toMatchObject({ status: 'rejected' })
    expect(await ask('11:10', false)).toMatchObject({ status: 'rejected' })
    expect(await removals()).toEqual([])
    await ask('11:20', true)
    expect(await removals()).toEqual([])
    await ask('11:30', true)
    expect(await removals()).toEqual(half.map((one) => [`${one}`, 'mainAccess']))
    expect(
      await rows(`select right(player_uuid::text, 1) from game.player_counter where counter = 'playtime' order by 1`),
    ).toEqual(numbers.slice(3).map((one) => [`${one}`]))
  })
})

/** The getters of a world as plain properties. */
function worldWith({ db, api, clock, sandbox, log }: World) {
  return { db, api, clock, sandbox, log }
}

describe.each(kindsOfLongTests)('two kinds of credential on the %s database', (kind) => {
  const world = worldOf(kind, { sandbox: { tokens: ['a-token'] } })
  const { rows } = world
  const viewers = () => {
    const clientOf = (token: string) =>
      createClient({ baseUrl: world.sandbox.url, clock: world.clock, random: seededRandom(1), token })
    const [api, expired] = [clientOf('a-token'), clientOf('expired')]
    const owner: World = Object.create(world, { api: { value: api } })
    const guest: World = Object.create(world, { api: { value: expired } })
    return { owner, guest, close: () => Promise.all([api.close(), expired.close()]) }
  }
  const counters = async () => (await rows('select count(*)::int from game.player_counter'))[0]?.[0]

  test('are refused each for itself', async () => {
    const { owner, guest, close } = viewers()
    await syncPlayer(guest, 1, open(1), '10:00')
    const before = await counters()
    await syncPlayer(guest, 1, null, '11:00', 403)
    await syncPlayer(owner, 1, null, '12:00', 403)
    expect(await counters()).toBe(before)
    expect(await rows(`select value, times from sync.claim where kind = 'forbidden' order by 1`)).toEqual([
      ['guest', 1],
      ['token', 1],
    ])
    await syncPlayer(owner, 1, null, '13:00', 403)
    expect(await counters()).toBe(0)
    await close()
  })

  test('restrict each for itself: what a guest is not shown confirms nothing that the token was shown', async () => {
    const { owner, guest, close } = viewers()
    const closed = profile(1, { restrictions: { mainAccess: true } })
    await syncPlayer(owner, 1, open(1), '10:00')
    const before = await counters()
    await syncPlayer(owner, 1, closed, '11:00')
    for (const at of ['12:00', '13:00', '14:00']) await syncPlayer(guest, 1, closed, at)
    expect(await counters()).toBe(before)
    await syncPlayer(owner, 1, closed, '15:00')
    expect(await counters()).toBe(0)
    await close()
  })
})
