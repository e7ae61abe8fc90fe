import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { misfitOf, recordParser } from '../../src/api/schemas/form/record.ts'
import { RecordError } from '../../src/base/errors.ts'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { readDrift } from '../../src/sync/overview/drift-overview.ts'
import { countLosses, holds, lostFields } from '../../src/sync/respond/shape-changes.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { item, worldOf } from '../support/world.ts'

const trees = ['Ash', 'Beech', 'Cedar', 'Elm', 'Fir', 'Oak', 'Yew']
const all = (fields: object | ((name: string) => object)) =>
  trees.map((name) => item(name, typeof fields === 'function' ? fields(name) : fields))
const land = (fields: object = {}) => ({
  acquired: '2026-05-01T00:00:00Z',
  guild: { uuid: '11111111-1111-4111-8111-111111111111', name: 'Some', prefix: 'SOM' },
  ...fields,
})

describe.each(kindsOfPart)('what arrives, vanishes and returns, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { sync, rows } = world
  const told = async () =>
    (await readDrift(world.db)).map(({ resource, path, member, seen }) => [
      resource,
      member === null ? path : `${path} ${member}`,
      ...seen.map(({ what, at }) => `${what} ${at.toISOString().slice(11, 16)}`),
    ])

  test('is told once when it is a field, and each of its values is kept', async () => {
    for (const [at, fields] of [
      ['10:00', {}],
      ['11:00', { novelty: 'x' }],
      ['12:00', {}],
      ['13:00', { novelty: 'x' }],
      ['14:00', { novelty: 'x' }],
    ] as const)
      expect((await sync(items, all(fields), at)).status).not.toBe('failed')
    expect(await told()).toEqual([['items', '/novelty', 'unknown 11:00', 'missing 12:00', 'back 13:00']])
    expect(await rows(`select extra from game.item where internal_name = 'Elm' order by valid_from`)).toEqual([
      [null],
      [{ novelty: 'x' }],
      [null],
      [{ novelty: 'x' }],
    ])
  })

  test('is noted when only one record had it, and was the last that did', async () => {
    const one = (value: object) => all((name) => (name === 'Elm' ? value : {}))
    await sync(items, one({ novelty: 1 }), '10:00')
    await sync(items, one({}), '11:00')
    await sync(items, one({ novelty: 2 }), '12:00')
    expect(await told()).toEqual([['items', '/novelty', 'unknown 10:00', 'missing 11:00', 'back 12:00']])
  })

  test('is noted when most records lose a known field at once, and not when some do', async () => {
    const some = all((name) => (name < 'C' ? {} : { lore: name }))
    await sync(
      items,
      all((name) => ({ lore: name })),
      '10:00',
    )
    await sync(items, some, '11:00')
    expect(await told()).toEqual([])
    await sync(
      items,
      all((name) => ({ lore: name })),
      '12:00',
    )
    await sync(items, all({}), '13:00')
    await sync(
      items,
      all((name) => ({ lore: name })),
      '14:00',
    )
    expect(await told()).toEqual([['items', '/lore', 'missing 13:00', 'back 14:00']])
  })

  test('is an enum member: told once, its text kept', async () => {
    for (const [at, tier] of [
      ['10:00', 'rare'],
      ['11:00', 'cosmic'],
      ['12:00', 'rare'],
      ['13:00', 'cosmic'],
    ] as const)
      await sync(items, all({ tier }), at)
    expect(await told()).toEqual([['items', '/tier cosmic', 'unknown 11:00']])
    expect(await rows(`select tier from game.item where internal_name = 'Elm' order by valid_from`)).toEqual([
      ['rare'],
      ['cosmic'],
      ['rare'],
      ['cosmic'],
    ])
  })

  test('is a field of another type: it is kept as extra and told once, and its records load', async () => {
    await sync(items, all({ lore: 'old' }), '10:00')
    const result = await sync(items, all({ lore: ['old', 'new'], icon: 5 }), '11:00')
    expect(result).toMatchObject({ quarantined: 0, changed: trees.length, closed: 0 })
    await sync(items, all({ lore: ['old', 'newer'] }), '12:00')
    expect(await sync(items, all({ lore: 'old' }), '13:00')).toMatchObject({ quarantined: 0 })
    const [first] = await told()
    expect(first?.slice(0, 1)).toEqual(['items'])
    expect((await told()).flat().join(' ')).toMatch(/of type (array|number) 11:00/)
    expect((await told()).flat().join(' ')).toMatch(/back 13:00/)
    expect(await rows('select count(*), count(distinct internal_name) from game.item')).toEqual([[28, 7]])
    expect(await rows(`select extra from game.item where internal_name = 'Elm' order by valid_from`)).toEqual([
      [null],
      [{ lore: ['old', 'new'], icon: 5 }],
      [{ lore: ['old', 'newer'] }],
      [null],
    ])
  })

  test('is the shape of a whole answer: nothing is invented, nothing ends, and the next good answer goes on', async () => {
    const map = { 'Ragged Coast': land(), Detlas: land() }
    await sync(territories, map, '10:00')
    for (const at of ['11:00', '12:00', '13:00']) {
      expect(await sync(territories, Object.values(map), at)).toMatchObject({ status: 'failed', temporary: true })
    }
    expect(await sync(territories, { ...map, Detlas: land({ novelty: [1] }) }, '14:00')).toMatchObject({ closed: 0 })
    expect((await told()).map(([resource, path, first]) => [resource, path, first])).toEqual([
      ['territories', '', 'of type array 11:00'],
      ['territories', '/novelty', 'unknown 14:00'],
    ])
    expect((await told())[0]?.at(-1)).toBe('back 14:00')
    expect(await rows(`select distinct territory from game.territory order by 1`)).toEqual([
      ['Detlas'],
      ['Ragged Coast'],
    ])
    expect(world.log.filter((line) => line.includes('does not know yet'))).toHaveLength(1)
  })

  test('is the shape of records: an array instead of an object is set aside, once each', async () => {
    await sync(territories, { Detlas: land(), Ragged: land() }, '10:00')
    await sync(territories, { Detlas: [land()], Ragged: [land()] }, '11:00')
    await sync(territories, { Detlas: land(), Ragged: land({ hq: true }) }, '12:00')
    expect(await told()).toEqual([['territories', '', 'of type array 11:00', 'back 12:00']])
  })
})

test('of what a document lost, the outermost is told, and nothing inside of lists', () => {
  expect(
    lostFields({ a: { b: 1, c: 2 }, d: [{ x: 1 }], 'e/f~': { g: 1, h: null } }, { i: 1, d: [], 'e/f~': {} }),
  ).toEqual(['/a', '/e~1f~0/g'])
  expect(lostFields(null, { a: 1 })).toEqual([])
})

test('a pointer is found again in a document, whatever its stars stand for', () => {
  const document = { a: [{}, { b: 1 }], 'd/e~': { Somebody: { f: 0 } }, g: null }
  expect(['/a/*/b', '/d~1e~0/*/f', '/a', '/a/*/c', '/g', '/x'].map((pointer) => holds(document, pointer))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})

test('what most keys of a worklist lose in one run has vanished, and what few lose has not', () => {
  const losses = countLosses()
  for (let key = 0; key < 10; key++)
    losses.add(`guild ${key}`, [...(key >= 5 ? ['/level'] : []), ...(key > 5 ? ['/wars'] : [])])
  expect(losses.found()).toEqual([{ kind: 'missing_field', path: '/level', member: '', example: null, key: 'guild 5' }])
  const few = countLosses()
  for (let key = 0; key < 4; key++) few.add(`guild ${key}`, ['/level'])
  expect(few.found()).toEqual([])
})

test('a misfit names no player, however deep in maps and lists it is', () => {
  const parse = recordParser(
    'guild',
    z.looseObject({
      members: z.record(z.string(), z.array(z.looseObject({ level: z.number() })).nullish()),
      other: z.union([z.string(), z.looseObject({ at: z.number() })]).optional(),
    }),
  )
  const misfit = (record: unknown) => {
    try {
      return parse(record)
    } catch (error) {
      return error instanceof RecordError ? misfitOf(error, '/top') : error
    }
  }
  expect(misfit({ members: { Somebody: [{ level: 1 }, { level: '2' }] } })).toEqual({
    anywhere: '/top/members/*/*/level',
    type: 'string',
  })
  expect(misfit({ members: { Somebody: [{}] } })).toEqual({ anywhere: '/top/members/*/*/level', type: 'undefined' })
  expect(misfit({ members: {}, other: { at: [] } })).toEqual({ anywhere: '/top/other/at', type: 'array' })
  expect(misfit([])).toEqual({ anywhere: '/top', type: 'array' })
})
