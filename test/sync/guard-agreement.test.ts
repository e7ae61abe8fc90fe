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

  test('accepts a shrunken response when three in a row agree, and ends what is missing only then', async () => {
    await sync(items, some(100), '10:00', strict)
    expect(await sync(items, some(50), '11:00', strict)).toMatchObject({ status: 'rejected' })
    expect(await sync(items, some(51), '12:00', strict)).toMatchObject({ status: 'rejected' })
    expect(await sync(items, some(50), '13:00', strict)).toMatchObject({ rejected: 0, closed: 0 })
    expect(await actions()).toContainEqual(['plausibility', 'accepted after agreement'])
    const [[reason] = []] = await rows(`select reason from sync.guard_action where action like '%agreement'`)
    expect(reason).toBe(
      '50 records where the last good response had 100; if that is right, sync with --accept; ' +
        'accepted, because three complete responses in a row agree',
    )
    expect(await sync(items, some(50), '14:00', strict)).toMatchObject({ status: 'ok', closed: 50 })
    expect(await sync(items, some(50), '15:00', strict)).toMatchObject({ status: 'unchanged' })
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
      [some(50), '16:00'],
      [some(50), '17:00'],
    ] as const
    for (const [body, at] of answers) expect(await sync(items, body, at, strict)).toMatchObject({ status: 'rejected' })
    expect(await sync(items, some(50), '18:00', strict)).toMatchObject({ rejected: 0 })
  })

  test('never accepts an empty response by itself, however often it comes', async () => {
    await sync(items, some(20), '10:00', strict)
    for (const at of ['11:00', '12:00', '13:00', '14:00', '15:00'])
      expect(await sync(items, [], at, strict)).toMatchObject({ status: 'rejected', closed: 0 })
    expect(await sync(items, some(20), '16:00', strict)).toMatchObject({ status: 'unchanged' })
  })
})
