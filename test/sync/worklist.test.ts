import { describe, expect, onTestFinished, test } from 'vitest'
import { createClient } from '../../src/api/client.ts'
import { createTransport } from '../../src/api/http/transport.ts'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { answerGuild, guildBody, guildId, place, syncGuild, syncGuilds } from '../support/guild-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { instantOf, type World, worldOf } from '../support/world.ts'

const letters = ['a', 'b', 'c', 'd', 'e', 'f']
const owner = { 1: { rank: 'owner' } }

/** The letters of the guilds that were asked for, in order. */
function asked({ sandbox }: World): string[] {
  return sandbox.requests
    .filter(({ path }) => path.startsWith('/guild/uuid/'))
    .map(({ path }) => path.slice('/guild/uuid/'.length)[0] ?? '')
}

async function list(world: World, known: readonly string[], at: string): Promise<void> {
  const body = Object.fromEntries(known.map((one) => [guildId(one), { name: `Guild ${one}`, prefix: one.repeat(3) }]))
  await world.sync(guildList, body, at)
}

async function answerAll(world: World, known: readonly string[], at: string): Promise<void> {
  for (const one of known) await answerGuild(world, guildBody(one, owner), at)
}

describe.each(kindsAtNight)('the worklist of guilds on the %s database', (kind) => {
  const world = worldOf(kind)
  const items = (columns: string) => world.rows(`select ${columns} from sync.work_item order by key`)

  test('holds every listed guild, the heavier the more members are online and the more territories it holds', async () => {
    await list(world, ['a', 'b', 'c'], '10:00')
    await world.sync(territories, { Oak: place('b', '09:00'), Elm: place('b', '09:00') }, '10:00')
    await syncGuild(world, guildBody('c', owner, { online: 10 }), '10:00')
    await syncGuilds(world, { limit: 0 })
    expect(await items('left(key, 1), weight')).toEqual([
      ['a', 1],
      ['b', 7],
      ['c', 21],
    ])
  })

  test('asks for what nobody asked for yet first, then for what is stale and active', async () => {
    await list(world, ['a', 'b', 'c'], '10:00')
    await answerAll(world, ['a', 'c'], '10:00')
    await answerGuild(world, guildBody('b', owner, { online: 50 }), '10:00')
    await syncGuilds(world, { limit: 3 })
    await world.clock.advanceTo(instantOf('10:05'))
    await answerAll(world, ['a', 'c'], '10:05')
    await answerGuild(world, guildBody('b', { 1: { rank: 'chief' } }, { online: 50 }), '10:05')
    await syncGuilds(world, { limit: 1 })
    await list(world, ['a', 'b', 'c', 'd'], '10:06')
    await answerGuild(world, guildBody('d', owner), '10:06')
    await syncGuilds(world, { limit: 2 })
    expect(asked(world)).toEqual(['a', 'b', 'c', 'b', 'd', 'a'])
  })

  test('does not ask again within the two minutes that a copy lives', async () => {
    await list(world, ['a'], '10:00')
    await answerAll(world, ['a'], '10:00')
    await syncGuilds(world)
    await world.clock.advance(119_000)
    await syncGuilds(world)
    expect(asked(world)).toEqual(['a'])
    await world.clock.advance(1_000)
    await syncGuilds(world)
    expect(asked(world)).toEqual(['a', 'a'])
  })

  test('says how many of the keys that are due are done, whatever bounds the run', async () => {
    await list(world, letters, '10:00')
    await answerAll(world, letters, '10:00')
    const seenOf = async (options: Parameters<typeof syncGuilds>[1]) => {
      const seen: (number | null)[][] = []
      await syncGuilds(world, { ...options, onProgress: ({ records, count }) => void seen.push([records, count]) })
      return seen
    }
    expect(await seenOf({ limit: 2 })).toEqual([
      [1, 2],
      [2, 2],
    ])
    expect(await seenOf({ keys: [guildId('a')] })).toEqual([[1, 1]])
    expect(await seenOf({ limit: 10 })).toEqual([1, 2, 3, 4].map((done) => [done, 4]))
    await world.clock.advance(120_000)
    expect(await seenOf({ concurrency: 3 })).toEqual([1, 2, 3, 4, 5, 6].map((done) => [done, 6]))
  })

  test('gives each guild to one of several runs at once', async () => {
    await list(world, letters, '10:00')
    await answerAll(world, letters, '10:00')
    await Promise.all([1, 2, 3].map(() => syncGuilds(world, { concurrency: 2 })))
    expect(asked(world).sort()).toEqual(letters)
    expect(await items('leased_until')).toEqual(letters.map(() => [null]))
  })

  test('asks as ever for what was checked, claimed or gone by a clock that was a year ahead', async () => {
    await list(world, ['a', 'b', 'c', 'd'], '10:00')
    await answerAll(world, ['a', 'b', 'c', 'd'], '10:00')
    await syncGuilds(world)
    const ahead = (columns: string, one: string) =>
      world.db.query(`update sync.work_item set ${columns} where key = $1`, [guildId(one)])
    const later = (column: string) => `${column} = coalesce(${column}, checked_at) + interval '1 year'`
    await ahead(later('checked_at'), 'a')
    await ahead(later('leased_until'), 'b')
    await ahead(`${later('checked_at')}, ${later('gone_at')}`, 'c')
    for (const at of ['10:05', '10:10']) {
      await answerAll(world, ['a', 'b', 'c', 'd'], at)
      await syncGuilds(world)
    }
    expect(asked(world).sort()).toEqual([...'aaabbbcccddd'])
    expect(await items('checked_at, leased_until, gone_at')).toEqual(Array(4).fill(['10:10', null, null]))
  })

  test('ends a run without pause whose deadline a clock that is set back would reach an hour later', async () => {
    await list(world, ['a', 'b'], '10:00')
    await answerAll(world, ['a', 'b'], '10:00')
    const began = world.clock.now()
    const ahead = 3_600_000
    const now = () => world.clock.now() + (asked(world).length === 0 ? ahead : 0)
    const set: World = { ...world, clock: { ...world.clock, now }, trusts: 'machine' }
    await syncGuilds(set, { until: now() + 120_000 })
    expect(asked(world).length).toBeGreaterThan(0)
    expect(world.clock.now() - began).toBeLessThan(600_000)
  })

  test('frees a guild five minutes after the process that took it died', async () => {
    await list(world, ['a'], '10:00')
    await answerAll(world, ['a'], '10:00')
    await syncGuilds(world, { limit: 0 })
    // What a killed process leaves behind.
    await world.db.query('update sync.work_item set leased_until = $1', [new Date(instantOf('10:05'))])
    await world.clock.advanceTo(instantOf('10:04:59'))
    await syncGuilds(world)
    expect(asked(world)).toEqual([])
    await world.clock.advanceTo(instantOf('10:05:01'))
    await syncGuilds(world)
    expect(asked(world)).toEqual(['a'])
  })

  test('asks for as many as it is told, or only for the named ones', async () => {
    await list(world, letters, '10:00')
    await answerAll(world, letters, '10:00')
    expect(await syncGuilds(world, { limit: 2 })).toMatchObject({ pages: 2, requests: 2, records: 2 })
    expect(await syncGuilds(world, { keys: [guildId('f')] })).toMatchObject({ pages: 1 })
    expect(asked(world)).toEqual(['a', 'b', 'f'])
    expect(await world.rows('select left(key, 1), status from sync.observation order by 1')).toEqual([
      ['a', 'ok'],
      ['b', 'ok'],
      ['f', 'ok'],
    ])
  })

  test('ends guild and members when the API has twice not known it, ten minutes apart, and asks again within a day', async () => {
    await list(world, ['a'], '10:00')
    await syncGuild(world, guildBody('a', { ...owner, 2: {} }), '10:00')
    world.sandbox.setAnswer(`/guild/uuid/${guildId('a')}`, null)
    await world.clock.advanceTo(instantOf('10:10'))
    expect(await syncGuilds(world)).toMatchObject({ closed: 0 })
    await world.clock.advanceTo(instantOf('10:20'))
    expect(await syncGuilds(world)).toMatchObject({ closed: 3 })
    expect(
      await world.rows('select valid_until from game.guild union all select valid_until from game.guild_member'),
    ).toEqual([['10:10'], ['10:10'], ['10:10']])
    for (const at of ['10:30', '02 06:19']) {
      await world.clock.advanceTo(instantOf(at))
      await syncGuilds(world)
    }
    expect(asked(world)).toHaveLength(3)
    for (const at of ['02 10:20', '02 10:30']) {
      await world.clock.advanceTo(instantOf(at))
      await syncGuilds(world)
    }
    expect(asked(world)).toHaveLength(4)
  })

  test('does not end a guild that the API did not know once only', async () => {
    await syncGuild(world, guildBody('a', owner), '10:00')
    const hook = `/guild/uuid/${guildId('a')}`
    world.sandbox.setAnswer(hook, null)
    await world.clock.advanceTo(instantOf('10:10'))
    await syncGuilds(world)
    await syncGuild(world, guildBody('a', owner), '10:20')
    world.sandbox.setAnswer(hook, null)
    await world.clock.advanceTo(instantOf('10:30'))
    await syncGuilds(world)
    expect(await world.rows('select valid_until from game.guild')).toEqual([['infinity']])
  })

  test('keeps everything when the API fails, gives the guilds back and stops after five in a row', async () => {
    await list(world, letters, '10:00')
    for (const one of letters)
      world.sandbox.setAnswer(`/guild/uuid/${guildId(one)}`, () => ({ status: 500, body: { error: 'InternalError' } }))
    const result = await syncGuilds(world)
    expect(result).toMatchObject({ status: 'failed', temporary: true, closed: 0 })
    expect(new Set(asked(world)).size).toBe(5)
    expect(await items('checked_at, observed_at')).toEqual(letters.map(() => [null, null]))
    await answerAll(world, letters, '10:00')
    await world.clock.advance(120_001)
    expect(await syncGuilds(world)).toMatchObject({ records: 6 })
  })

  test('goes on with the others when one guild fails', async () => {
    await list(world, ['a', 'b', 'c'], '10:00')
    await answerAll(world, ['a', 'c'], '10:00')
    world.sandbox.setAnswer(`/guild/uuid/${guildId('b')}`, () => ({ status: 503, body: 'gone fishing' }))
    expect(await syncGuilds(world, { limit: 3 })).toMatchObject({ status: 'partial', records: 2 })
    expect(await items('left(key, 1), observed_at')).toEqual([
      ['a', '10:00'],
      ['b', null],
      ['c', '10:00'],
    ])
  })

  test.each([302, 400, 405, 410, 451])('goes on with the others when one guild always brings %i', async (status) => {
    await list(world, ['a', 'b', 'c'], '10:00')
    world.sandbox.setAnswer(`/guild/uuid/${guildId('a')}`, () => ({ status, body: { error: 'Odd', detail: 'odd' } }))
    for (const at of ['11:00', '12:00', '13:00']) {
      await answerAll(world, ['b', 'c'], at)
      expect(await syncGuilds(world)).toMatchObject({ status: 'partial', records: 2 })
    }
    expect(await items('left(key, 1), observed_at')).toEqual([
      ['a', null],
      ['b', '13:00'],
      ['c', '13:00'],
    ])
  })

  test('goes on with the others when one guild always has more than a body may have', async () => {
    await list(world, ['a', 'b', 'c'], '10:00')
    const large = () => ({ body: { ...guildBody('a', owner), notes: 'x'.repeat(20_000) } })
    world.sandbox.setAnswer(`/guild/uuid/${guildId('a')}`, large)
    const { clock, sandbox } = world
    const api = createClient({
      transport: createTransport({ baseUrl: sandbox.url, clock, random: () => 0.5, maxBytes: 10_000 }),
    })
    onTestFinished(() => api.close())
    for (const at of ['11:00', '12:00', '13:00']) {
      await answerAll(world, ['b', 'c'], at)
      expect(await syncGuilds({ ...world, api, db: world.db, clock, sandbox, log: [] })).toMatchObject({
        status: 'partial',
        records: 2,
        error: expect.stringContaining('too large'),
      })
    }
    expect(await items('left(key, 1), observed_at')).toEqual([
      ['a', null],
      ['b', '13:00'],
      ['c', '13:00'],
    ])
  })

  test('has a turn for the others where five guilds always fail', async () => {
    await list(world, letters, '10:00')
    for (const one of letters.slice(0, 5))
      world.sandbox.setAnswer(`/guild/uuid/${guildId(one)}`, () => ({ status: 500, body: { error: 'InternalError' } }))
    for (const at of ['11:00', '12:00', '13:00', '14:00']) {
      await answerAll(world, ['f'], at)
      await syncGuilds(world)
    }
    expect(await world.rows(`select observed_at from sync.work_item where observed_at is not null`)).toEqual([
      ['14:00'],
    ])
  })

  test('stops after five guilds in a row that are refused, however many there are', async () => {
    await list(world, letters, '10:00')
    for (const one of letters)
      world.sandbox.setAnswer(`/guild/uuid/${guildId(one)}`, () => ({
        status: 405,
        body: { error: 'MethodNotAllowed' },
      }))
    expect(await syncGuilds(world)).toMatchObject({ status: 'failed', temporary: false, requests: 5 })
  })

  describe('finds the guilds that a name means', () => {
    const labels = async (name: string) => (await guilds.find(world.db, name)).map(({ label }) => label)
    test('by uuid, exact name or prefix; several when several are meant', async () => {
      const body = {
        [guildId('a')]: { name: 'Alpha ', prefix: 'ALP' },
        [guildId('b')]: { name: 'Beta', prefix: 'ALP' },
        [guildId('c')]: { name: 'ALP', prefix: 'CCC' },
      }
      await world.sync(guildList, body, '10:00')
      expect(await labels(guildId('b').toUpperCase())).toEqual(['Beta [ALP]'])
      expect(await labels('Alpha ')).toEqual(['Alpha  [ALP]'])
      expect(await labels('Alpha')).toEqual([])
      expect((await labels('ALP')).sort()).toEqual(['ALP [CCC]', 'Alpha  [ALP]', 'Beta [ALP]'])
      expect(await labels('nobody')).toEqual([])
    })

    test('names a guild once, by its latest name, wherever it is known from', async () => {
      await world.sync(guildList, { [guildId('a')]: { name: 'Guild a', prefix: 'aaa' } }, '10:00')
      await syncGuild(world, guildBody('a', owner, { name: 'Renamed' }), '10:10')
      expect(await guilds.find(world.db, guildId('a'))).toHaveLength(1)
    })

    test('asks the API for what the database does not know, and brings all matches of a name that is not unique', async () => {
      const { sandbox, api } = world
      sandbox.setAnswer('/guild/prefix/new', () => ({ body: guildBody('d', owner) }))
      expect(await guilds.lookUp(api, 'new')).toEqual([{ key: guildId('d'), label: 'Guild d [ddd]' }])
      const objects = { [guildId('e')]: { name: 'One', prefix: 'E' }, [guildId('f')]: { name: 'Two', prefix: 'E' } }
      const body = { error: 'MultipleObjectsReturned', detail: 'several', code: 300, objects }
      sandbox.setAnswer('/guild/prefix/E', () => ({ status: 300, body }))
      expect((await guilds.lookUp(api, 'E')).map(({ key }) => key)).toEqual([guildId('e'), guildId('f')])
      expect(await guilds.lookUp(api, 'nobody')).toEqual([])
    })
  })
})

describe.each(kindsAtNight)('the budget of a window on the %s database', (kind) => {
  const world = worldOf(kind, { sandbox: { limits: { guest: 5, token: 5 } } })

  test('decides how many guilds one run asks for: no request waits for the next window', async () => {
    await list(world, [...letters, '1', '2'], '10:00')
    await answerAll(world, [...letters, '1', '2'], '10:00')
    await world.clock.advance(61_000)
    const before = world.clock.now()
    expect(await syncGuilds(world, { concurrency: 3 })).toMatchObject({ status: 'ok', requests: 5 })
    expect(world.clock.now() - before).toBeLessThan(60_000)
    await world.clock.advance(61_000)
    expect(await syncGuilds(world, { concurrency: 3 })).toMatchObject({ requests: 3 })
    expect(world.sandbox.requests.filter(({ status }) => status === 429)).toEqual([])
  })
})
