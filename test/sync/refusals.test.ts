import { describe, expect, test } from 'vitest'
import { readOverview, statusText } from '../../src/cli/commands/status/status-command.ts'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { answerGuild, guildBody, guildId, playerId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { profile, syncPlayer, syncPlayers } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { contentOf, headersOf, instantOf, worldOf } from '../support/world.ts'

const forbidden = { status: 403, body: { error: 'Forbidden', detail: 'This profile is private.', code: 403 } }
const notFound = { status: 404, body: { error: 'NotFound', detail: 'Not found.', code: 404 } }
const requestId = '7c0e1f2a5b3d4968a1b2c3d4e5f60718'
const html = '<!DOCTYPE html><html><head><title>Attention Required!</title></head></html>'

/** What stands before the application says with a status. */
const notOfTheApplication = (status: number) => [
  { status, body: { message: 'no Route matched with those values', request_id: requestId } },
  { status, body: { message: 'Forbidden' } },
  { status, headers: { 'content-type': 'text/html' }, body: html },
  { status, body: '' },
  { status, body: {} },
]

const shown = (number: number) =>
  profile(number, { firstJoin: '2014-11-11T00:00:00.000Z', playtime: 7, characters: {} })
const owner = { 1: { rank: 'owner' }, 2: {} }

describe.each(kindsOfLongTests)('refusals on the %s database', (kind) => {
  const world = worldOf(kind)
  const { rows } = world
  type Answer = { readonly status: number; readonly body: unknown; readonly headers?: Record<string, string> }
  const playerAnswers = (number: number, answer: Answer) =>
    world.sandbox.setAnswer(`/player/${playerId(number)}`, () => answer)
  const guildAnswers = (letter: string, answer: Answer) =>
    world.sandbox.setAnswer(`/guild/uuid/${guildId(letter)}`, () => answer)
  const at = (when: string) => world.clock.advanceTo(instantOf(when))
  const ask = async (when: string, ...numbers: readonly number[]) => {
    await at(when)
    return await syncPlayers(world, { keys: numbers.map(playerId) })
  }
  const askGuild = async (when: string, letter = 'a') => {
    await at(when)
    return await syncGuilds(world, { keys: [guildId(letter)] })
  }
  const counters = () => rows('select right(player_uuid::text, 1), value from game.player_counter order by 1')
  const erased = () => rows('select right(player_uuid::text, 1), field_group from sync.privacy_action order by 1')
  const actions = () => rows(`select guard, reason from sync.guard_action where guard = 'mass-refusal'`)
  const ends = () =>
    rows(`select valid_until from game.guild union all select valid_until from game.guild_member order by 1`)
  const pending = () =>
    rows(`select right(subject, 1), kind from sync.claim where kind in ('gone', 'forbidden') order by 1`)

  test('of the application redact a player when a second one of another cache window says the same', async () => {
    await syncPlayer(world, 1, shown(1), '10:00')
    playerAnswers(1, forbidden)
    expect(await ask('10:10', 1)).toMatchObject({ status: 'unchanged', rejected: 0 })
    expect(await ask('10:11:59', 1)).toMatchObject({ status: 'unchanged', rejected: 0 })
    expect([await counters(), await erased(), await pending()]).toEqual([[['1', 7]], [], [['1', 'forbidden']]])
    expect(await ask('10:12', 1)).toMatchObject({ status: 'ok', changed: 1 })
    expect([await counters(), await erased(), await pending()]).toEqual([[], [['1', 'mainAccess']], []])
    const once = await contentOf(world.db)
    expect(await ask('10:20', 1)).toMatchObject({ status: 'unchanged' })
    expect((await contentOf(world.db))['sync.privacy_restriction']).toEqual(once['sync.privacy_restriction'])
  })

  test.each([
    ['lacks', 3],
    ['still has', 0],
  ])(
    'of three guilds next to each other end them where the list %s them, and stop the run otherwise',
    async (which, ended) => {
      const letters = [...'abcdef0123456789']
      const gone = ['4', '5', '6']
      const living = letters.filter((letter) => !gone.includes(letter))
      const list = (of: readonly string[]) =>
        Object.fromEntries(of.map((letter) => [guildId(letter), { name: `Guild ${letter}`, prefix: letter }]))
      const listed = which === 'lacks' ? living : letters
      await world.sync(guildList, list(letters), '10:00')
      for (const letter of letters) await answerGuild(world, guildBody(letter, owner), '10:00')
      await syncGuilds(world, { limit: 16 })
      for (const letter of gone) guildAnswers(letter, notFound)
      for (const hour of ['11', '12', '13']) {
        await world.sync(guildList, list(listed), `${hour}:00`)
        for (const letter of living) await answerGuild(world, guildBody(letter, owner), `${hour}:20`)
        for (let times = 0; times < 3; times++) {
          await syncGuilds(world, { limit: 16 })
          await world.clock.advance(300_000)
        }
      }
      const rows = await world.rows(`select guild_uuid from game.guild where valid_until < 'infinity'`)
      expect(rows).toHaveLength(ended)
      const [last] = await world.rows(
        `select status from sync.run where resource = 'guilds' order by finished_at desc limit 1`,
      )
      expect(last?.[0] === 'rejected').toBe(which === 'still has')
    },
  )

  test('that are pending show in status', async () => {
    await syncPlayer(world, 1, shown(1), '10:00')
    await syncGuild(world, guildBody('a', owner), '10:00')
    playerAnswers(1, forbidden)
    guildAnswers('a', notFound)
    await ask('10:10', 1)
    await askGuild('10:12')
    const now = instantOf('10:20')
    const overview = await readOverview(world.db, now)
    const pendingOf = (name: string) => overview.resources.find(({ resource }) => resource === name)?.pending
    expect(pendingOf('players')).toEqual({
      redactions: 1,
      tombstones: 0,
      oldest: [{ key: playerId(1), pending: 'redaction', since: new Date(instantOf('10:10')) }],
    })
    expect(pendingOf('guilds')).toMatchObject({ redactions: 0, tombstones: 1 })
    const text = statusText(overview, now)
    expect(text).toMatch(new RegExp(`players +${playerId(1)} +redaction +10 min ago`))
    expect(text).toMatch(new RegExp(`guilds +${guildId('a')} +tombstone +8 min ago`))
    await syncPlayer(world, 1, shown(1), '10:20')
    await syncGuild(world, guildBody('a', owner), '10:20')
    expect(statusText(await readOverview(world.db, now), now)).not.toContain('pending')
  })

  test('of the application are forgotten when a profile comes in between', async () => {
    await syncPlayer(world, 1, shown(1), '10:00')
    playerAnswers(1, forbidden)
    await ask('10:10', 1)
    await syncPlayer(world, 1, shown(1), '10:20')
    playerAnswers(1, forbidden)
    await ask('10:30', 1)
    expect([await counters(), await erased()]).toEqual([[['1', 7]], []])
  })

  test.each(notOfTheApplication(403).map((answer, nth) => [nth, answer] as const))(
    'of whoever stands before it redact nobody, however often they come (%i)',
    async (_nth, answer) => {
      await syncPlayer(world, 1, shown(1), '10:00')
      playerAnswers(1, answer)
      for (const when of ['10:10', '10:20', '10:30'])
        expect(await ask(when, 1)).toMatchObject({ status: 'failed', temporary: true })
      expect([await counters(), await erased(), await pending()]).toEqual([[['1', 7]], [], []])
    },
  )

  test('for another reason than privacy redact nobody', async () => {
    await syncPlayer(world, 1, shown(1), '10:00')
    playerAnswers(1, { status: 403, body: { error: 'CSRFError', detail: 'CSRF token missing.', code: 403 } })
    for (const when of ['10:10', '10:20']) expect(await ask(when, 1)).toMatchObject({ status: 'failed' })
    expect([await counters(), await erased()]).toEqual([[['1', 7]], []])
  })

  describe('of many keys at once', () => {
    const several = [1, 2, 3, 4, 5, 6]
    test.each([
      ['403', forbidden],
      ['404', notFound],
    ])('(%s) stop the run, are rejected, and count for nothing', async (_status, answer) => {
      for (const one of several) await syncPlayer(world, one, shown(one), '10:00')
      for (const one of several) playerAnswers(one, answer)
      for (const when of ['10:10', '10:30', '11:00']) {
        const run = await ask(when, ...several)
        expect(run).toMatchObject({ status: 'rejected', pages: 3, rejected: 3 })
      }
      expect(await counters()).toHaveLength(6)
      expect(await erased()).toEqual([])
      expect(await rows('select distinct valid_until from game.player')).toEqual([['infinity']])
      expect(await pending()).toEqual([])
      expect(await actions()).toHaveLength(3)
      expect(await rows(`select status, count(*)::int from sync.observation group by 1 order by 1`)).toEqual([
        ['ok', 6],
        ['rejected', 9],
      ])
      // Once it is over, one of them counts as any other.
      playerAnswers(1, forbidden)
      for (const one of several.slice(1)) await syncPlayer(world, one, shown(one), '12:00')
      for (const when of ['12:10', '12:20']) await ask(when, ...several)
      expect(await erased()).toEqual([['1', 'mainAccess']])
    })

    test.each([
      ['403', forbidden],
      ['404', notFound],
    ])('(%s) are as many in runs of one key each', async (_status, answer) => {
      for (const one of several) await syncPlayer(world, one, shown(one), '10:00')
      for (const one of several) playerAnswers(one, answer)
      for (const hour of ['10', '11', '12']) for (const one of several) await ask(`${hour}:${10 + one}`, one)
      expect([await erased(), await rows('select distinct valid_until from game.player')]).toEqual([[], [['infinity']]])
      const rejected = `select count(*)::int, min(received_at), max(received_at) from sync.observation where status = 'rejected'`
      expect(await rows(rejected)).toEqual([[18, '10:11', '12:16']])
      expect(await pending()).toEqual([])
      // Once it is over, one of them counts as any other.
      for (const one of several.slice(1)) await syncPlayer(world, one, shown(one), '13:00')
      playerAnswers(1, forbidden)
      for (const when of ['13:10', '13:20']) await ask(when, 1)
      expect(await erased()).toEqual([['1', 'mainAccess']])
    })

    test('are one where a key is asked for again and again', async () => {
      for (const one of several) await syncPlayer(world, one, shown(one), '10:00')
      playerAnswers(1, notFound)
      for (const when of ['10:10', '10:13', '10:16', '10:19', '10:22']) await ask(when, 1)
      expect(
        await rows(`select right(player_uuid::text, 1), valid_until from game.player where valid_until < 'infinity'`),
      ).toEqual([['1', '10:10']])
    })

    test('leave a confirmed one pending that came before them in the same run', async () => {
      for (const one of several) await syncPlayer(world, one, shown(one), '10:00')
      playerAnswers(1, forbidden)
      await ask('10:10', 1)
      for (const one of [4, 5, 6]) playerAnswers(one, forbidden)
      expect(await ask('10:30', ...several)).toMatchObject({ status: 'rejected' })
      expect([await erased(), await counters()]).toEqual([[], several.map((one) => [`${one}`, 7])])
    })

    test('are too many when they are a fifth of a run', async () => {
      const twenty = Array.from({ length: 20 }, (_, nth) => 11 + nth)
      for (const one of twenty) await syncPlayer(world, one, shown(one), '10:00')
      for (const one of [11, 15, 19]) playerAnswers(one, forbidden)
      expect(await ask('10:10', ...twenty)).toMatchObject({ status: 'unchanged' })
      playerAnswers(23, forbidden)
      expect(await ask('10:30', ...twenty)).toMatchObject({ status: 'rejected', rejected: 4 })
      expect(await erased()).toEqual([])
    })

    test('are less suspicious of players that were never shown', async () => {
      for (const one of several) playerAnswers(one, forbidden)
      expect(await ask('10:10', 1, 2, 3, 4)).toMatchObject({ status: 'unchanged' })
      expect(await ask('10:20', ...several)).toMatchObject({ status: 'rejected', pages: 5 })
    })

    test('are taken when a person accepts them', async () => {
      for (const one of several) await syncPlayer(world, one, shown(one), '10:00')
      for (const one of several) playerAnswers(one, forbidden)
      const { db, api, clock } = world
      const quiet = () => undefined
      const log = { debug: quiet, info: quiet, warn: quiet, error: quiet }
      const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25, accept: true }
      for (const when of ['10:10', '10:20']) {
        await at(when)
        const engine = { db, api, clock, program: 'test', guards, log }
        await runResource(players, engine, { concurrency: 1, keys: several.map(playerId) })
      }
      expect(await erased()).toHaveLength(6)
    })
  })

  test('that wait for others when the run is killed are concluded by the next one', async () => {
    for (const one of [1, 2]) await syncPlayer(world, one, shown(one), '10:00')
    playerAnswers(1, forbidden)
    await ask('10:10', 1)
    const killed = new AbortController()
    world.sandbox.setAnswer(`/player/${playerId(2)}`, () => {
      killed.abort(new Error('killed'))
      return null
    })
    await at('10:20')
    await syncPlayers(world, { keys: [playerId(1), playerId(2)], signal: killed.signal })
    expect(await erased()).toEqual([])
    await ask('10:30', 1)
    expect(await erased()).toEqual([['1', 'mainAccess']])
  })

  test('end a guild when the application has twice not known it, ten minutes apart', async () => {
    await syncGuild(world, guildBody('a', owner), '10:00')
    guildAnswers('a', notFound)
    for (const when of ['10:10', '10:13', '10:19:59']) expect(await askGuild(when)).toMatchObject({ closed: 0 })
    expect(await askGuild('10:20')).toMatchObject({ closed: 3 })
    expect(await ends()).toEqual([['10:10'], ['10:10'], ['10:10']])
    expect(await rows('select gone_at, reload from sync.work_item')).toEqual([['10:10', true]])
  })

  test('end members whom the last response about the guild lacked when it first lacked them', async () => {
    await syncGuild(world, guildBody('a', owner), '10:00')
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '10:10')
    guildAnswers('a', notFound)
    for (const when of ['10:20', '10:30']) await askGuild(when)
    expect(await rows('select right(player_uuid::text, 1), valid_until from game.guild_member order by 1')).toEqual([
      ['1', '10:20'],
      ['2', '10:10'],
    ])
    expect(
      await rows('select right(player_uuid::text, 1), at, not_before from analytics.membership_event order by 1, 2'),
    ).toContainEqual(['2', '10:10', '10:00'])
  })

  test.each(notOfTheApplication(404).map((answer, nth) => [nth, answer] as const))(
    'of whoever stands before it end nothing (%i)',
    async (_nth, answer) => {
      await syncGuild(world, guildBody('a', owner), '10:00')
      guildAnswers('a', answer)
      for (const when of ['10:10', '10:30', '10:50']) expect(await askGuild(when)).toMatchObject({ status: 'failed' })
      expect(await ends()).toEqual([['infinity'], ['infinity'], ['infinity']])
      expect(await syncGuild(world, guildBody('a', owner), '11:00')).toMatchObject({ status: 'unchanged' })
    },
  )

  test('end no guild that a later list of all guilds still names', async () => {
    const listed = { [guildId('a')]: { name: 'Guild a', prefix: 'aaa' }, [guildId('b')]: { name: 'B', prefix: 'bbb' } }
    await world.sync(guildList, listed, '09:50')
    await syncGuild(world, guildBody('a', owner), '10:00')
    guildAnswers('a', notFound)
    await askGuild('10:10')
    await world.sync(guildList, listed, '10:15')
    for (const when of ['10:20', '10:30', '11:00', '12:00']) await askGuild(when)
    expect(await ends()).toEqual([['infinity'], ['infinity'], ['infinity']])
    const { [guildId('a')]: _, ...others } = listed
    await world.sync(guildList, others, '12:15')
    await askGuild('12:20')
    expect(await ends()).toEqual([['10:10'], ['10:10'], ['10:10']])
  })

  test('end no guild that a list names which comes while the end of the run is awaited', async () => {
    const listed = { [guildId('a')]: { name: 'Guild a', prefix: 'aaa' }, [guildId('b')]: { name: 'B', prefix: 'bbb' } }
    await world.sync(guildList, listed, '09:50')
    for (const letter of 'ab') await syncGuild(world, guildBody(letter, owner), '10:00')
    guildAnswers('a', notFound)
    await askGuild('10:10')
    await at('10:30')
    world.sandbox.setAnswer(`/guild/uuid/${guildId('b')}`, async () => {
      await world.sync(guildList, listed, '10:29')
      return { headers: headersOf(world.clock.now(), 120), body: guildBody('b', owner) }
    })
    await syncGuilds(world, { keys: [guildId('a'), guildId('b')] })
    expect(await rows('select distinct valid_until from game.guild')).toEqual([['infinity']])
  })

  test('that ended a guild are undone by the next answer, also by the same as before', async () => {
    await syncGuild(world, guildBody('a', owner), '10:00')
    guildAnswers('a', notFound)
    for (const when of ['10:10', '10:20']) await askGuild(when)
    expect(await syncGuild(world, guildBody('a', owner), '10:30')).toMatchObject({ status: 'ok', inserted: 1 })
    expect(await rows(`select valid_from, valid_until from game.guild_member order by 2, 1`)).toEqual([
      ['10:00', '10:10'],
      ['10:00', '10:10'],
      ['10:30', 'infinity'],
      ['10:30', 'infinity'],
    ])
    expect(await rows('select gone_at, reload from sync.work_item')).toEqual([[null, false]])
    expect(await syncGuild(world, guildBody('a', owner), '10:40')).toMatchObject({ status: 'unchanged' })
  })

  test('that ended a guild are not undone by a copy from before', async () => {
    await syncGuild(world, guildBody('a', owner), '10:00')
    guildAnswers('a', notFound)
    for (const when of ['10:10', '10:20']) await askGuild(when)
    await answerGuild(world, guildBody('a', { ...owner, 3: {} }), '10:09')
    await at('10:30')
    await syncGuilds(world, { keys: [guildId('a')] })
    expect(await ends()).toEqual([['10:10'], ['10:10'], ['10:10']])
    await syncGuild(world, guildBody('a', owner), '10:40')
    expect(await rows(`select valid_from from game.guild where valid_until = 'infinity'`)).toEqual([['10:40']])
  })

  test('from before the last response about a guild end nothing, nor does a later one, which is the first', async () => {
    await syncGuild(world, guildBody('a', owner), '12:00')
    for (const [now, from] of [
      ['12:10', '11:10'],
      ['12:30', '11:40'],
      ['12:50', '11:59'],
    ] as const) {
      guildAnswers('a', { ...notFound, headers: headersOf(instantOf(from), 3600) })
      expect(await askGuild(now)).toMatchObject({ status: 'stale' })
    }
    expect([await pending(), new Set((await ends()).flat())]).toEqual([[], new Set(['infinity'])])
    guildAnswers('a', { ...notFound, headers: headersOf(instantOf('13:00'), 3600) })
    await askGuild('13:10')
    expect([await pending(), new Set((await ends()).flat())]).toEqual([[['0', 'gone']], new Set(['infinity'])])
    guildAnswers('a', { ...notFound, headers: headersOf(instantOf('13:20'), 3600) })
    await askGuild('13:30')
    expect(new Set((await ends()).flat())).toEqual(new Set(['13:00']))
  })

  test('that ended a guild leave what its members restrict', async () => {
    const hides = { 1: { rank: 'owner', restrictions: { main_access: true } } }
    for (const when of ['09:50', '10:00']) await syncGuild(world, guildBody('a', hides), when)
    guildAnswers('a', notFound)
    for (const when of ['10:10', '10:20']) await askGuild(when)
    await syncPlayer(world, 1, shown(1), '10:30')
    expect(await counters()).toEqual([])
    expect(await rows('select field_group, told_by from sync.privacy_restriction')).toEqual([
      ['mainAccess', `guilds/${guildId('a')}`],
    ])
  })

  test('of a clock that is days ahead or behind leave the next answer welcome', async () => {
    for (const [letter, date] of [
      ['a', 'Mon, 08 Jun 2026 10:00:00 GMT'],
      ['b', 'Mon, 25 May 2026 10:00:00 GMT'],
    ] as const) {
      await syncGuild(world, guildBody(letter, owner), '10:00')
      guildAnswers(letter, { ...notFound, headers: { date } })
    }
    for (const when of ['10:10', '10:20']) for (const one of ['a', 'b']) await askGuild(when, one)
    for (const one of ['a', 'b'])
      expect(await syncGuild(world, guildBody(one, owner), '10:30')).toMatchObject({ status: 'unchanged' })
    expect(await rows(`select prefix from game.guild where valid_until = 'infinity' order by 1`)).toEqual([
      ['aaa'],
      ['bbb'],
    ])
  })

  test('of a key that is named twice are asked for once', async () => {
    await syncPlayer(world, 1, shown(1), '10:00')
    playerAnswers(1, forbidden)
    expect(await ask('10:10', 1, 1)).toMatchObject({ requests: 1, pages: 1 })
  })
})
