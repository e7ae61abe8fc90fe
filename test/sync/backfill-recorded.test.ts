import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { openRecordedResponses } from '../../src/api/recordings/recorded.ts'
import { systemClock } from '../../src/base/clock.ts'
import { resourcesNamed } from '../../src/resources/index.ts'
import { loadRecorded } from '../../src/sync/backfill/backfill-recorded.ts'
import { gameDigests } from '../support/backfill.ts'
import { guildBody, guildId, place, playerId } from '../support/guild-answers.ts'
import { profile } from '../support/player-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { type Line, recordingFolder } from '../support/recording-folder.ts'
import { contentOf, emptyTables, item, type World, worldOf } from '../support/world.ts'

const owner = { 1: { rank: 'owner' } }
const guild = (letter: string, at: string, fields: object = {}, more: Partial<Line> = {}): Line => ({
  at,
  path: `/guild/uuid/${guildId(letter)}`,
  body: guildBody(letter, owner, fields),
  ...more,
})
const map = (at: string, holder: string, acquired: string): Line => ({
  at,
  path: '/guild/list/territory',
  body: { Oak: place(holder, acquired) },
})

async function load(
  { db, log }: World,
  lines: readonly Line[],
  options: Partial<Parameters<typeof loadRecorded>[2]> = {},
  folder?: string,
) {
  const said = (level: string) => (_fields: object, message: string) => void log.push(`${level}: ${message}`)
  const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25 }
  const runLog = { debug: () => {}, info: said('info'), warn: said('warn'), error: said('error') }
  const loading = { db, clock: systemClock, program: 'test', guards, log: runLog }
  const recorded = openRecordedResponses(folder ?? (await recordingFolder(lines)))
  return await loadRecorded(recorded, loading, { resources: resourcesNamed([]), ...options })
}

describe.each(kindsAtNight)('recorded answers on the %s database', (kind) => {
  const world = worldOf(kind)

  test.each([
    ['a leaderboard, whose key is spelled as its type', '/leaderboards/totalGlobalLevel', 'totalGlobalLevel'],
    ['a guild, whose uuid is in capitals in the path', `/guild/uuid/${guildId('a').toUpperCase()}`, guildId('a')],
    ['a guild, whose uuid has no dashes in the path', `/guild/uuid/${guildId('a').replaceAll('-', '')}`, guildId('a')],
  ])('load %s', async (_what, path, key) => {
    const places = { 1: { uuid: playerId(1), name: 'Player1', score: 5 } }
    const body = path.startsWith('/leaderboards') ? places : guildBody('a', owner)
    await load(world, [{ at: '10:00', path, body }])
    expect(await world.rows(`select key, status from sync.observation`)).toEqual([[key, 'ok']])
  })

  test('leave alone the list of boards, which is no board', async () => {
    const loaded = await load(world, [
      { at: '10:00', path: '/leaderboards/types', body: ['totalGlobalLevel', 'guildLevel'] },
      { at: '10:01', path: '/leaderboards/guildLevel', body: { 1: { uuid: guildId('a'), name: 'Guild', level: 5 } } },
    ])
    expect([...loaded.unknown.keys()]).toEqual(['GET /leaderboards/types'])
    expect(await world.rows(`select key, status from sync.observation`)).toEqual([['guildLevel', 'ok']])
    expect(await world.rows(`select count(*)::int from sync.quarantine`)).toEqual([[0]])
  })

  test('load lists of another length than is asked for: a shorter one ends nothing, and says nothing of what comes after', async () => {
    const board = (length: number, but: readonly number[] = []) =>
      Object.fromEntries(
        Array.from({ length }, (_, nth) => nth + 1)
          .filter((nth) => !but.includes(nth))
          .map((nth) => [nth, { uuid: playerId(nth), name: `Player${nth}`, score: 2000 - nth }]),
      )
    const line = (at: string, length: number, query = '', but: readonly number[] = []): Line => ({
      at,
      path: `/leaderboards/totalGlobalLevel${query}`,
      body: board(length, but),
    })
    const loaded = await load(world, [
      line('10:00', 120, '?resultLimit=1000'),
      line('10:20', 5, '?resultLimit=5'),
      line('10:40', 4, '?resultLimit=5', [2]),
      line('11:00', 100),
      line('11:20', 100),
      line('11:40', 10, '?resultLimit=x'),
    ])
    expect(loaded.resources).toEqual([expect.objectContaining({ resource: 'leaderboards', answers: 5, rejected: 0 })])
    expect([...loaded.unknown.keys()]).toEqual(['GET /leaderboards/totalGlobalLevel?resultLimit=x'])
    expect(await world.rows('select key, status from sync.observation order by observed_at')).toEqual(
      ['ok', 'partial', 'partial', 'ok', 'ok'].map((status) => [
        'totalGlobalLevel',
        status === 'ok' ? expect.stringMatching(/^(ok|unchanged)$/) : status,
      ]),
    )
    const places = `select count(*)::int, count(*) filter (where reason = 'empty')::int
                      from analytics.leaderboard_at('totalGlobalLevel', '2026-06-01T23:00:00Z')`
    expect(await world.rows(places)).toEqual([[120, 0]])
    // What lists of the usual length lack ends as in a sync; a short list between them starts the count again.
    await load(world, [
      line('12:00', 100, '', [7, 8]),
      line('12:20', 10, '?resultLimit=10', [8]),
      line('12:40', 100, '', [8]),
      line('13:00', 100, '', [8]),
    ])
    expect(await world.rows(`select place, observed_at from game.leaderboard_place where reason = 'empty'`)).toEqual([
      [8, '12:40'],
    ])
  })

  test('from before the game began or after now are refused line by line, and the others are loaded', async () => {
    const lines = [
      guild('a', '10:00', { level: 10 }),
      guild('a', '10:00', { level: 99 }),
      map('11:00', 'b', '10:30'),
      guild('a', '12:00', { level: 12 }),
    ]
    const folder = await recordingFolder(lines)
    const index = join(folder, 'index.jsonl')
    const [first, second = '', third = '', fourth] = (await readFile(index, 'utf8')).split('\n')
    const dated = [
      first,
      second.replace('2026-06-01', '2150-06-01'),
      third.replace('2026-06-01', '1970-06-01'),
      fourth,
      '',
    ].join('\n')
    await writeFile(index, dated)
    const { broken, resources } = await load(world, [], {}, folder)
    expect(broken).toEqual([
      expect.stringMatching(
        /\(index.jsonl line 3\) is not loaded: it was recorded at 1970-06-01T11:00:00.000Z, which is not/,
      ),
      expect.stringMatching(
        /\(index.jsonl line 2\) is not loaded: it was recorded at 2150-06-01T10:00:00.000Z, which is not/,
      ),
    ])
    expect(resources).toMatchObject([{ resource: 'guilds', answers: 2, stale: 0, rejected: 0 }])
    expect(await world.rows('select observed_at, level from game.guild_sample order by 1')).toEqual([
      ['10:00', 10],
      ['12:00', 12],
    ])
  })

  test('confirm what a player restricts by the times of the recordings', async () => {
    const path = `/player/${playerId(1)}?fullResult`
    const shown = profile(1, { globalData: { wars: 5 } })
    const closed = profile(1, { restrictions: { mainAccess: true } })
    const counters = () => world.rows('select counter, value from game.player_counter')
    await load(world, [
      { at: '10:00', path, body: shown },
      { at: '11:00', path, body: closed },
      { at: '11:01', path, body: closed },
    ])
    expect(await counters()).toContainEqual(['wars', 5])
    await load(world, [{ at: '12:00', path, body: closed }])
    expect(await counters()).toEqual([])
  })

  test('are taken in in the order of time, over all resources, each as of its instant', async () => {
    const lines = [
      guild('a', '12:00', { level: 12 }),
      map('11:00', 'b', '10:30'),
      guild('a', '10:00', { level: 10 }),
      map('10:00', 'a', '09:00'),
    ]
    const { resources } = await load(world, lines)
    expect(resources).toMatchObject([
      { resource: 'territories', answers: 2, inserted: 1, events: 1, stale: 0 },
      { resource: 'guilds', answers: 2, inserted: 1, stale: 0 },
    ])
    expect(await world.rows('select observed_at, level from game.guild_sample order by 1')).toEqual([
      ['10:00', 10],
      ['12:00', 12],
    ])
    expect(await world.rows('select valid_from, valid_until from game.territory_hold order by 1')).toEqual([
      ['09:00', '10:30'],
      ['10:30', 'infinity'],
    ])
    expect(await world.rows('select resource, started_at, observed_at, requests from sync.run order by 2, 1')).toEqual([
      ['guilds', '10:00', '12:00', 0],
      ['territories', '10:00', '10:00', 0],
      ['territories', '11:00', '11:00', 0],
    ])
    expect(await world.rows('select received_at, observed_at from sync.observation order by 1')).toEqual([
      ['10:00', '10:00'],
      ['12:00', '12:00'],
    ])
    expect(await world.rows('select checked_at, leased_until from sync.work_item')).toEqual([['12:00', null]])
  })

  test('speak for the instant that their headers tell, where these were kept', async () => {
    const headers = { 'Cache-Control': 'max-age=10', Expires: 'Mon, 01 Jun 2026 10:00:07 GMT' }
    const tick = { ...headers, TerritoryLastTick: '2026-06-01 09:59:56.250+00:00' }
    await load(world, [{ ...map('10:00', 'a', '09:00'), headers: tick }, guild('a', '10:00', {}, { headers })])
    expect(await world.rows('select resource, observed_at from sync.run order by 1')).toEqual([
      ['guilds', '09:59:57'],
      ['territories', '09:59:56.250Z'],
    ])
  })

  test('write nothing when they are loaded again, nor when something newer is known', async () => {
    const lines = [
      map('10:00', 'a', '09:00'),
      map('11:00', 'b', '10:30'),
      guild('a', '10:00'),
      guild('a', '11:00', { level: 3 }),
    ]
    await load(world, lines)
    const before = await gameDigests(world.db)
    const older = [map('10:30', 'c', '10:20'), guild('a', '10:30', { level: 2 })]
    const { resources } = await load(world, [...lines, ...older])
    const nothing = { inserted: 0, changed: 0, closed: 0, events: 0, answers: 3, stale: 2, unchanged: 1 }
    expect(resources).toMatchObject([nothing, nothing])
    expect(await gameDigests(world.db)).toEqual(before)
    expect(await world.rows('select checked_at from sync.work_item')).toEqual([['11:00']])
  })

  test('that cannot be read are told with file and line, and the others are taken in', async () => {
    const lines = [
      guild('a', '10:00'),
      guild('b', '10:01', {}, { body: undefined }),
      guild('c', '10:02', {}, { body: Buffer.from('no gzip') }),
      guild('d', '10:03', {}, { body: 'text' }),
      guild('e', '10:04', {}, { status: 503, body: { message: 'away' } }),
      guild('f', '10:05'),
      guild('g', '10:06', {}, { body: gzipSync(Buffer.from('{"uuid": "\xfc"}', 'latin1')) }),
    ]
    const { broken, resources } = await load(world, lines)
    expect(broken).toEqual([
      expect.stringMatching(/bodies\/2\.json\.gz \(index\.jsonl line 2\) cannot be read$/),
      expect.stringMatching(/bodies\/3\.json\.gz \(index\.jsonl line 3\) is not gzip, or gzip that ended early$/),
      expect.stringMatching(/^guilds of 2026-06-01T10:03:00.000Z: unexpected shape/),
      expect.stringMatching(/^guilds of 2026-06-01T10:04:00.000Z: \S+: 503/),
      expect.stringMatching(/bodies\/7\.json\.gz \(index\.jsonl line 7\) holds bytes that are not UTF-8$/),
    ])
    expect(resources).toMatchObject([{ answers: 2, inserted: 2 }])
    expect(world.log.filter((line) => line.startsWith('error'))).toHaveLength(5)
  })

  test('that say no are believed like the API itself', async () => {
    const gone = { status: 404, body: { error: 'NotFound', code: 404 } }
    await load(world, [guild('a', '10:00'), guild('a', '11:00', {}, gone), guild('a', '12:00', {}, gone)])
    expect(await world.rows('select valid_until from game.guild')).toEqual([['11:00']])
  })

  test('that say no for many guilds at once conclude the same, however many parts they are loaded in', async () => {
    const gone = { status: 404, body: { error: 'NotFound', code: 404 } }
    const letters = [...'abcdef']
    const at = (hour: number, nth: number) => `${hour}:${10 + nth}`
    const hours = (hour: number, how: object, of = letters) =>
      of.map((letter, nth) => guild(letter, at(hour, nth), {}, how))
    const lines = [
      ...hours(10, {}),
      // The service fails: each is refused, twice.
      ...hours(11, gone),
      ...hours(12, gone),
      ...hours(13, {}, letters.slice(1)),
      // And one is gone in truth.
      ...hours(14, gone, ['a']),
      ...hours(15, {}, letters.slice(1)),
      ...hours(16, gone, ['a']),
      ...hours(17, {}, letters.slice(1)),
    ]
    for (const size of [lines.length, 1, 2, 5]) {
      for (let from = 0; from < lines.length; from += size) await load(world, lines.slice(from, from + size))
      expect(await world.rows(`select guild_uuid, valid_until from game.guild where valid_until < 'infinity'`)).toEqual(
        [[guildId('a'), '14:10']],
      )
      expect([size, await world.rows('select subject from sync.claim')]).toEqual([size, []])
      await emptyTables(world.db)
    }
  })

  test('that say no are older than a later response that shows the key, however often they are loaded', async () => {
    const [gone, hidden] = [404, 403].map((status) => ({
      status,
      body: { error: status === 404 ? 'NotFound' : 'Forbidden', code: status },
    }))
    const ofPlayer = (at: string, rest: object = {}) => ({
      at,
      path: `/player/${playerId(1)}?fullResult`,
      body: profile(1, { playtime: 7, characters: {} }),
      ...rest,
    })
    const refused = ['11:00', '11:20'].flatMap((at) => [guild('a', at, {}, gone), ofPlayer(at, hidden)])
    const whole = ['10:00', '12:00'].flatMap((at) => [guild('a', at), ofPlayer(at)])
    await load(world, whole)
    const before = await contentOf(world.db)
    for (let times = 0; times < 3; times++)
      expect(await load(world, [...whole, ...refused])).toMatchObject({ resources: [{ closed: 0 }, { changed: 0 }] })
    const after = await contentOf(world.db)
    expect(Object.keys(before)).toContain('game.player_counter')
    for (const table of [...Object.keys(before), 'sync.claim', 'sync.privacy_action'])
      if (table !== 'sync.observation') expect([table, after[table]]).toEqual([table, before[table]])
    expect(await world.rows(`select status, reason from sync.observation where observed_at is null`)).toEqual([])
    expect(
      await world.rows(
        `select distinct status from sync.observation where observed_at < '2026-06-01 11:30Z' order by 1`,
      ),
    ).toEqual([['ok'], ['stale']])
  })

  test('that show a key leave what a later refusal says of it, however often they are loaded', async () => {
    const gone = { status: 404, body: { error: 'NotFound', code: 404 } }
    const shown = [guild('a', '10:00'), guild('a', '12:00')]
    await load(world, [...shown, guild('a', '13:00', {}, gone)])
    for (const lines of [shown, shown.slice(0, 1)]) await load(world, lines)
    await load(world, [guild('a', '14:00', {}, gone)])
    expect(await world.rows('select valid_until from game.guild')).toEqual([['13:00']])
  })

  test('that nobody asks for are counted and named, and so is half of what belongs together', async () => {
    const lists = { at: '10:00', path: '/item/metadata', body: { filters: { type: ['bow'] } } }
    const ids = { at: '10:01', path: '/item/metadata?static', body: { type: { bow: 1 } } }
    const other = { at: '10:00', path: '/guild/list/guild?identifier=username', body: {} }
    const search = { at: '10:02', path: '/item/search', method: 'POST', body: [item('Oak')] }
    const { unknown } = await load(world, [lists, other, { ...other, at: '10:05' }, search])
    expect([...unknown]).toEqual([
      ['GET /guild/list/guild?identifier=username', 2],
      ['POST /item/search', 1],
      ['GET /item/metadata (half of item-metadata; the other was not recorded)', 1],
    ])
    const whole = await load(world, [lists, ids])
    expect(whole).toMatchObject({ resources: [{ resource: 'item-metadata', answers: 1, inserted: 2 }] })
    expect(whole.unknown.size).toBe(0)
  })

  test('are taken in up to where it was interrupted, and the rest when it is called again', async () => {
    const lines = ['10:00', '11:00', '12:00', '13:00'].map((at, level) => guild('a', at, { level }))
    const ending = new AbortController()
    const onProgress = (done: number) => {
      if (done === 2) ending.abort(new Error('interrupted'))
    }
    await expect(load(world, lines, { signal: ending.signal, onProgress })).rejects.toThrow('interrupted')
    expect(await world.rows('select count(*) from game.guild_sample')).toEqual([[2]])
    expect(await load(world, lines)).toMatchObject({ resources: [{ answers: 4, stale: 1, unchanged: 1 }] })
    expect(await world.rows('select level from game.guild_sample order by observed_at')).toEqual([[0], [1], [2], [3]])
  })
})
