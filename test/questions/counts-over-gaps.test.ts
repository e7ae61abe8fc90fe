import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { place } from '../support/guild-answers.ts'
import { seedsOf } from '../support/seeds.ts'
import { instantOf, timeOf, worldOf } from '../support/world.ts'

const world = worldOf('server')
const seeds = seedsOf(import.meta.filename)
const names = ['Oak', 'Elm', 'Ash', 'Fir']
const hour = 3_600_000

test.each(seeds)('territories count for a guild as far as the map knows who held them (seed %i)', async (seed) => {
  const random = seededRandom(seed)
  await expectEvery(world.db, { resource: 'territories', everySeconds: 3600, setBy: 'sync', at: new Date(0) })
  const held = new Map(names.map((name) => [name, ['a', instantOf('00:00')] as [string, number]]))
  let [last, at] = [instantOf('00:00'), instantOf('02:00')]
  const end = instantOf('14 00:00')
  while (at < end) {
    for (const name of names)
      if (random() < 0.3)
        held.set(name, [
          'abc'[Math.floor(3 * random())] ?? 'a',
          at - Math.floor((random() * (at - last)) / 60_000) * 60_000,
        ])
    const shown = [...held].map(([name, [letter, since]]) => [name, place(letter, timeOf(new Date(since)))])
    await world.sync(territories, Object.fromEntries(shown), timeOf(new Date(at)))
    last = at
    at += random() < 0.15 ? Math.ceil(random() * 60) * hour : hour
  }
  const period = [new Date(instantOf('01:00')), new Date(end + 12 * hour)] as const
  let unknown = 0
  for (const step of [hour, 6 * hour, 7 * hour]) {
    const rows = await world.db.values(
      `select at, guild_uuid, territories, at_most, reason
         from analytics.guild_territory_count($1, $2, make_interval(secs => $3::float8 / 1000))`,
      [...period, step],
    )
    const expected: unknown[][] = []
    for (let moment = period[0].getTime(); moment < period[1].getTime(); moment += step) {
      const map = await world.db.values('select guild_uuid, reason from analytics.map_at($1)', [new Date(moment)])
      const lost = map.filter(([, reason]) => reason === 'not observed').length
      unknown += lost
      if (lost > 0) expected.push([new Date(moment), null, lost, lost, 'not observed'])
      for (const guild of new Set(map.flatMap(([uuid]) => (uuid === null ? [] : [uuid])))) {
        const own = map.filter(([uuid]) => uuid === guild).length
        expected.push([new Date(moment), guild, own, own + lost, null])
      }
    }
    const inOrder = (list: readonly unknown[][]) => list.map((row) => JSON.stringify(row)).sort()
    expect(inOrder(rows)).toEqual(inOrder(expected))
  }
  expect(unknown).toBeGreaterThan(10)
})

test.each(seeds)('every question about the map knows the same of each instant (seed %i)', async (seed) => {
  const random = seededRandom(seed)
  const minute = 60_000
  await expectEvery(world.db, { resource: 'territories', everySeconds: 600, setBy: 'sync', at: new Date(0) })
  const since = instantOf('00:00')
  const held = new Map(names.map((name) => [name, { letter: 'a' as string | null, since }]))
  const responses: number[] = []
  const show = async (at: number) => {
    const shown = [...held].map(([name, one]) => {
      const fields = {
        treasury: random() < 0.5 ? 'LOW' : 'HIGH',
        defences: 'LOW',
        resources: [{ type: 'ORE', generation: 60, stored: 1, limit: 100 }],
      }
      return [name, place(one.letter, one.letter === null ? null : timeOf(new Date(one.since)), fields)]
    })
    await world.sync(territories, Object.fromEntries(shown), timeOf(new Date(at)))
    responses.push(at)
  }
  const end = instantOf('03 00:00')
  for (let at = instantOf('02:00'); at < end; ) {
    const last = responses.at(-1) ?? since
    for (const name of names)
      if (random() < 0.2) {
        const letter = (['a', 'b', 'c', null] as const)[Math.floor(4 * random())] ?? null
        held.set(name, { letter, since: at - Math.floor((random() * (at - last)) / minute) * minute })
      }
    await show(at)
    at += random() < 0.2 ? Math.ceil(random() * 40) * 10 * minute : 10 * minute
  }
  const moments = Array.from(
    { length: 80 },
    () => instantOf('02:00') + Math.floor(random() * (end - instantOf('02:00'))),
  )
  // Whatever was drawn: a gap in which nothing changed, one at the end of which everything did, and what nobody watched since.
  const unchanged = Math.max(end, (responses.at(-1) ?? 0) + 10 * minute) + 6 * hour
  await show(unchanged)
  for (const name of names) held.set(name, { letter: 'd', since: unchanged + 6 * hour - minute })
  await show(unchanged + 6 * hour)
  for (const hours of [-3, -2, -1, 1, 2, 3, 7]) moments.push(unchanged + hours * hour)
  let [lost, known] = [0, 0]
  for (const [round, moment] of moments.entries()) {
    const [last = 0, next = Number.POSITIVE_INFINITY] = [
      responses.findLast((one) => one <= moment),
      responses.find((one) => one > moment),
    ]
    // The last response speaks until the next one is due; a gap is one of three that did not come.
    const isGap = next - last > 35 * minute && moment >= last + 10 * minute
    const at = new Date(moment)
    const map = await world.db.query<{ territory: string; guild_uuid: string | null; reason: string | null }>(
      'select territory, guild_uuid, reason from analytics.map_at($1)',
      [at],
    )
    expect(map).toHaveLength(names.length)
    for (const { territory, guild_uuid: guild, reason } of map) {
      const own = await world.db.values('select guild_uuid, reason from analytics.territory_owner_at($1, $2)', [
        territory,
        at,
      ])
      expect([at, territory, own]).toEqual([at, territory, guild === null && reason === null ? [] : [[guild, reason]]])
      if (!isGap) expect([at, territory, reason]).toEqual([at, territory, null])
      const [stored] = await world.db.values(
        `select stored, reason from analytics.territory_storage($1, $2, $2::timestamptz + interval '1 minute', interval '1 minute')`,
        [territory, at],
      )
      expect([at, territory, stored]).toEqual([at, territory, isGap ? [null, 'not observed'] : [1, null]])
      const [standing] = await world.db.query<{ confirmed_until: Date }>(
        `select confirmed_until from analytics.territory_standing($1, $2, $2::timestamptz + interval '1 microsecond')`,
        [territory, at],
      )
      // What is shown after a gap again was so throughout.
      expect(standing?.confirmed_until.getTime()).toBeGreaterThanOrEqual(last)
    }
    const counts = await world.db.values(
      `select guild_uuid, territories, at_most, reason
         from analytics.guild_territory_count($1, $1::timestamptz + interval '1 minute', make_interval(secs => $2))`,
      [at, round % 2 === 0 ? 60 : 7 * 3600],
    )
    const unknown = map.filter(({ reason }) => reason !== null).length
    const guilds = [...new Set(map.flatMap(({ guild_uuid: guild }) => (guild === null ? [] : [guild])))]
    const expected: unknown[][] = guilds.map((guild) => {
      const own = map.filter((one) => one.guild_uuid === guild).length
      return [guild, own, own + unknown, null]
    })
    if (unknown > 0) expected.push([null, unknown, unknown, 'not observed'])
    const inOrder = (rows: readonly unknown[][]) => rows.map((row) => JSON.stringify(row)).sort()
    expect([at, inOrder(counts)]).toEqual([at, inOrder(expected)])
    lost += unknown
    known += isGap ? names.length - unknown : 0
  }
  expect([lost > 10, known > 10]).toEqual([true, true])
})

test('what a territory stores and how it stands is unknown where nobody watched', async () => {
  await expectEvery(world.db, { resource: 'territories', everySeconds: 3600, setBy: 'sync', at: new Date(0) })
  const oak = (stored: number, treasury: string) =>
    place('a', '01:00', { resources: [{ type: 'ORE', generation: 60, stored, limit: 100 }], treasury, defences: 'LOW' })
  await world.sync(territories, { Oak: oak(10, 'LOW') }, '02:00')
  await world.sync(territories, { Oak: oak(10, 'LOW') }, '03:00')
  await world.sync(territories, { Oak: oak(40, 'HIGH') }, '12:00')
  const at = (time: string) => new Date(instantOf(time))
  const storage = await world.rows(
    `select at, stored, reason from analytics.territory_storage('Oak', '${at('02:00').toISOString()}', '${at('14:00').toISOString()}', interval '3 hours')`,
  )
  expect(storage).toEqual([
    ['02:00', 10, null],
    ['05:00', null, 'not observed'],
    ['08:00', null, 'not observed'],
    ['11:00', null, 'not observed'],
  ])
  expect(
    await world.rows(
      `select valid_from, valid_until, treasury, confirmed_until
         from analytics.territory_standing('Oak', '${at('02:00').toISOString()}', '${at('14:00').toISOString()}')`,
    ),
  ).toEqual([
    ['02:00', '12:00', 'LOW', '03:00'],
    ['12:00', null, 'HIGH', '12:00'],
  ])
})

test('what a territory stored within an hour of which retention left the end alone is unknown', async () => {
  const oak = (stored: number) =>
    place('a', '01:00', { resources: [{ type: 'ORE', generation: 60, stored, limit: 100 }] })
  for (const [time, stored] of [
    ['10:00', 10],
    ['10:20', 20],
    ['10:50', 30],
    ['11:30', 30],
  ] as const)
    await world.sync(territories, { Oak: oak(stored) }, time)
  const end = new Date(instantOf('12:00'))
  await world.db.query(
    `insert into sync.tier (sample_table, fine_since, checked_at) values ('game.territory_resource', $1, $1)`,
    [end],
  )
  await world.db.query('delete from game.territory_resource where observed_at = $1', [new Date(instantOf('10:20'))])
  const at = (time: string) => new Date(instantOf(time)).toISOString()
  expect(
    await world.rows(
      `select at, stored, reason from analytics.territory_storage('Oak', '${at('10:00')}', '${at('12:00')}', interval '30 minutes')`,
    ),
  ).toEqual([
    ['10:00', 10, null],
    ['10:30', null, 'only the end of the hour is kept'],
    ['11:00', 30, null],
    ['11:30', 30, null],
  ])
})
