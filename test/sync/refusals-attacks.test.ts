import { describe, expect, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { seededRandom } from '../../src/base/clock.ts'
import { guildBody, guildId, playerId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { profile, syncPlayer, syncPlayers } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { headersOf, instantOf, type World, worldOf } from '../support/world.ts'

const hour = 3_600_000
const forbidden = { status: 403, body: { error: 'Forbidden', detail: 'This profile is private.', code: 403 } }
const notFound = { status: 404, body: { error: 'NotFound', detail: 'Not found.', code: 404 } }
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

describe.each(kindsOfLongTests)('a restriction on the %s database', (kind) => {
  const world = Object.assign(worldOf(kind), { raw: true })
  const { rows } = world
  const hides = { mainAccess: true, onlineStatus: true }
  const shown = { playtime: 7, online: true, server: 'EU1', lastJoin: '09:00', characters: {} }
  const hidden = { online: false, server: null, characters: {}, restrictions: hides }
  const rules = () => rows('select field_group, is_pending from sync.privacy_restriction order by 1')
  const stored = () =>
    rows(`select counter, value from game.player_counter where counter = 'playtime'
           union all select 'online', count(*)::int from game.player_status where online is not null`)
  const view = () => rows('select playtime_hours, online, world, restricted from analytics.player')
  const masked = [[null, null, null, ['mainAccess', 'onlineStatus']]]

  test('that one odd response shows hides at once, removes nothing, and ends with the next two that name it', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    await syncPlayer(world, 1, profile(1, hidden), '10:10')
    expect(await view()).toEqual(masked)
    await syncPlayer(world, 1, profile(1, shown), '10:20')
    expect(await view()).toEqual(masked)
    await syncPlayer(world, 1, profile(1, shown), '10:30')
    expect(await view()).toEqual([[7, true, 'EU1', []]])
    expect(await rows('select from sync.claim')).toEqual([])
  })

  test('that every other response lifts removes nothing, and hides all the time', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    for (let nth = 0; nth < 20; nth++) {
      await syncPlayer(world, 1, profile(1, nth % 2 === 0 ? hidden : shown), `${11 + Math.floor(nth / 2)}:${nth % 2}0`)
      expect(await view()).toEqual(masked)
    }
    expect(await rows(`select value from game.player_counter where counter = 'playtime'`)).toEqual([[7]])
    expect(await rows('select from sync.privacy_action')).toEqual([])
  })

  const lacking: [string, unknown][] = [
    ['have no restrictions', undefined],
    ['have null instead', null],
    ['name no rule', {}],
    ['name other rules', { characterListAccess: false }],
    ['have null for its rules', { mainAccess: null, onlineStatus: null }],
    ['have an empty list instead', []],
  ]

  test.each(lacking)('that is confirmed stays for a month while responses %s', async (_name, restrictions) => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    for (const at of ['10:10', '10:20']) await syncPlayer(world, 1, profile(1, hidden), at)
    expect(await stored()).toEqual([['online', 0]])
    for (let day = 2; day <= 30; day += 4)
      for (const fields of [shown, { ...hidden, playtime: 8 }])
        await syncPlayer(
          world,
          1,
          profile(1, { ...fields, restrictions }),
          `${String(day).padStart(2, '0')} ${fields === shown ? '10' : '20'}:00`,
        )
    expect([await rules(), await stored(), await view()]).toEqual([
      [
        ['mainAccess', false],
        ['onlineStatus', false],
      ],
      [['online', 0]],
      masked,
    ])
    await syncPlayer(world, 1, profile(1, shown), '30 22:00')
    expect([await view(), await stored()]).toEqual([masked, [['online', 0]]])
    await syncPlayer(world, 1, profile(1, shown), '30 22:01')
    expect(await view()).toEqual(masked)
    await syncPlayer(world, 1, profile(1, shown), '30 22:10')
    expect(await view()).toEqual([[7, true, 'EU1', []]])
    expect([await rules(), await rows('select from sync.claim')]).toEqual([[], []])
  })

  test.each(lacking)(
    'that is pending stays pending while responses %s, and nothing is lost',
    async (_name, restrictions) => {
      await syncPlayer(world, 1, profile(1, shown), '10:00')
      await syncPlayer(world, 1, profile(1, hidden), '10:10')
      for (const at of ['11:00', '12:00', '02 12:00']) {
        await syncPlayer(world, 1, profile(1, { ...shown, restrictions }), at)
        expect(await view()).toEqual(masked)
      }
      for (const at of ['02 13:00', '02 13:10']) await syncPlayer(world, 1, profile(1, shown), at)
      expect(await view()).toEqual([[7, true, 'EU1', []]])
    },
  )

  test('of members stays while the guild names it no more, for one member as for all', async () => {
    const of = (restrictions: unknown) => {
      const member = { online: true, server: 'EU1', globalData: { wars: 5 }, restrictions }
      return guildBody('a', { 1: { rank: 'owner', ...member }, 2: member, 3: member })
    }
    const online = () => rows('select online, server from analytics.guild_member')
    for (const at of ['10:00', '10:10']) await syncGuild(world, of({ main_access: true, online_status: true }), at)
    for (const [nth, [, restrictions]] of lacking.entries()) {
      await syncGuild(world, of(restrictions), `${11 + nth}:00`)
      await syncGuild(world, of(restrictions), `${11 + nth}:30`)
      expect(await online()).toEqual(Array(3).fill([null, null]))
    }
    expect(await rows(`select from game.member_counter where counter = 'wars'`)).toEqual([])
    const nothing = { main_access: false, online_status: false }
    await syncGuild(world, of(nothing), '20:00')
    expect(await online()).toEqual(Array(3).fill([null, null]))
    await syncGuild(world, of(nothing), '20:10')
    expect(await online()).toEqual(Array(3).fill([true, 'EU1']))
  })

  test('of all players at once, then named by none, hides them all and removes nothing', async () => {
    const ask = async (at: string, body: (number: number) => object) => {
      const when = instantOf(at)
      await world.clock.advanceTo(when)
      for (const one of numbers)
        world.sandbox.setAnswer(`/player/${playerId(one)}`, () => ({ headers: headersOf(when, 120), body: body(one) }))
      await syncPlayers(world, { keys: numbers.map(playerId) })
    }
    const sums = () => rows(`select count(*)::int, count(playtime_hours)::int from analytics.player`)
    await ask('10:00', open)
    await ask('11:00', (one) => profile(one, hidden))
    for (const at of ['12:00', '18:00', '05 12:00']) {
      await ask(at, (one) => ({ ...open(one), restrictions: undefined }))
      expect(await sums()).toEqual([[6, 0]])
    }
    for (const at of ['05 13:00', '05 13:10']) await ask(at, open)
    expect(await sums()).toEqual([[6, 6]])
    expect(await rows('select from sync.privacy_action')).toEqual([])
  })

  test('that follows from refusals ends with two profiles that are shown, whatever they name', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    for (const at of ['10:10', '10:20']) await syncPlayer(world, 1, null, at, 403)
    expect(await rules()).toEqual([['mainAccess', false]])
    const old = profile(1, { ...shown, restrictions: undefined })
    await syncPlayer(world, 1, old, '11:00')
    expect((await view())[0]?.[0]).toBe(null)
    await syncPlayer(world, 1, old, '11:10')
    expect((await view())[0]?.[0]).toBe(7)
  })

  test('that follows from refusals hides on while a profile is shown and refused by turns', async () => {
    await syncPlayer(world, 1, profile(1, shown), '10:00')
    for (const at of ['10:10', '10:20']) await syncPlayer(world, 1, null, at, 403)
    for (let hour = 11; hour < 23; hour++) {
      await syncPlayer(world, 1, profile(1, shown), `${hour}:00`)
      expect([hour, (await view())[0]?.[0]]).toEqual([hour, null])
      await syncPlayer(world, 1, null, `${hour}:30`, 403)
    }
    for (const at of ['23:00', '23:10']) await syncPlayer(world, 1, profile(1, shown), at)
    expect((await view())[0]?.[0]).toBe(7)
  })

  test('ends at once where a person accepts the response', async () => {
    for (const at of ['10:00', '10:10']) await syncPlayer(world, 1, profile(1, hidden), at)
    await world.clock.advanceTo(instantOf('11:00'))
    const headers = headersOf(instantOf('11:00'), 120)
    world.sandbox.setAnswer(`/player/${playerId(1)}`, () => ({ headers, body: profile(1, shown) }))
    await syncPlayers(world, { keys: [playerId(1)] }, 'anonymize', true)
    expect(await view()).toEqual([[7, true, 'EU1', []]])
  })
})
