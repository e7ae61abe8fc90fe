import { describe, expect, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { backfillGuilds } from '../support/backfill.ts'
import { answerGuild, guildBody, guildId, syncGuilds } from '../support/guild-answers.ts'
import { kindsAtNight, testDatabaseUrl } from '../support/postgres.ts'
import { cuttableWay } from '../support/proxy.ts'
import { headersOf, instantOf, openWorld, type World, worldOf } from '../support/world.ts'

const letters = ['a', 'b', 'c', 'd', 'e', 'f']
const owner = { 1: { rank: 'owner' } }
const hookOf = (letter: string) => `/guild/uuid/${guildId(letter)}`
const broken = () => ({ status: 503, body: 'gone fishing' })

/** The letters of the guilds that were asked for, in order, repeats of one call left out. */
function asked({ sandbox }: World): string[] {
  return sandbox.requests
    .filter(({ path }) => path.startsWith('/guild/uuid/'))
    .map(({ path }) => path.slice('/guild/uuid/'.length)[0] ?? '')
    .filter((letter, nth, all) => letter !== all[nth - 1])
}

async function list(world: World, known: readonly string[] = letters): Promise<void> {
  const body = Object.fromEntries(known.map((one) => [guildId(one), { name: `Guild ${one}`, prefix: one.repeat(3) }]))
  await world.sync(guildList, body, '10:00')
  for (const one of known) await answerGuild(world, guildBody(one, owner), '10:00')
}

describe.each(kindsAtNight)('a backfill of guilds on the %s database', (kind) => {
  const world = worldOf(kind)
  const campaigns = () => world.rows('select since, keys, finished_at from sync.backfill order by started_at')

  test('asks for each guild once, first for those that nobody asked for yet, then for the stalest', async () => {
    await list(world)
    await syncGuilds(world, { keys: [guildId('b')] })
    await world.clock.advance(60_000)
    await syncGuilds(world, { keys: [guildId('a')] })
    await world.clock.advance(60_000)
    expect(await backfillGuilds(world)).toMatchObject({ run: { status: 'ok', pages: 6, inserted: 4 }, left: 0 })
    expect(asked(world).slice(2)).toEqual(['c', 'd', 'e', 'f', 'b', 'a'])
    expect(await campaigns()).toEqual([['10:02', 6, '10:02']])
    expect(await world.rows('select distinct leased_until, leased_by from sync.work_item')).toEqual([[null, null]])
  })

  test('goes on where it was: in one call so many guilds as it may, in the next one the others', async () => {
    await list(world)
    expect(await backfillGuilds(world, { limit: 2 })).toMatchObject({ run: { pages: 2 }, left: 4 })
    await world.clock.advance(3_600_000)
    expect(await backfillGuilds(world, { only: [guildId('e'), guildId('a')] })).toMatchObject({ left: 3 })
    await world.clock.advance(3_600_000)
    expect(await backfillGuilds(world)).toMatchObject({ run: { pages: 3 }, left: 0 })
    expect(asked(world)).toEqual(['a', 'b', 'e', 'c', 'd', 'f'])
    expect(await campaigns()).toEqual([['10:00', 6, '12:00']])
    await world.clock.advance(3_600_000)
    await backfillGuilds(world)
    expect(await campaigns()).toEqual([
      ['10:00', 6, '12:00'],
      ['13:00', 6, '13:00'],
    ])
    expect(asked(world)).toHaveLength(12)
  })

  test('comes to its end although a clock that was a year ahead began it', async () => {
    await list(world)
    await backfillGuilds(world, { limit: 2 })
    await world.db.query(`update sync.backfill set since = since + interval '1 year'`)
    await world.clock.advance(60_000)
    expect(await backfillGuilds(world, { limit: 20 })).toMatchObject({ run: { pages: 6 }, left: 0 })
    expect(await campaigns()).toEqual([['10:01', 6, '10:01']])
  })

  test('takes back what a killed backfill held, at once, and waits for what a living sync holds', async () => {
    await list(world)
    const until = new Date(instantOf('10:05'))
    const hold = 'update sync.work_item set leased_until = $1, leased_by = $2 where starts_with(key, $3)'
    await syncGuilds(world, { limit: 0 })
    for (const one of letters) await world.db.query(hold, [until, one === 'c' ? 'a run' : 'backfill', one])
    expect(await backfillGuilds(world, { limit: 5 })).toMatchObject({ run: { pages: 5 }, left: 1 })
    expect([asked(world), world.clock.now()]).toEqual([['a', 'b', 'd', 'e', 'f'], instantOf('10:00')])
    expect(await backfillGuilds(world)).toMatchObject({ run: { pages: 1 }, left: 0 })
    expect(world.clock.now()).toBeGreaterThan(until.getTime())
  })

  test('counts as done what the API does not know, and leaves it alone for most of a day', async () => {
    await list(world, ['a', 'b'])
    await backfillGuilds(world)
    world.sandbox.setAnswer(hookOf('b'), null)
    for (const hours of [24, 24, 19, 24]) {
      await world.clock.advance(hours * 3_600_000)
      expect(await backfillGuilds(world)).toMatchObject({ left: 0 })
    }
    expect(asked(world)).toEqual(['a', 'b', 'a', 'b', 'a', 'b', 'a', 'b', 'a'])
    expect(await world.rows(`select prefix from game.guild where valid_until = 'infinity'`)).toEqual([['aaa']])
  })

  test('stops when the API refuses many guilds in a row, and ends none of them', async () => {
    await list(world)
    await backfillGuilds(world)
    for (const letter of ['c', 'd', 'e']) world.sandbox.setAnswer(hookOf(letter), null)
    await world.clock.advance(3_600_000)
    expect(await backfillGuilds(world)).toMatchObject({ run: { status: 'rejected', rejected: 3 } })
    expect(await world.rows(`select count(*)::int from sync.claim where kind in ('gone', 'forbidden')`)).toEqual([[0]])
    expect(await world.rows(`select count(*)::int from game.guild where valid_until = 'infinity'`)).toEqual([[6]])
  })

  test('asks again at the end for what failed, and gives up after three times what others do not suffer from', async () => {
    await list(world)
    world.sandbox.setAnswer(hookOf('a'), broken)
    let calls = 0
    const body = guildBody('b', owner)
    world.sandbox.setAnswer(hookOf('b'), () => (++calls <= 5 ? broken() : { body }))
    const { run, left } = await backfillGuilds(world)
    expect(run).toMatchObject({ status: 'partial', records: 6, inserted: 5, temporary: false })
    expect([left, run.error]).toEqual([1, expect.stringContaining(`${guildId('a')}: /guild/uuid`)])
    // The last one is a guild that is known to be answered: it says that the API is there.
    expect(asked(world)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'a', 'b', 'a', 'b'])
    expect(await world.rows('select finished_at from sync.backfill')).toEqual([[null]])
    await answerGuild(world, guildBody('a', owner), '10:00')
    expect(await backfillGuilds(world)).toMatchObject({ run: { status: 'ok', pages: 1 }, left: 0 })
  })

  test('stops at once, with everything given back, when the credential is refused', async () => {
    await list(world)
    world.sandbox.setAnswer(hookOf('c'), () => ({ status: 401, body: { error: 'InvalidTokenError' } }))
    expect(await backfillGuilds(world)).toMatchObject({ run: { status: 'failed', temporary: false }, left: 4 })
    expect(asked(world)).toEqual(['a', 'b', 'c'])
    expect(await world.rows('select distinct leased_until from sync.work_item')).toEqual([[null]])
  })

  test('survives an hour without the API, asks for little meanwhile, and says so', async () => {
    await list(world)
    for (const one of letters) {
      const headers = headersOf(instantOf('10:00'), 120)
      const body = guildBody(one, owner)
      const began = one === 'a' || one === 'b' ? instantOf('10:00:01') : instantOf('10:00')
      const isAway = (now: number) => now >= began && now < instantOf('11:00')
      world.sandbox.setAnswer(hookOf(one), ({ now }) => (isAway(now) ? broken() : { headers, body }))
    }
    expect(await backfillGuilds(world, { concurrency: 3 })).toMatchObject({ run: { status: 'ok' }, left: 0 })
    expect(world.clock.now()).toBeGreaterThan(instantOf('11:00'))
    expect(world.clock.now()).toBeLessThan(instantOf('11:10'))
    expect(asked(world).length).toBeLessThan(500)
    expect(world.log).toContainEqual(expect.stringMatching(/^warn: trying again in (4\d|5\d|60) s/))
  })

  test('ends when it is told to, gives back what it had taken, and loses nothing', async () => {
    await list(world)
    const ending = new AbortController()
    world.sandbox.setAnswer(hookOf('c'), () => {
      ending.abort(new Error('interrupted'))
      return { body: guildBody('c', owner) }
    })
    const { run, left } = await backfillGuilds(world, { signal: ending.signal })
    expect([run.status, run.error, left]).toEqual(['failed', 'interrupted', 4])
    expect(await world.rows('select distinct leased_until, leased_by from sync.work_item')).toEqual([[null, null]])
    expect(await backfillGuilds(world)).toMatchObject({ left: 0 })
  })
})

describe('a backfill of guilds', () => {
  test('survives a database that goes away for a while, and takes its lock again', async () => {
    const way = await cuttableWay(await testDatabaseUrl())
    const db = await openServer(way.url)
    const world = await openWorld(db, {}, instantOf('10:00'))
    await list(world)
    const body = guildBody('c', owner)
    world.sandbox.setAnswer(hookOf('c'), () => {
      way.cut()
      world.sandbox.setAnswer(hookOf('c'), () => ({ body }))
      return { body }
    })
    let relocked = 0
    const relock = async () => ++relocked > 0
    const walk = backfillGuilds(world, { relock })
    const told = () => world.log.filter((line) => line.startsWith('warn: trying again')).length
    while (told() < 4) await new Promise((resolve) => setTimeout(resolve, 5))
    await way.mend()
    expect(await walk).toMatchObject({ run: { status: 'ok' }, left: 0 })
    expect(relocked).toBe(1)
    expect(await world.rows('select count(*) from game.guild')).toEqual([[6]])
    await world.api.close()
    await world.sandbox.close()
    way.cut()
    await db.close()
  })
})
