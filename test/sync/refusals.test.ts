import { describe, expect, test } from 'vitest'
import { readOverview, statusText } from '../../src/cli/commands/status/status-command.ts'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { answerGuild, guildBody, guildId, playerId, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { syncPlayer, syncPlayers } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { forbidden, notFound, notOfTheApplication, owner, refusingWorld, shown } from '../support/refusing-world.ts'
import { contentOf, instantOf } from '../support/world.ts'

describe.each(kindsOfLongTests)('refusals on the %s database', (kind) => {
  const { world, rows, playerAnswers, guildAnswers, at, ask, askGuild, counters, erased, actions, pending } =
    refusingWorld(kind)

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

  test('of a key that is named twice are asked for once', async () => {
    await syncPlayer(world, 1, shown(1), '10:00')
    playerAnswers(1, forbidden)
    expect(await ask('10:10', 1, 1)).toMatchObject({ requests: 1, pages: 1 })
  })
})
