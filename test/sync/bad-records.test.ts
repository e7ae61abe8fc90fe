import { describe, expect, test } from 'vitest'
import { itemSets } from '../../src/resources/item-sets/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { item, worldOf } from '../support/world.ts'

const elm = item('Elm', { requirements: { level: 1 } })
const badElm = item('Elm', { type: 7 })
const oak = item('Oak')

describe.each(kindsOfLongTests)('a record that cannot be understood, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { sync, versions, rows, rowCounts } = world
  const quarantine = () => rows('select key, path, reason, raw, first_seen_at from sync.quarantine order by id')

  test('is set aside with its raw value and its place while all others load', async () => {
    const many = Array.from({ length: 300 }, (_, index) => item(`Tree ${index}`))
    expect(await sync(items, [...many, badElm], '10:00')).toMatchObject({
      status: 'partial',
      inserted: 300,
      records: 301,
      quarantined: 1,
      error: '1 records could not be understood; see sync.quarantine',
    })
    const reason = 'item: /type should be string, found 7'
    expect(await quarantine()).toEqual([['Elm', '/type', reason, badElm, '10:00']])
    expect(world.log).toContain(`warn: record quarantined: ${reason}`)
  })

  test('leaves its older version current, and continues the chain when it is fixed', async () => {
    await sync(items, [elm, oak], '10:00')
    await sync(items, [badElm, oak], '11:00')
    expect(await sync(items, [badElm, oak], '12:00')).toMatchObject({ status: 'partial', quarantined: 1, closed: 0 })
    expect(await versions()).toEqual([
      ['Elm', '10:00', 'infinity'],
      ['Oak', '10:00', 'infinity'],
    ])
    expect(await sync(items, [item('Elm', { requirements: { level: 2 } }), oak], '13:00')).toMatchObject({
      status: 'ok',
      changed: 1,
    })
    expect(
      await rows(
        `select valid_from, valid_until, previous_until, level from game.item where internal_name = 'Elm' order by 1`,
      ),
    ).toEqual([
      ['10:00', '13:00', null, 1],
      ['13:00', 'infinity', '13:00', 2],
    ])
  })

  test('is kept once however often it comes, beside another bad one of the same key', async () => {
    await sync(items, [badElm, oak], '10:00')
    await sync(items, [badElm, oak], '11:00')
    await sync(items, [badElm, oak, item('Yew')], '12:00')
    expect(await rowCounts()).toMatchObject({ 'sync.quarantine': 1 })
    await sync(items, [item('Elm', { type: true }), oak], '13:00')
    expect((await quarantine()).map((row) => row.at(-1))).toEqual(['10:00', '13:00'])
  })

  test('is no absence of its key: an item that was missed once and comes back broken is there', async () => {
    await sync(items, [elm, oak], '10:00')
    await sync(items, [oak], '11:00')
    await sync(items, [badElm, oak], '12:00')
    await sync(items, [oak], '13:00')
    expect(await versions()).toContainEqual(['Elm', '10:00', 'infinity'])
    expect(await rows(`select subject, times from sync.claim where kind = 'missing'`)).toEqual([['Elm', 1]])
  })

  test('may be one without a key: then nothing counts as absent, since it might be any of them', async () => {
    await sync(items, [elm, oak], '10:00')
    for (const at of ['11:00', '12:00', '13:00']) {
      expect(await sync(items, [oak, { type: 'weapon' }], at)).toMatchObject({ quarantined: 1, records: 2, closed: 0 })
    }
    expect(await versions()).toContainEqual(['Elm', '10:00', 'infinity'])
    expect(await quarantine()).toEqual([
      [null, '/internalName', 'item: /internalName should be string, found nothing', { type: 'weapon' }, '11:00'],
    ])
  })

  test('is both of two that contradict each other under one key', async () => {
    const other = item('Elm', { requirements: { level: 9 } })
    expect(await sync(items, [elm, oak], '10:00')).toMatchObject({ status: 'ok' })
    expect(await sync(items, [elm, other, oak], '11:00')).toMatchObject({ status: 'partial', quarantined: 2 })
    expect(await versions()).toContainEqual(['Elm', '10:00', 'infinity'])
    const reason = 'another record of this response has the key Elm and other content'
    expect(await quarantine()).toEqual([
      ['Elm', '', reason, other, '11:00'],
      ['Elm', '', reason, elm, '11:00'],
    ])
    expect(await sync(items, [other, elm, oak], '12:00')).toMatchObject({ status: 'partial', changed: 0 })
    expect(await sync(items, [elm, elm, oak], '13:00')).toMatchObject({ status: 'unchanged', records: 2 })
  })

  test.each([
    ['a text instead of a record', 'Elm', null],
    ['null', null, null],
    ['an array', ['Elm'], null],
    ['an empty key', item(''), null],
    ['a number for a key', { internalName: 7, type: 'weapon' }, null],
    ['a NUL in the key', item('E\0lm'), 'E\uFFFDlm'],
    ['half of a surrogate pair in the key', item('Elm\ud800'), undefined],
    ['a key longer than an index takes', item('E'.repeat(9000)), undefined],
  ])('may be %s', async (_name, record, key) => {
    await sync(items, [oak], '10:00')
    expect(await sync(items, [oak, record, item('Yew')], '11:00')).toMatchObject({
      status: 'partial',
      inserted: 1,
      quarantined: 1,
    })
    expect((await versions()).map(([name]) => name)).toEqual(['Oak', 'Yew'])
    const [row] = await quarantine()
    if (key !== undefined) expect(row?.[0]).toBe(key)
    expect(row?.[3]).toEqual(record)
    expect(await sync(items, [oak, record, item('Yew')], '12:00')).toMatchObject({ status: 'partial', inserted: 0 })
  })

  test.each<[string, object]>([
    ['a number too large for its column', { requirements: { level: 2 ** 31 } }],
    ['a fraction where a whole number belongs', { powderSlots: 1.5 }],
    ['a fraction in a part', { identifications: { walkSpeed: 0.5 } }],
    ['a text for an array', { elements: 'air' }],
    ['an object for a text', { emblem: { text: 'old' } }],
    ['a range without its lower end', { identifications: { walkSpeed: { raw: 3, max: 5 } } }],
    ['an icon that is text', { icon: 'diamond' }],
  ])('is one whose key or type cannot be read; %s costs that field, which is in extra', async (_name, odd) => {
    const record = item('Elm', { lore: 'old', ...odd })
    expect(await sync(items, [record, oak], '10:00')).toMatchObject({ status: 'ok', inserted: 2, quarantined: 0 })
    expect(await rows(`select lore, extra, document from game.item where internal_name = 'Elm'`)).toEqual([
      ['old', odd, record],
    ])
    expect(await rows('select kind, path, key from sync.drift')).toEqual([
      ['retyped_field', expect.stringContaining(`/${Object.keys(odd)[0]}`), 'Elm'],
    ])
    expect(await sync(items, [record, oak], '11:00')).toMatchObject({ status: 'unchanged' })
    expect(await sync(items, [item('Elm', { lore: 'old' }), oak], '12:00')).toMatchObject({ status: 'ok', changed: 1 })
  })

  test.each<[string, object, string]>([['a number too large to be exact', { averageDps: 2 ** 53 }, '/averageDps']])(
    'is one whose key cannot be stored; %s costs that value, which is in quarantine',
    async (_name, bad, path) => {
      await sync(items, [oak], '10:00')
      expect(await sync(items, [oak, item('Elm', { lore: 'old', ...bad }), item('Yew')], '11:00')).toMatchObject({
        status: 'partial',
        inserted: 2,
        quarantined: 1,
      })
      expect(await rows(`select lore, emblem from game.item where internal_name = 'Elm'`)).toEqual([['old', null]])
      expect((await quarantine()).map((row) => row.slice(0, 2))).toEqual([['Elm', path]])
    },
  )

  test.each([
    ['a NUL in a text', { emblem: 'a\0b' }, { emblem: 'a\uFFFDb' }],
    ['a NUL in the name of a field', { base: { 'a\0b': 4 } }, { base: { 'a\uFFFDb': 4 } }],
    ['half of a surrogate pair', { emblem: 'a\ud800' }, { emblem: 'a\uFFFD' }],
    ['half of a surrogate pair in an unknown field', { odd: { '\udc00': 1 } }, { odd: { '\uFFFD': 1 } }],
  ])('is not one with a character that no database keeps: %s costs that character', async (_name, sent, kept) => {
    for (const at of ['10:00', '11:00'])
      expect(await sync(items, [oak, item('Elm', { lore: 'old', ...sent })], at)).toMatchObject({
        status: at === '10:00' ? 'ok' : 'unchanged',
        quarantined: 0,
      })
    const [[document] = []] = await rows(`select document from game.item where internal_name = 'Elm'`)
    expect(document).toMatchObject({ lore: 'old', ...kept })
  })

  test('is one whose names differ in such a character only: which is meant is unknown', async () => {
    const both = { base: { 'a\0': 4, 'a\ud800': 5 } }
    expect(await sync(items, [oak, item('Elm', { lore: 'old', ...both })], '10:00')).toMatchObject({ inserted: 2 })
    expect(await rows(`select lore from game.item where internal_name = 'Elm'`)).toEqual([['old']])
  })

  test('is not one whose text only looks like an escaped NUL', async () => {
    const lore = 'written as \\u0000 and \\ud800'
    expect(await sync(items, [item('Elm', { lore })], '10:00')).toMatchObject({ status: 'ok', quarantined: 0 })
    expect(await rows('select lore from game.item')).toEqual([[lore]])
  })

  test('is not an item set whose bonuses cannot be told apart: it loads without them', async () => {
    const set = (bonuses: object) => ({ internalName: 'grove', parts: ['Oak'], bonuses })
    const sets = { Grove: set({ 1: { minor: { walkSpeed: 5 } }, '01': { minor: { walkSpeed: 6 } } }), Wood: set({}) }
    expect(await sync(itemSets, sets, '10:00')).toMatchObject({ status: 'ok', inserted: 2, quarantined: 0 })
    expect(await rows('select extra from game.item_set where extra is not null')).toEqual([
      [{ bonuses: sets.Grove.bonuses }],
    ])
  })
})
