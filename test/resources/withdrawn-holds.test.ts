import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { instantOf, timeOf, worldOf } from '../support/world.ts'
import { captures, holds } from './hold-queries.ts'

describe.each(kindsOfLongTests)('holds that few responses showed, on the %s database,', (kind) => {
  const world = worldOf(kind)

  test('that would have begun long before the last answer, which showed another, need a second answer', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    expect(await world.sync(territories, { Oak: place('b', '09:00') }, '10:00:10')).toMatchObject({ events: 0 })
    await world.sync(territories, { Oak: place('c', '10:00:15') }, '10:00:20')
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild c', false, '10:00:15', '10:00:20']])
    for (const at of ['10:30', '10:30:10', '10:30:20']) await world.sync(territories, { Oak: place('d', '10:05') }, at)
    expect(await world.rows(holds)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:15'],
      ['Oak', 'Guild c', '10:00:15', '10:05'],
      ['Oak', 'Guild d', '10:05', 'infinity'],
    ])
    for (const at of ['11:00', '11:00:10']) await world.sync(territories, { Oak: place('e', '10:10') }, at)
    expect((await world.rows(captures)).at(-1)).toEqual(['Oak', 'Guild d', 'Guild e', false, '10:10', '11:00:10'])
  })

  test('that one answer only showed are withdrawn once two show the hold before again, and were no capture', async () => {
    const right = { Oak: place('a', '08:00'), Elm: place('b', '09:59') }
    await world.sync(territories, right, '10:00')
    const wrong = { Oak: place('b', '09:59'), Elm: place('a', '08:00') }
    await world.sync(territories, wrong, '10:00:10')
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild b', false, '09:59', '10:00:10']])
    for (const at of ['10:00:20', '10:00:30', '10:00:40']) await world.sync(territories, right, at)
    expect(await world.rows(holds)).toEqual([
      ['Elm', 'Guild b', '09:59', 'infinity'],
      ['Oak', 'Guild a', '08:00', 'infinity'],
    ])
    expect(await world.rows(captures)).toEqual([])
    const withdrawn = "select key, reason from sync.guard_action where action = 'withdrawn'"
    expect(await world.rows(withdrawn)).toEqual([['Oak', expect.stringContaining('"acquired":"2026-06-01T09:59')]])
    await world.sync(territories, { ...right, Oak: place('c', '10:00:45') }, '10:00:50')
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild c', false, '10:00:45', '10:00:50']])
  })

  const garbled = { ...place('b', '09:59'), guild: { uuid: 'no uuid' } }
  test.each([
    ['lacks the place', {}],
    ['has the place garbled', { Oak: garbled }],
    ['shows a third owner from before', { Oak: place('c', '09:58') }],
    ['shows a third owner from after', { Oak: place('c', '10:00:15') }],
    ['shows no holder', { Oak: place(null, null) }],
  ])('that one answer only showed are withdrawn also when the next one %s', async (_name, next) => {
    const rest = { Elm: place('b', '09:00'), Ash: place('b', '09:00') }
    const right = { ...rest, Oak: place('a', '08:00') }
    await world.sync(territories, right, '10:00')
    await world.sync(territories, { ...rest, Oak: place('b', '09:59') }, '10:00:10')
    await world.sync(territories, { ...rest, ...next }, '10:00:20')
    for (const at of ['10:00:30', '10:00:40']) await world.sync(territories, right, at)
    expect(await world.rows(`${holds.replace('order by', "where territory = 'Oak' order by")}`)).toEqual([
      ['Oak', 'Guild a', '08:00', 'infinity'],
    ])
    expect(await world.rows(captures)).toEqual([])
  })

  test('that one response each showed are withdrawn together; those that two showed stay, with the ones before them', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place('b', '10:00:30') }, '10:01')
    await world.sync(territories, { Oak: place('c', '10:01:30') }, '10:02')
    for (const at of ['10:02:10', '10:02:20']) await world.sync(territories, { Oak: place('a', '08:00') }, at)
    expect(await world.rows(captures)).toEqual([])
    for (const at of ['10:03', '10:04']) await world.sync(territories, { Oak: place('c', '10:01:30') }, at)
    expect((await world.rows(captures)).map((one) => one.slice(1, 3))).toEqual([['Guild a', 'Guild c']])
    await world.sync(territories, { Oak: place('d', '10:04:30') }, '10:05')
    for (const at of ['10:06', '10:07']) await world.sync(territories, { Oak: place('e', '10:05:30') }, at)
    expect(await world.rows('select * from sync.claim')).toEqual([])
    for (const at of ['10:08', '10:09']) await world.sync(territories, { Oak: place('c', '10:01:30') }, at)
    expect((await world.rows(captures)).map((one) => one.slice(1, 3))).toEqual([
      ['Guild a', 'Guild c'],
      ['Guild c', 'Guild d'],
      ['Guild d', 'Guild e'],
    ])
  })

  test('that one answer invented make way for one that began before: it was captured from the hold before, by its own time', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place('b', '10:00:09') }, '10:00:10')
    for (const at of ['10:00:20', '10:00:30', '10:00:40'])
      await world.sync(territories, { Oak: place('c', '10:00:05') }, at)
    expect(await world.rows(holds)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:05'],
      ['Oak', 'Guild c', '10:00:05', 'infinity'],
    ])
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild c', false, '10:00:05', '10:00:30']])
  })

  test('that one response opened again end where they had ended', async () => {
    const rest = { Elm: place('b', '09:00'), Ash: place('b', '09:00') }
    const all = { Oak: place('a', '08:00'), ...rest }
    const ofOak = `${holds.replace('order by', "where territory = 'Oak' order by")}`
    await world.sync(territories, all, '10:00')
    for (const at of ['10:00:10', '10:00:20', '11:00']) await world.sync(territories, rest, at)
    await world.sync(territories, all, '11:00:10')
    expect(await world.rows(ofOak)).toEqual([['Oak', 'Guild a', '08:00', 'infinity']])
    for (const at of ['11:00:20', '11:00:30']) await world.sync(territories, rest, at)
    expect(await world.rows(ofOak)).toEqual([['Oak', 'Guild a', '08:00', '10:00:10']])
    expect(await world.versions('territory', 'territory')).toContainEqual(['Oak', '10:00', '10:00:10'])
    for (const at of ['12:00', '12:00:10']) await world.sync(territories, all, at)
    for (const at of ['12:00:20', '12:00:30']) await world.sync(territories, rest, at)
    expect(await world.rows(ofOak)).toEqual([['Oak', 'Guild a', '08:00', '12:00:20']])
  })

  test('of a place that was gone for long ended, though it is back with the same capture', async () => {
    const rest = { Elm: place('b', '09:00'), Ash: place('b', '09:00') }
    const all = { Oak: place('a', '08:00'), ...rest }
    await world.sync(territories, all, '10:00')
    for (const at of ['10:00:10', '10:00:20', '15 11:00']) await world.sync(territories, rest, at)
    for (const at of ['28 10:00', '28 10:00:10']) await world.sync(territories, all, at)
    const ofOak = `${holds.replace('order by', "where territory = 'Oak' order by")}`
    expect(await world.rows(ofOak)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:10'],
      ['Oak', 'Guild a', '28 10:00', 'infinity'],
    ])
    expect(await world.versions('territory', 'territory')).toContainEqual(['Oak', '28 10:00', 'infinity'])
    expect(await world.rows(captures)).toEqual([])
  })

  test('of copies of one cache window are shown by one response, and confirm and contradict nothing', async () => {
    const right = { Oak: place('a', '08:00'), Elm: place('b', '09:00') }
    const wrong = { ...right, Oak: place('b', '09:59') }
    await world.sync(territories, right, '10:00')
    for (const at of ['10:00:10', '10:00:11']) await world.sync(territories, wrong, at)
    for (const at of ['10:00:20', '10:00:30']) await world.sync(territories, right, at)
    expect(await world.rows(captures)).toEqual([])
    expect((await world.rows(holds)).map(([, guild, , until]) => [guild, until])).toEqual([
      ['Guild b', 'infinity'],
      ['Guild a', 'infinity'],
    ])
    for (const at of ['11:00', '11:00:10']) await world.sync(territories, { ...right, Oak: place('c', '10:59') }, at)
    for (const at of ['11:00:20', '11:00:21']) await world.sync(territories, right, at)
    expect((await world.rows(holds)).at(-1)?.slice(1)).toEqual(['Guild c', '10:59', 'infinity'])
  })

  test('are not confirmed by two responses that are the same and do not show the place', async () => {
    const right = { Oak: place('a', '08:00'), Elm: place('b', '09:00'), Ash: place('b', '09:00') }
    await world.sync(territories, right, '10:00')
    await world.sync(territories, { ...right, Oak: place('b', '09:59') }, '10:00:10')
    for (const at of ['10:00:20', '10:00:30', '10:00:40']) await world.sync(territories, { ...right, Oak: garbled }, at)
    for (const at of ['10:00:50', '10:01']) await world.sync(territories, right, at)
    expect(await world.rows(captures)).toEqual([])
    expect((await world.rows(holds)).at(-1)).toEqual(['Oak', 'Guild a', '08:00', 'infinity'])
  })

  test('of another guild since the same instant are no capture, and need a second response', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place('b', '10:00:30') }, '10:01')
    await world.sync(territories, { Oak: place('b', '10:00:30') }, '10:02')
    const captured = [['Oak', 'Guild a', 'Guild b', false, '10:00:30', '10:01']]
    for (const at of ['10:03', '10:05']) {
      await world.sync(territories, { Oak: place('c', '10:00:30') }, at)
      await world.sync(territories, { Oak: place('b', '10:00:30') }, at.replace('3', '4').replace('5', '6'))
    }
    expect(await world.rows(captures)).toEqual(captured)
    expect(await world.rows(holds)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:30'],
      ['Oak', 'Guild b', '10:00:30', 'infinity'],
    ])
    for (const at of ['10:07', '10:08']) await world.sync(territories, { Oak: place('c', '10:00:30') }, at)
    expect((await world.rows(holds)).at(-1)?.[1]).toBe('Guild c')
  })

  test('of a place that one answer only named never were, since when it ever says', async () => {
    const old = { ...place('a', null), acquired: '2024-01-01T00:00:00.000000Z' }
    const right = { Oak: old, Elm: place('b', '09:00') }
    await world.sync(territories, right, '10:00')
    await world.sync(territories, { oak: old, Elm: place('b', '09:00') }, '10:00:10')
    for (const at of ['10:00:20', '10:00:30', '10:00:40']) await world.sync(territories, right, at)
    const then = `select territory, guild_name from analytics.map_at('2025-01-01Z')`
    expect(await world.rows(then)).toEqual([['Oak', 'Guild a']])
    expect(await world.versions('territory', 'territory')).toContainEqual(['oak', '10:00:10', '10:00:20'])
  })

  test('of an unclaimed place, from long before the last answer, need a second answer', async () => {
    await world.sync(territories, { Oak: place(null, null) }, '10:00')
    await world.sync(territories, { Oak: place('b', '08:00') }, '10:00:10')
    for (const at of ['10:00:20', '10:00:30']) await world.sync(territories, { Oak: place(null, null) }, at)
    expect(await world.rows(captures)).toEqual([])
    expect(await world.rows(holds)).toEqual([['Oak', null, '10:00', 'infinity']])
  })

  test('that the same answer showed again, byte for byte, in a later one stay in the history', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    for (const at of ['10:00:10', '10:00:20']) await world.sync(territories, { Oak: place('b', '10:00:05') }, at)
    expect(await world.rows('select * from sync.claim')).toEqual([])
    await world.sync(territories, { Oak: place('c', '10:00:25') }, '10:00:30')
    for (const at of ['10:00:40', '10:00:50']) await world.sync(territories, { Oak: place('a', '08:00') }, at)
    expect((await world.rows(holds)).map(([, guild]) => guild)).toEqual(['Guild a', 'Guild b', 'Guild c', 'Guild a'])
  })

  test('that two answers showed stay in the history, whatever later ones show', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    for (const at of ['10:00:10', '10:00:20']) await world.sync(territories, { Oak: place('b', '10:00:05') }, at)
    for (const at of ['10:00:30', '10:00:40']) await world.sync(territories, { Oak: place('a', '08:00') }, at)
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild b', false, '10:00:05', '10:00:10']])
    expect(await world.rows(holds)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:05'],
      ['Oak', 'Guild b', '10:00:05', '10:00:40'],
      ['Oak', 'Guild a', '10:00:40', 'infinity'],
    ])
  })

  test('that responses show by turns in pairs go on since their own capture, once two show the later one again', async () => {
    const [before, after] = [place('a', '08:00'), place('b', '10:00:05')]
    const shown = [before, before, after, after, before, before, after, after, before, before, after, after]
    for (const [nth, one] of shown.entries())
      await world.sync(territories, { Oak: one }, `10:0${nth < 6 ? 0 : 1}:${(nth % 6) * 10 || '00'}`)
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild b', false, '10:00:05', '10:00:20']])
    expect(await world.rows(holds)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:05'],
      ['Oak', 'Guild b', '10:00:05', 'infinity'],
    ])
  })

  test.each([
    ['one by one', 1],
    ['in pairs', 2],
    ['in threes', 3],
  ])('that a cache shows two hours late, by turns %s, were captured from who held them before', async (_, run) => {
    const taken = [
      ['a', '08:00'],
      ['b', '10:30'],
      ['c', '11:20'],
      ['d', '13:05'],
      ['e', '13:35'],
    ] as const
    for (let nth = 0; nth < 36; nth++) {
      const minute = 10 * nth
      const shown = instantOf('10:00') + (minute - (Math.floor(nth / run) % 2 ? 120 : 0)) * 60_000
      const [letter, since] = taken.findLast(([, at]) => instantOf(at) <= shown) ?? taken[0]
      await world.sync(
        territories,
        { Oak: place(letter, since), Elm: place('z', '07:00') },
        timeOf(new Date(instantOf('10:00') + minute * 60_000)),
      )
    }
    expect((await world.rows(captures)).map((one) => one.slice(1, 5))).toEqual(
      taken.slice(1).map(([letter, at], nth) => [`Guild ${taken[nth]?.[0]}`, `Guild ${letter}`, false, at]),
    )
    expect(await world.rows(`${holds.replace('order by', "where territory = 'Oak' order by")}`)).toEqual(
      taken.map(([letter, at], nth) => ['Oak', `Guild ${letter}`, at, taken[nth + 1]?.[1] ?? 'infinity']),
    )
  })

  test('that were withdrawn come back whole, captured when the game says, once an answer shows them again', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place('b', '10:00:05') }, '10:00:10')
    for (const at of ['10:00:20', '10:00:30']) await world.sync(territories, { Oak: place('a', '08:00') }, at)
    expect(await world.rows(holds)).toEqual([['Oak', 'Guild a', '08:00', 'infinity']])
    await world.sync(territories, { Oak: place('b', '10:00:05') }, '10:00:40')
    expect(await world.rows(holds)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:05'],
      ['Oak', 'Guild b', '10:00:05', 'infinity'],
    ])
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild b', false, '10:00:05', '10:00:40']])
  })
})
