import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { followingTables, takenTables } from '../../src/lake/import/taken-tables.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { resources } from '../../src/resources/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { readStates } from '../../src/sync/overview/overview.ts'
import { retractResource } from '../../src/sync/retract/retract.ts'
import { findSource, forgetSource } from '../../src/sync/retract/sources.ts'
import { guildBody, guildId, place, syncGuild } from '../support/guild-answers.ts'
import { different, lakeBetween, linesOf } from '../support/lake-folder.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { seedsOf } from '../support/seeds.ts'
import { wrongRows } from '../support/verified.ts'
import { instantOf, worldOf } from '../support/world.ts'

type World = ReturnType<typeof worldOf>

const all = [territories, items, onlinePlayers, guilds]
const seeds = seedsOf(import.meta.filename)
/** When the n-th responses come, ten minutes apart, or so many minutes later. */
const clockTime = (nth: number, later = 0) => new Date((480 + nth * 10 + later) * 60_000).toISOString().slice(11, 16)
const material = (name: string, level: number) => ({
  internalName: name,
  type: 'material',
  requirements: { level },
  identifications: { damage: { min: level, raw: level, max: level + 1 } },
})

/** Who holds a place, and since when. */
type Owner = readonly [guild: string, acquired: string]

/** Responses of an instant: what was true, or what somebody else's game said. */
async function observe(
  world: World,
  nth: number,
  { owner, random, isOther }: { owner: Owner; random: () => number; isOther: boolean },
): Promise<void> {
  const at = clockTime(nth)
  const pick = <T>(...of: readonly T[]): T => of[Math.floor(random() * of.length)] as T
  const level = isOther ? 90 + pick(1, 2, 3) : nth % 3
  await world.sync(territories, { Oak: place(...owner), Elm: place('b', '07:30') }, at)
  await world.sync(items, [material('Ash', level), material('Fir', 1), material(isOther ? 'Box' : 'Yew', 1)], at)
  const here = isOther ? pick([7, 8], [8, 9]) : pick([1, 2], [2, 3], [1, 3], [1, 2, 3])
  await syncOnline(world, onlineBody({ EU1: here, EU2: [20] }), at)
  const members = { 1: { rank: 'owner', contributed: isOther ? 900 + nth : nth }, 2: {}, ...(isOther ? { 5: {} } : {}) }
  await syncGuild(world, guildBody('a', members, { level: isOther ? 99 : 1 + Math.floor(nth / 4) }), at)
}

async function differences(one: World, other: World): Promise<unknown[]> {
  const found: unknown[] = []
  const tables = takenTables.flatMap((each) => [each.table, ...('parts' in each ? each.parts : [])])
  for (const table of [...tables, ...followingTables]) {
    const lines = different(await linesOf(one.db, table), await linesOf(other.db, table))
    if (lines.flat().length > 0) found.push([table, ...lines])
  }
  return found
}

async function expecting(of: World) {
  for (const { name } of all)
    await setExpectedInterval(of.db, {
      resource: name,
      everySeconds: 600,
      setBy: 'start',
      at: new Date(instantOf('07:00')),
    })
}

describe.each(kindsAtNight)('on %s, a period that is retracted', (kind) => {
  const world = worldOf(kind)
  const without = worldOf(kind)

  const retract = async (from: string, to: string) => {
    for (const resource of all)
      await world.db.transaction((sql) =>
        retractResource(sql, resource, { from: new Date(instantOf(from)), to: new Date(instantOf(to)) }),
      )
  }

  test.each(seeds)('leaves the tables as if its responses had never come (seed %i)', async (seed) => {
    for (const each of [world, without]) await expecting(each)
    const random = seededRandom(seed)
    const length = 12
    // Also from the first response on, and to the last one.
    const first = seed % 5 === 0 ? 0 : 1 + Math.floor(random() * 5)
    const last = seed % 7 === 3 ? length : first + 1 + Math.floor(random() * 4)
    const owners: Record<'true' | 'other', Owner> = { true: ['a', '07:00'], other: ['x', '07:10'] }
    const play = async (nth: number) => {
      const isOther = nth >= first && nth < last
      const whose = isOther ? 'other' : 'true'
      // A place changes hands between two responses.
      if (random() < 0.5)
        owners[whose] = [
          isOther ? 'xyz'.charAt(Math.floor(random() * 3)) : 'abc'.charAt(Math.floor(random() * 3)),
          clockTime(nth, -5),
        ]
      const draws = Array.from({ length: 8 }, () => random())
      const given = () => {
        const left = [...draws]
        return { owner: owners[whose], random: () => left.shift() ?? 0, isOther }
      }
      await observe(world, nth, given())
      if (!isOther) await observe(without, nth, given())
    }
    for (let nth = 0; nth < length; nth++) await play(nth)
    await retract(clockTime(first), clockTime(last))
    expect(await wrongRows(world.db)).toEqual([])
    expect(await differences(world, without)).toEqual([])
    // And what comes then goes on from there.
    for (const nth of [length, length + 1]) await play(nth)
    expect(await differences(world, without)).toEqual([])
  })
})

describe('an import that is retracted', () => {
  const world = worldOf('server')
  const theirs = worldOf('server')

  test('leaves the tables and the ledger as they were before a lake came', async () => {
    const lake = lakeBetween(theirs, world)
    const random = seededRandom(1)
    for (const each of [world, theirs]) await expecting(each)
    const given = (letter: string) => ({ owner: [letter, '07:00'] as const, random, isOther: letter === 'x' })
    for (const nth of [0, 1, 2, 6, 7, 8]) await observe(world, nth, given('a'))
    for (const nth of [2, 3, 4, 5, 9, 10]) await observe(theirs, nth, given('x'))
    await lake.exported()
    await world.clock.advanceTo(instantOf('12:00'))
    const tables = [
      ...takenTables.map(({ table }) => table),
      ...followingTables,
      'sync.run',
      'sync.observation',
      'sync.gap',
      'sync.source_span',
    ]
    const before = new Map<string, string[]>()
    for (const table of tables) before.set(table, await linesOf(world.db, table))
    await lake.imported()
    expect(await wrongRows(world.db)).toEqual([])
    expect(await linesOf(world.db, 'game.item')).not.toEqual(before.get('game.item'))
    const period = { from: new Date(instantOf('08:00')), to: new Date(instantOf('11:00')) }
    await expect(world.db.transaction((sql) => retractResource(sql, items, period))).rejects.toThrow(
      'a part of that time was imported from',
    )
    const source = await findSource(world.db, [
      (await world.rows('select source_id from sync.source'))[0]?.[0] as string,
    ])
    for (const resource of resources)
      await world.db.transaction((sql) => retractResource(sql, resource, { sourceId: source.sourceId, isLake: true }))
    await forgetSource(world.db, source.sourceId)
    const found: unknown[] = []
    for (const table of tables) {
      const lines = different(await linesOf(world.db, table), before.get(table) ?? [])
      if (lines.flat().length > 0) found.push([table, ...lines])
    }
    expect(found).toEqual([])
  })
})

describe('when something was unknown', () => {
  const world = worldOf('server')
  const spans = (table: string) => world.rows(`select from_at, until_at from sync.${table} order by 1`)
  const retractAt = async (at: string, resource: typeof items | typeof guilds = items) => {
    const from = new Date(instantOf(at))
    const period = { from, to: new Date(from.getTime() + 1) }
    return await world.db.transaction((sql) => retractResource(sql, resource, period))
  }
  const others = ['Ash', 'Fir', 'Yew', 'Box', 'Bay'].map((name) => material(name, 1))
  const elm = (level: number) => [material('Elm', level), ...others]
  const unreadable = [{ ...material('Elm', 1), type: 7 }, ...others]
  const confirmed = () =>
    world.rows(`select confirmed_until from analytics.item_history where internal_name = 'Elm' order by 1`)

  test.each([
    ['shows it, too', elm(1), [['11:10', '14:40']]],
    ['cannot read it', unreadable, [['11:10', null]]],
  ])(
    'it ends with the response after the one that ended it, which is retracted, where that %s',
    async (_what, after, expected) => {
      await world.sync(items, elm(1), '10:00')
      for (const at of ['11:10', '12:20']) await world.sync(items, unreadable, at)
      await world.sync(items, elm(1), '13:30')
      await world.sync(items, after, '14:40')
      expect(await spans('unread')).toEqual([['11:10', '13:30']])
      await retractAt('13:30')
      expect(await spans('unread')).toEqual(expected)
      expect(await confirmed()).toEqual([[expected[0]?.[1] === null ? '10:00' : '14:40']])
      await world.sync(items, elm(2), '15:50')
      const goesOn = expected[0]?.[1] === null
      expect(await spans('unread')).toEqual(goesOn ? [['11:10', '15:50']] : expected)
      expect(await confirmed()).toEqual(goesOn ? [['10:00'], ['15:50']] : [['14:40'], ['15:50']])
    },
  )

  test('it lasts where the last response ended it, and begins with the first that is left', async () => {
    await world.sync(items, elm(1), '10:00')
    for (const at of ['11:10', '12:20', '13:30']) await world.sync(items, unreadable, at)
    await world.sync(items, elm(1), '14:40')
    await retractAt('14:40')
    expect(await spans('unread')).toEqual([['11:10', null]])
    expect(await confirmed()).toEqual([['10:00']])
    await retractAt('11:10')
    expect(await spans('unread')).toEqual([['12:20', null]])
    for (const at of ['12:20', '13:30']) await retractAt(at)
    expect(await spans('unread')).toEqual([])
    expect(await confirmed()).toEqual([['10:00']])
  })

  test('of one guild it ends with the next response about that guild, and that of another one stays', async () => {
    const list = (guild: string, ...numbers: number[]) =>
      guildBody(guild, { [guild]: { rank: 'owner' }, ...Object.fromEntries(numbers.map((one) => [one, {}])) })
    const flawed = (guild: string) => {
      const body = list(guild, 2, 3)
      // One member more than it lists.
      Object(body).members.total = 4
      return body
    }
    const found = () =>
      world.rows(
        `select split_part(key, '/', 1), from_at, until_at from sync.unread where resource = 'guilds/members' order by 2`,
      )
    for (const [tens, body] of [
      ['10:0', list],
      ...[1, 2, 3, 4].map((ten) => [`10:${ten}`, flawed] as const),
      ['14:0', list],
      ['15:0', list],
    ] as const)
      for (const [minute, guild] of ['a', 'b'].entries())
        await syncGuild(world, body(guild, 1, 2, 3), `${tens}${minute}`)
    expect(await found()).toEqual([
      [guildId('a'), '10:30', '14:00'],
      [guildId('b'), '10:31', '14:01'],
    ])
    await retractAt('14:00', guilds)
    expect(await found()).toEqual([
      [guildId('a'), '10:30', '15:00'],
      [guildId('b'), '10:31', '14:01'],
    ])
  })

  test('a field is sent again with the response after the one that had it, or is not', async () => {
    const lacking = elm(1).map(({ identifications: _identifications, ...one }) => one)
    await world.sync(items, elm(1), '10:00')
    for (const at of ['11:10', '12:20']) await world.sync(items, lacking, at)
    for (const at of ['13:30', '14:40']) await world.sync(items, elm(1), at)
    expect([...new Set((await spans('unsent')).map(String))]).toEqual(['11:10,13:30'])
    await retractAt('13:30')
    expect([...new Set((await spans('unsent')).map(String))]).toEqual(['11:10,14:40'])
    await retractAt('14:40')
    expect([...new Set((await spans('unsent')).map(String))]).toEqual(['11:10,'])
    expect(await world.rows('select distinct received_until from sync.unsent')).toEqual([[null]])
  })
})

describe('a response that was retracted and is loaded again', () => {
  const world = worldOf('server')

  test('is the latest of its resource, although both runs have one time', async () => {
    const period = { from: new Date(instantOf('10:00')), to: new Date(instantOf('10:01')) }
    const records = [material('Ash', 1), material('Fir', 1)]
    await world.sync(items, records, '09:00')
    await world.sync(items, records, '10:00')
    await world.db.transaction((sql) => retractResource(sql, items, period))
    expect(await world.rows(`select last_status from analytics.freshness where resource = 'items'`)).toEqual([
      ['rejected'],
    ])
    await world.sync(items, records, '10:00')
    expect(await world.rows('select status, started_at from sync.run order by started_at, status')).toEqual([
      ['ok', '09:00'],
      ['rejected', '10:00'],
      ['unchanged', '10:00'],
    ])
    expect(await world.rows(`select last_status from analytics.freshness where resource = 'items'`)).toEqual([
      ['unchanged'],
    ])
    expect((await readStates(world.db, ['items']))[0]?.status).toBe('unchanged')
  })
})
