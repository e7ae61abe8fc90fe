import { expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { place } from '../support/guild-answers.ts'
import { instantOf, timeOf, worldOf } from '../support/world.ts'

const world = worldOf('server')
const names = ['Oak', 'Elm', 'Ash', 'Fir']
const hour = 3_600_000

test.each([1, 2])('territories count for a guild as far as the map knows who held them (seed %i)', async (seed) => {
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
