import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { incomplete, item, worldOf } from '../support/world.ts'

/** So many territories, and after them some whose record cannot be understood. */
const map = (good: number, unreadable = 0, first = 'Place') =>
  Object.fromEntries([
    ...Array.from({ length: good }, (_, nth) => [`${first} ${nth}`, place('a', '08:00')]),
    ...Array.from({ length: unreadable }, (_, nth) => [`Odd ${nth}`, { guild: 7 }]),
  ])
const strict = { plausibleShare: 0.9 }
const some = (count: number) => Array.from({ length: count }, (_, nth) => item(`Item ${nth}`))

describe.each(kindsOfPart)('plausibility on the %s database', (kind) => {
  const world = worldOf(kind)
  const { sync, rows, versions } = world
  const actions = () => rows('select guard, action from sync.guard_action order by at')

  test('does not count quarantined records: good responses after a partial one are accepted', async () => {
    expect(await sync(territories, map(20), '10:00', strict)).toMatchObject({ status: 'ok', records: 20 })
    const partial = await sync(territories, map(20, 5), '10:01', strict)
    expect(partial).toMatchObject({ status: 'partial', records: 25, quarantined: 5 })
    expect(await rows('select records, normalized from sync.run order by started_at')).toEqual([
      [20, 20],
      [25, 20],
    ])
    expect(await sync(territories, map(20), '10:02', strict)).toMatchObject({ status: 'unchanged', rejected: 0 })
    expect(await sync(territories, map(21), '10:03', strict)).toMatchObject({ status: 'ok', inserted: 1 })
    expect(await actions()).toEqual([])
  })

  test('counts a quarantined record whose key is current: one bad value of a few costs one record', async () => {
    await sync(territories, map(4), '10:00', strict)
    const one = { ...map(4), 'Place 0': { guild: 7 } }
    expect(await sync(territories, one, '10:01', strict)).toMatchObject({ status: 'partial', quarantined: 1 })
    expect(await sync(territories, map(4), '10:02', strict)).toMatchObject({ status: 'unchanged' })
    expect(await versions('territory', 'territory')).toHaveLength(4)
  })

  test('rejects a response in which unknown unreadable records stand in for the missing ones', async () => {
    await sync(territories, map(20), '10:00', strict)
    for (const at of ['10:01', '10:02'])
      expect(await sync(territories, map(5, 15), at, strict)).toMatchObject({ status: 'rejected', closed: 0 })
    expect(await sync(territories, map(20), '10:03', strict)).toMatchObject({ status: 'unchanged' })
    expect(await versions('territory', 'territory')).toHaveLength(20)
  })

  test('loads a shrunken response when three in a row agree, and ends what is missing only hours later', async () => {
    await sync(items, some(100), '10:00', strict)
    expect(await sync(items, some(50), '11:00', strict)).toMatchObject({ status: 'rejected' })
    expect(await sync(items, some(51), '12:00', strict)).toMatchObject({ status: 'rejected' })
    const other = [...some(49), item('Item new')]
    expect(await sync(items, other, '13:00', strict)).toMatchObject({ status: 'partial', inserted: 1, closed: 0 })
    expect(await actions()).toContainEqual(['plausibility', 'accepted after agreement'])
    const reasons = (action: string) =>
      rows(`select reason from sync.guard_action where action = '${action}' order by at limit 1`)
    expect(await reasons('accepted after agreement')).toEqual([
      [
        '50 records where the last good response had 100; if that is right, sync with --accept; loaded, because three ' +
          'complete responses in a row, each of another cache window, agree; what it lacks is not ended yet',
      ],
    ])
    expect(await reasons('pending')).toEqual([
      [
        'missing: 51 records (Item 49, Item 50, Item 51 ...); not ended before 3 responses in a row lack the same, ' +
          'each of another cache window, over 6 hours',
      ],
    ])
    for (const at of ['14:00', '15:00', '16:00', '17:00', '18:00'])
      expect(await sync(items, other, at, strict)).toMatchObject({ status: 'partial', closed: 0 })
    expect(await sync(items, other, '19:00', strict)).toMatchObject({ closed: 51 })
    expect(await sync(items, other, '20:00', strict)).toMatchObject({ status: 'unchanged' })
  })

  test('ends sooner what a shrunken response lacks where a person says so', async () => {
    const soon = { ...strict, shrunkenHours: 0 }
    await sync(items, some(100), '10:00', soon)
    for (const at of ['11:00', '12:00']) await sync(items, some(50), at, soon)
    for (const at of ['13:00', '14:00']) expect(await sync(items, some(50), at, soon)).toMatchObject({ closed: 0 })
    expect(await sync(items, some(50), '15:00', soon)).toMatchObject({ closed: 50 })
  })

  test('counts one response per cache window, and compares later ones with the last one of plausible size', async () => {
    await sync(territories, map(30), '10:00', strict)
    for (const at of ['10:00:05', '10:00:10', '10:00:15', '10:00:20'])
      expect(await sync(territories, map(15), at, strict)).toMatchObject({ status: 'rejected' })
    for (const at of ['10:00:25', '10:00:30', '10:00:35', '10:01', '15:59'])
      expect(await sync(territories, map(15), at, strict)).toMatchObject({ status: 'partial', closed: 0 })
    expect(await rows(`select records, normalized from sync.run order by started_at desc limit 1`)).toEqual([[15, 30]])
    expect(await sync(territories, map(30), '16:00', strict)).toMatchObject({ status: 'unchanged' })
    expect(await sync(territories, map(15), '16:00:10', strict)).toMatchObject({ status: 'rejected' })
    expect(await rows('select kind, times from sync.claim')).toEqual([['shrunken', 1]])
  })

  test('opens again what ended wrongly once it is back, with its holds and without captures', async () => {
    await sync(territories, map(30), '02 10:00', strict)
    for (const at of ['02 11:00', '02 11:01', '02 11:02', '02 14:00', '02 17:02'])
      await sync(territories, map(15), at, strict)
    const current =
      "select count(*) filter (where valid_until = 'infinity')::int, count(*)::int from game.territory_hold"
    expect(await rows(current)).toEqual([[15, 30]])
    expect(await sync(territories, map(30), '02 18:00', strict)).toMatchObject({ status: 'ok', inserted: 15 })
    expect(await rows(current)).toEqual([[30, 30]])
    expect(await rows('select count(*)::int, max(valid_until) from game.territory')).toEqual([[30, 'infinity']])
    expect(await rows('select * from game.territory_capture')).toEqual([])
  })

  test('takes a copy of the same instant, an incomplete one and one of another size for no agreement', async () => {
    await sync(items, some(100), '10:00', strict)
    const answers = [
      [some(50), '11:00'],
      [some(50), '11:00'],
      [some(50), '11:00'],
      [some(53), '12:00'],
      [some(50), '13:00'],
      [some(50), '14:00'],
      [incomplete(some(50)), '15:00'],
      [incomplete(some(50)), '16:00'],
    ] as const
    for (const [body, at] of answers) expect(await sync(items, body, at, strict)).toMatchObject({ status: 'rejected' })
    // It does not contradict either: otherwise a list of which every third one is incomplete would never be loaded.
    expect(await sync(items, some(50), '17:00', strict)).toMatchObject({ rejected: 0 })
  })

  test('rejects an empty array in the place of an object', async () => {
    await sync(territories, map(3), '10:00', strict)
    expect(await sync(territories, [], '10:01', strict)).toMatchObject({ status: 'rejected', records: 0 })
  })

  test('never accepts an empty response by itself, however often it comes', async () => {
    await sync(items, some(20), '10:00', strict)
    for (const at of ['11:00', '12:00', '13:00', '14:00', '15:00'])
      expect(await sync(items, [], at, strict)).toMatchObject({ status: 'rejected', closed: 0 })
    expect(await sync(items, some(20), '16:00', strict)).toMatchObject({ status: 'unchanged' })
  })
})
