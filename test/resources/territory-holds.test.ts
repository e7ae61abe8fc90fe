import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { worldOf } from '../support/world.ts'
import { captures, holds } from './hold-queries.ts'

describe.each(kindsOfLongTests)('holds of territories on the %s database', (kind) => {
  const world = worldOf(kind)

  test('begin with holds since they were acquired, and no capture: the first answer is where memory begins', async () => {
    const first = await world.sync(
      territories,
      { Oak: place('a', '08:00'), Elm: place('b', '09:00'), Ash: place(null, null) },
      '10:00',
    )
    expect(first).toMatchObject({ status: 'ok', records: 3, inserted: 3, events: 0 })
    expect(await world.rows(holds)).toEqual([
      ['Ash', null, '10:00', 'infinity'],
      ['Elm', 'Guild b', '09:00', 'infinity'],
      ['Oak', 'Guild a', '08:00', 'infinity'],
    ])
    expect(await world.rows(captures)).toEqual([])
  })

  test('are captured when the game says, not when it was seen; the holds meet there', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    expect(await world.sync(territories, { Oak: place('b', '10:00:07') }, '10:00:20')).toMatchObject({
      status: 'ok',
      changed: 0,
      events: 1,
    })
    expect(await world.rows(holds)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:07'],
      ['Oak', 'Guild b', '10:00:07', 'infinity'],
    ])
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild b', false, '10:00:07', '10:00:20']])
  })

  test('keep the microseconds of a capture', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    const acquired = '2026-06-01T10:00:07.123456Z'
    await world.sync(territories, { Oak: { ...place('b', null), acquired } }, '10:00:20')
    expect(await world.rows(`select captured_at::text from analytics.territory_capture`)).toEqual([
      [expect.stringContaining('10:00:07.123456')],
    ])
  })

  test('are captured again by the guild that holds them when acquired moves', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place('a', '10:00:05') }, '10:00:10')
    await world.sync(territories, { Oak: place('a', '10:00:15') }, '10:00:20')
    expect(await world.rows(captures)).toEqual([
      ['Oak', 'Guild a', 'Guild a', true, '10:00:05', '10:00:10'],
      ['Oak', 'Guild a', 'Guild a', true, '10:00:15', '10:00:20'],
    ])
    expect(await world.rows(holds)).toHaveLength(3)
  })

  test.each([
    ['a guild that is null', { guild: null, acquired: null }],
    ['a guild whose fields are null', place(null, null)],
  ])('are lost to nobody with %s: no capture, and the next owner takes them from nobody', async (_name, unowned) => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: { ...place('a', null), ...unowned } }, '10:00:10')
    expect(await world.rows(captures)).toEqual([])
    await world.sync(territories, { Oak: place('b', '10:00:15') }, '10:00:20')
    expect(await world.rows(holds)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:10'],
      ['Oak', null, '10:00:10', '10:00:15'],
      ['Oak', 'Guild b', '10:00:15', 'infinity'],
    ])
    expect(await world.rows(captures)).toEqual([['Oak', null, 'Guild b', false, '10:00:15', '10:00:20']])
  })

  test.each([
    ['a guild without a time', place('b', null)],
    ['neither a guild nor a time', { ...place('b', null), guild: undefined, acquired: undefined }],
    ['a time without a guild', { ...place('b', '10:00:05'), guild: undefined }],
    ['a guild that captures it in the future', { ...place('b', null), acquired: '2099-01-01T00:00:00.000000Z' }],
  ])('go on where only one answer shows %s', async (_name, shown) => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: shown }, '10:00:10')
    for (const at of ['10:00:20', '10:00:30']) await world.sync(territories, { Oak: place('a', '08:00') }, at)
    expect(await world.rows(captures)).toEqual([])
    expect(await world.rows(holds)).toEqual([['Oak', 'Guild a', '08:00', 'infinity']])
  })

  test.each([
    ['one response shows', ['10:00:10']],
    ['several responses show', ['10:00:10', '10:00:20', '10:00:30', '12:00']],
  ])('never ended where %s no holder and the same capture is back', async (_name, instants) => {
    const held = { Oak: { ...place('a', null), acquired: '2026-06-01T08:00:00.123456Z' }, Elm: place('b', '09:00') }
    await world.sync(territories, held, '10:00')
    for (const at of instants) await world.sync(territories, { ...held, Oak: place(null, null) }, at)
    for (const at of ['12:00:10', '12:00:20']) await world.sync(territories, held, at)
    expect(await world.rows(captures)).toEqual([])
    expect(
      await world.rows(
        `select guild_name, valid_from::text, valid_until from game.territory_hold where territory = 'Oak'`,
      ),
    ).toEqual([['Guild a', '2026-06-01 08:00:00.123456+00', 'infinity']])
    await world.sync(territories, { ...held, Oak: place('c', '12:00:25') }, '12:00:30')
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild c', false, '12:00:25', '12:00:30']])
  })

  test('go on at once with the next response that shows them, where one response alone showed no holder', async () => {
    const held = { Oak: place('a', '08:00'), Elm: place('b', '09:00') }
    await world.sync(territories, held, '10:00')
    await world.sync(territories, { ...held, Oak: place(null, null) }, '10:00:10')
    await world.sync(territories, held, '10:00:20')
    expect((await world.rows(holds)).at(-1)).toEqual(['Oak', 'Guild a', '08:00', 'infinity'])
    for (const at of ['10:00:30', '10:00:40']) await world.sync(territories, { ...held, Oak: place(null, null) }, at)
    await world.sync(territories, held, '10:00:50')
    expect((await world.rows(holds)).at(-1)?.[1]).toBe(null)
    await world.sync(territories, held, '10:01')
    expect((await world.rows(holds)).at(-1)).toEqual(['Oak', 'Guild a', '08:00', 'infinity'])
  })

  test('taken from nobody are captured also when the API dates it before the answer that showed nobody', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place(null, null) }, '10:00:10')
    await world.sync(territories, { Oak: place('b', '10:00:09') }, '10:00:20')
    expect(await world.rows(captures)).toEqual([['Oak', null, 'Guild b', false, '10:00:09', '10:00:20']])
  })

  test('captured without a time are captured when that was first seen; the time told later is no second capture', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    for (const at of ['10:00:10', '10:00:20']) await world.sync(territories, { Oak: place('b', null) }, at)
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild b', false, '10:00:10', '10:00:20']])
    for (const at of ['10:00:30', '10:00:40']) await world.sync(territories, { Oak: place('b', '10:00:05') }, at)
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild b', false, '10:00:10', '10:00:20']])
  })

  test('captured again by a guild whose hold had no time are a capture', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    for (const at of ['10:10', '10:20']) await world.sync(territories, { Oak: place('b', null) }, at)
    await world.sync(territories, { Oak: place('b', '10:25') }, '10:30')
    expect(await world.rows(captures)).toEqual([
      ['Oak', 'Guild a', 'Guild b', false, '10:10', '10:20'],
      ['Oak', 'Guild b', 'Guild b', true, '10:25', '10:30'],
    ])
    expect(await world.rows(holds)).toHaveLength(3)
  })

  test.each([
    ['told after it was left out', 'b', [null, '10:05'], '10:05', '11:10'],
    ['left out after it was told', 'b', ['10:05', null], '11:00', '11:10'],
    ['told, left out and told again', 'a', ['10:05', null, '10:05'], '10:05', '11:20'],
    ['left out, told, left out and told again', 'a', [null, '10:05', null, '10:05'], '10:05', '11:30'],
  ] as const)(
    'of a guild that two responses show need no more, with a time that was %s',
    async (_, letter, told, from, seenAt) => {
      await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
      await world.sync(territories, { Oak: place('a', '08:00') }, '10:50')
      for (const [nth, since] of told.entries())
        await world.sync(territories, { Oak: place(letter, since) }, `11:${nth}0`)
      expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', `Guild ${letter}`, letter === 'a', from, seenAt]])
      expect(await world.rows(holds)).toEqual([
        ['Oak', 'Guild a', '08:00', from],
        ['Oak', `Guild ${letter}`, from, 'infinity'],
      ])
    },
  )

  test('of two guilds, or of one since two times, do not agree with one another', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:50')
    const one = [place('b', '10:05'), place('c', null), place('b', '10:10'), place('b', '10:15'), place('a', null)]
    for (const [nth, sent] of one.entries()) await world.sync(territories, { Oak: sent }, `11:${nth}0`)
    await world.sync(territories, { Oak: place('b', null) }, '12:00')
    expect(await world.rows(captures)).toEqual([])
  })

  test('hold on to what is known when the API no longer tells since when', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    for (const at of ['10:00:10', '10:00:20', '10:00:30'])
      expect(await world.sync(territories, { Oak: place('a', null) }, at)).toMatchObject({ events: 0 })
    expect(await world.rows(holds)).toEqual([['Oak', 'Guild a', '08:00', 'infinity']])
  })

  test('ignore an older capture that is told after a newer one', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place('b', '10:00:05') }, '10:00:10')
    expect(await world.sync(territories, { Oak: place('a', '08:00') }, '10:00:20')).toMatchObject({ events: 0 })
    expect(await world.sync(territories, { Oak: place('c', '10:00:04') }, '10:00:30')).toMatchObject({ events: 0 })
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild b', false, '10:00:05', '10:00:10']])
  })

  test('end after two complete answers without them, at the first, together with their hold', async () => {
    const rest = { Elm: place('b', '09:00'), Ash: place('b', '09:00') }
    await world.sync(territories, { Oak: place('a', '08:00'), ...rest }, '10:00')
    expect(await world.sync(territories, rest, '10:00:10')).toMatchObject({ closed: 0 })
    expect(await world.sync(territories, rest, '10:00:20')).toMatchObject({ closed: 1 })
    expect(await world.versions('territory', 'territory')).toEqual([
      ['Ash', '10:00', 'infinity'],
      ['Elm', '10:00', 'infinity'],
      ['Oak', '10:00', '10:00:10'],
    ])
    expect(await world.rows(`${holds.replace('order by', "where territory = 'Oak' order by")}`)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:10'],
    ])
    expect(await world.rows(`select territory from analytics.map_at('2026-06-01T10:01Z')`)).toEqual([['Ash'], ['Elm']])
  })

  test('that return with the same capture were held all along; a rename is an end and a beginning', async () => {
    const rest = { Elm: place('b', '09:00'), Ash: place('b', '09:00') }
    await world.sync(territories, { Oak: place('a', '08:00'), ...rest }, '10:00')
    await world.sync(territories, { 'New Oak': place('a', '08:00'), ...rest }, '10:00:10')
    await world.sync(territories, { 'New Oak': place('a', '08:00'), ...rest }, '10:00:20')
    expect(await world.rows(captures)).toEqual([])
    await world.sync(territories, { 'New Oak': place('a', '08:00'), Oak: place('a', '08:00'), ...rest }, '11:00')
    expect(await world.rows(holds.replace('order by', "where territory like '%Oak' order by"))).toEqual([
      ['New Oak', 'Guild a', '08:00', 'infinity'],
      ['Oak', 'Guild a', '08:00', 'infinity'],
    ])
    expect(await world.rows(captures)).toEqual([])
  })

  test('missing from one answer only were there all along', async () => {
    const rest = { Elm: place('b', '09:00'), Ash: place('b', '09:00') }
    for (const [at, body] of [
      ['10:00', { Oak: place('a', '08:00'), ...rest }],
      ['10:00:10', rest],
      ['10:00:20', { Oak: place('a', '08:00'), ...rest }],
      ['10:00:30', rest],
      ['10:00:40', { Oak: place('c', '10:00:35'), ...rest }],
    ] as const)
      await world.sync(territories, body, at)
    expect(await world.rows(`${holds.replace('order by', "where territory = 'Oak' order by")}`)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:35'],
      ['Oak', 'Guild c', '10:00:35', 'infinity'],
    ])
  })
})
