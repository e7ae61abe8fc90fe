import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { bothKinds } from '../support/postgres.ts'
import { incomplete, item, tableNames, worldOf } from '../support/world.ts'

const elm = item('Elm', { requirements: { level: 1 } })
const elm2 = item('Elm', { requirements: { level: 2 } })
const oak = item('Oak')
const yew = item('Yew')

describe.each(bothKinds)('the history of items in the %s database', (kind) => {
  const world = worldOf(kind)
  const { sync, versions, rows, rowCounts } = world

  test('begins with the first answer', async () => {
    expect(await sync(items, [elm, oak], '10:00')).toMatchObject({ status: 'ok', inserted: 2, records: 2, pages: 1 })
    expect(await versions()).toEqual([
      ['Elm', '10:00', 'infinity'],
      ['Oak', '10:00', 'infinity'],
    ])
    expect(await rows('select previous_until, level, display_name from game.item order by internal_name')).toEqual([
      [null, 1, 'Elm'],
      [null, null, 'Oak'],
    ])
  })

  test('gets one row in the ledger and nothing else from the same answer again', async () => {
    await sync(items, [elm, oak], '10:00')
    const before = await rowCounts()
    const untouched = await stamps()
    expect(await sync(items, [oak, elm], '11:00')).toMatchObject({ status: 'unchanged', unchanged: 2, inserted: 0 })
    expect(await rowCounts()).toEqual({ ...before, 'sync.run': 2 })
    expect((await stamps()).filter((one) => !untouched.includes(one))).toHaveLength(1)
    expect(await sync(items, [elm, oak], '11:00')).toMatchObject({ status: 'unchanged' })
    expect(await rowCounts()).toEqual({ ...before, 'sync.run': 3 })
  })

  test('takes an answer and its ledger row in one transaction', async () => {
    const rich = {
      requirements: { level: 1, skills: ['cooking'] },
      elements: ['air'],
      novelty: 1,
      restriction: 'cursed',
    }
    await sync(items, [item('Elm', rich), { type: 'material' }, oak], '10:00')
    expect(new Set((await stamps()).map((stamp) => stamp.split(' ')[1])).size).toBe(1)
    const before = await stamps()
    await sync(items, [elm2, yew], '11:00')
    await sync(items, [elm2, yew], '12:00')
    const since = (await stamps()).filter((one) => !before.includes(one))
    expect(new Set(since.map((stamp) => stamp.split(' ')[1])).size).toBe(2)
  })

  test('has a new version from the instant of the answer that showed the change', async () => {
    await sync(items, [elm, oak], '10:00')
    expect(await sync(items, [elm2, oak], '11:00')).toMatchObject({ status: 'ok', changed: 1, unchanged: 1 })
    expect(
      await rows('select internal_name, level, valid_from, valid_until, previous_until from game.item order by 1, 3'),
    ).toEqual([
      ['Elm', 1, '10:00', '11:00', null],
      ['Elm', 2, '11:00', 'infinity', '11:00'],
      ['Oak', null, '10:00', 'infinity', null],
    ])
  })

  test('has three versions of what goes from A to B and back to A', async () => {
    for (const [one, at] of [
      [elm, '10:00'],
      [elm2, '11:00'],
      [elm, '12:00'],
    ] as const)
      await sync(items, [one], at)
    expect(await rows('select level, valid_from, valid_until from game.item order by 2')).toEqual([
      [1, '10:00', '11:00'],
      [2, '11:00', '12:00'],
      [1, '12:00', 'infinity'],
    ])
  })

  test('keeps the parts of every version', async () => {
    const range = { min: 3, raw: 10, max: 13 }
    await sync(items, [item('Elm', { identifications: { rawStrength: 12, walkSpeed: range } })], '10:00')
    await sync(items, [item('Elm', { identifications: { rawStrength: 14 } })], '11:00')
    expect(
      await rows(
        'select valid_from, identification, raw, min, max, is_fixed from game.item_identification order by 1, 2',
      ),
    ).toEqual([
      ['10:00', 'rawStrength', 12, 12, 12, true],
      ['10:00', 'walkSpeed', 10, 3, 13, false],
      ['11:00', 'rawStrength', 14, 14, 14, true],
    ])
  })

  test('does not lose an item to a single answer without it', async () => {
    await sync(items, [elm, oak], '10:00')
    expect(await sync(items, [elm], '11:00')).toMatchObject({ status: 'unchanged', closed: 0 })
    expect(await sync(items, [elm, oak], '12:00')).toMatchObject({ status: 'unchanged', closed: 0, inserted: 0 })
    expect(await versions()).toEqual([
      ['Elm', '10:00', 'infinity'],
      ['Oak', '10:00', 'infinity'],
    ])
    expect(await rows('select * from sync.claim')).toEqual([])
  })

  test('ends an item when it was first missed, once a second answer lacks it too', async () => {
    await sync(items, [elm, oak], '10:00')
    await sync(items, [elm], '11:00')
    expect(await rows('select subject, first_at, last_at, times from sync.claim')).toEqual([
      ['Oak', '11:00', '11:00', 1],
    ])
    expect(await sync(items, [elm], '12:00')).toMatchObject({ status: 'ok', closed: 1 })
    expect(await versions()).toEqual([
      ['Elm', '10:00', 'infinity'],
      ['Oak', '10:00', '11:00'],
    ])
    expect(await rows('select * from sync.claim')).toEqual([])
    expect(await sync(items, [elm], '13:00')).toMatchObject({ status: 'unchanged', closed: 0 })
  })

  test('does not count the same copy of an answer as a second absence', async () => {
    await sync(items, [elm, oak], '10:00')
    await sync(items, [elm], '11:00')
    expect(await sync(items, [elm], '11:00')).toMatchObject({ status: 'unchanged', closed: 0 })
    expect(await rows('select times from sync.claim')).toEqual([[1]])
  })

  test('does not count another copy of the same cache window, which is an hour, as a second absence', async () => {
    await sync(items, [elm, oak, yew], '10:00')
    for (const at of ['11:00', '11:01', '11:59:59'])
      expect(await sync(items, [elm, oak], at)).toMatchObject({ closed: 0 })
    expect(await sync(items, [elm, oak], '12:00')).toMatchObject({ status: 'ok', closed: 1 })
    expect(await versions()).toContainEqual(['Yew', '10:00', '11:00'])
  })

  test('asks for as many absences as it is told', async () => {
    await sync(items, [elm, oak], '10:00')
    expect(await sync(items, [elm], '11:00', { absences: 1 })).toMatchObject({ status: 'ok', closed: 1 })
    await sync(items, [elm, oak], '12:00', { absences: 3 })
    await sync(items, [elm], '13:00', { absences: 3 })
    expect(await sync(items, [elm], '14:00', { absences: 3 })).toMatchObject({ closed: 0 })
    expect(await sync(items, [elm], '15:00', { absences: 3 })).toMatchObject({ closed: 1 })
    expect(await rows(`select valid_from, valid_until from game.item where internal_name = 'Oak' order by 1`)).toEqual([
      ['10:00', '11:00'],
      ['12:00', '13:00'],
    ])
  })

  test('chains the version of an item that returns to the end of its last one', async () => {
    await sync(items, [elm, oak], '10:00')
    await sync(items, [elm], '11:00')
    await sync(items, [elm], '12:00')
    expect(await sync(items, [elm, oak], '13:00')).toMatchObject({ status: 'ok', inserted: 1 })
    expect(
      await rows(
        `select valid_from, valid_until, previous_until from game.item where internal_name = 'Oak' order by 1`,
      ),
    ).toEqual([
      ['10:00', '11:00', null],
      ['13:00', 'infinity', '11:00'],
    ])
  })

  test('lets nothing be absent from a walk that did not see everything', async () => {
    await sync(items, [elm, oak, yew], '10:00')
    for (const at of ['11:00', '12:00', '13:00']) {
      expect(await sync(items, incomplete([elm2, oak]), at)).toMatchObject({ status: 'partial', closed: 0 })
    }
    expect(await versions()).toContainEqual(['Yew', '10:00', 'infinity'])
    expect(await versions()).toContainEqual(['Elm', '11:00', 'infinity'])
    expect(await rows('select * from sync.claim')).toEqual([])
  })

  test('believes a complete answer after an incomplete one with the same records', async () => {
    await sync(items, [elm, oak], '10:00')
    await sync(items, incomplete([elm]), '11:00')
    await sync(items, [elm], '12:00')
    expect(await sync(items, [elm], '13:00')).toMatchObject({ status: 'ok', closed: 1 })
    expect(await versions()).toContainEqual(['Oak', '10:00', '12:00'])
  })

  test('counts living items right through absences and returns', async () => {
    await sync(items, [elm, oak, yew], '10:00')
    await sync(items, [elm, oak], '11:00')
    await sync(items, [elm, oak], '12:00')
    await sync(items, [elm2, oak, yew, item('Ash')], '13:00')
    expect(
      await rows('select observed_at, living, inserted, changed, closed, unchanged from sync.run order by 1'),
    ).toEqual([
      ['10:00', 3, 3, 0, 0, 0],
      ['11:00', 3, 0, 0, 0, 2],
      ['12:00', 2, 0, 0, 1, 2],
      ['13:00', 4, 2, 1, 0, 1],
    ])
  })

  /** Where each row stands and which transaction wrote it. */
  async function stamps(): Promise<string[]> {
    const found: string[] = []
    for (const table of await tableNames(world.db)) {
      const stamped = await world.db.values(`select '${table}' || ctid::text || ' ' || xmin::text from ${table}`)
      found.push(...stamped.map(String))
    }
    return found
  }
})
