import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { bothKinds } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

const captures = `select territory, from_guild_name, to_guild_name, is_recapture, captured_at, observed_at
                    from analytics.territory_capture order by captured_at, territory`
const holds = `select territory, guild_name, valid_from, valid_until from game.territory_hold order by territory, valid_from`

describe.each(bothKinds)('territories on the %s database', (kind) => {
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
    ['a guild that is missing', { guild: undefined, acquired: undefined }],
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

  test('that flicker to nobody and come back with the same capture were not captured', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place(null, null) }, '10:00:10')
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00:20')
    expect(await world.rows(captures)).toEqual([])
    expect(await world.rows(holds)).toEqual([
      ['Oak', 'Guild a', '08:00', '10:00:10'],
      ['Oak', null, '10:00:10', '10:00:20'],
      ['Oak', 'Guild a', '10:00:20', 'infinity'],
    ])
  })

  test('taken from nobody are captured also when the API dates it before the answer that showed nobody', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place(null, null) }, '10:00:10')
    await world.sync(territories, { Oak: place('b', '10:00:09') }, '10:00:20')
    expect(await world.rows(captures)).toEqual([['Oak', null, 'Guild b', false, '10:00:09', '10:00:20']])
  })

  test('captured without a time are captured when that was first seen; the time told later is no second capture', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    await world.sync(territories, { Oak: place('b', null) }, '10:00:10')
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild b', false, '10:00:10', '10:00:10']])
    await world.sync(territories, { Oak: place('b', '10:00:05') }, '10:00:20')
    await world.sync(territories, { Oak: place('b', '10:00:05') }, '10:00:30')
    expect(await world.rows(captures)).toEqual([['Oak', 'Guild a', 'Guild b', false, '10:00:10', '10:00:10']])
  })

  test('hold on to what is known when the API no longer tells since when', async () => {
    await world.sync(territories, { Oak: place('a', '08:00') }, '10:00')
    expect(await world.sync(territories, { Oak: place('a', null) }, '10:00:10')).toMatchObject({ events: 0 })
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

  test('that return are held anew from then on, captured only if acquired says so; a rename is an end and a beginning', async () => {
    const rest = { Elm: place('b', '09:00'), Ash: place('b', '09:00') }
    await world.sync(territories, { Oak: place('a', '08:00'), ...rest }, '10:00')
    await world.sync(territories, { 'New Oak': place('a', '08:00'), ...rest }, '10:00:10')
    await world.sync(territories, { 'New Oak': place('a', '08:00'), ...rest }, '10:00:20')
    expect(await world.rows(captures)).toEqual([])
    await world.sync(territories, { 'New Oak': place('a', '08:00'), Oak: place('a', '08:00'), ...rest }, '11:00')
    expect(await world.rows(holds.replace('order by', "where territory like '%Oak' order by"))).toEqual([
      ['New Oak', 'Guild a', '08:00', 'infinity'],
      ['Oak', 'Guild a', '08:00', '10:00:10'],
      ['Oak', 'Guild a', '11:00', 'infinity'],
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

  test('keep seat, treasury, defences, routes and place as history, the corners sorted', async () => {
    const before = place('a', '08:00', {
      hq: true,
      treasury: 'LOW',
      defences: 'HIGH',
      links: ['Elm', 'Nowhere'],
      location: { start: [10, -5], end: [-10, 5] },
    })
    await world.sync(territories, { Oak: before }, '10:00')
    await world.sync(territories, { Oak: { ...before, treasury: 'MEDIUM', hq: false, links: ['Elm'] } }, '10:00:10')
    expect(
      await world.rows(
        'select valid_from, min_x, min_z, max_x, max_z, is_hq, treasury, defences from game.territory order by 1',
      ),
    ).toEqual([
      ['10:00', -10, -5, 10, 5, true, 'LOW', 'HIGH'],
      ['10:00:10', -10, -5, 10, 5, false, 'MEDIUM', 'HIGH'],
    ])
    expect(await world.rows('select valid_from, position, links_to from game.territory_link order by 1, 2')).toEqual([
      ['10:00', 0, 'Elm'],
      ['10:00', 1, 'Nowhere'],
      ['10:00:10', 0, 'Elm'],
    ])
    expect(await world.rows('select count(*) from game.territory_hold')).toEqual([[1]])
  })

  test('are unchanged when routes or corners come in another order', async () => {
    const before = place('a', '08:00', { links: ['Elm', 'Ash'], location: { start: [10, -5], end: [-10, 5] } })
    await world.sync(territories, { Oak: before }, '10:00')
    const same = { ...before, links: ['Ash', 'Elm'] }
    expect(await world.sync(territories, { Oak: same }, '10:00:10')).toMatchObject({ status: 'unchanged' })
    const turned = { ...same, location: { start: [-10, 5], end: [10, -5] } }
    await world.sync(territories, { Oak: turned }, '10:00:20')
    expect(await world.rows('select count(*) from game.territory')).toEqual([[1]])
  })

  test('sample resources only when a value moves', async () => {
    const ore = { type: 'ORE', generation: 100, baseGeneration: 50, stored: 5, limit: 300 }
    const emeralds = { type: 'EMERALD', generation: 9000, baseGeneration: 9000, stored: 5_000_000_000, limit: 6 }
    await world.sync(territories, { Oak: place('a', '08:00', { resources: [ore, emeralds] }) }, '10:00')
    await world.sync(territories, { Oak: place('a', '08:00', { resources: [emeralds, ore] }) }, '10:00:10')
    const fuller = { ...ore, stored: 6 }
    const moved = await world.sync(
      territories,
      { Oak: place('a', '08:00', { resources: [fuller, emeralds] }) },
      '10:00:20',
    )
    expect(moved).toMatchObject({ status: 'ok', changed: 0 })
    await world.sync(territories, { Oak: place('a', '08:00', { resources: [ore, emeralds] }) }, '10:00:30')
    expect(
      await world.rows(
        'select resource, observed_at, generation, base_generation, stored, storage_limit from game.territory_resource order by 1, 2',
      ),
    ).toEqual([
      ['EMERALD', '10:00', 9000, 9000, 5_000_000_000, 6],
      ['ORE', '10:00', 100, 50, 5, 300],
      ['ORE', '10:00:20', 100, 50, 6, 300],
      ['ORE', '10:00:30', 100, 50, 5, 300],
    ])
  })

  test('with a resource listed twice do not spoil the answer', async () => {
    const ore = { type: 'ORE', stored: 5 }
    const body = { Oak: place('a', '08:00', { resources: [ore, { ...ore, stored: 6 }] }), Elm: place('b', '09:00') }
    expect(await world.sync(territories, body, '10:00')).toMatchObject({ inserted: 2 })
  })

  test('keep fields that nobody knew, and say so once', async () => {
    const body = { Oak: place('a', '08:00', { weather: 'rain', treasury: 'ENDLESS' }) }
    await world.sync(territories, body, '10:00')
    await world.sync(territories, { Oak: { ...body.Oak, hq: true } }, '10:00:10')
    expect(await world.rows('select extra, treasury from game.territory order by valid_from')).toEqual([
      [{ weather: 'rain' }, 'ENDLESS'],
      [{ weather: 'rain' }, 'ENDLESS'],
    ])
    expect(await world.rows('select kind, path, member from sync.drift order by 1')).toEqual([
      ['unknown_field', '/weather', ''],
      ['unknown_member', '/treasury', 'ENDLESS'],
    ])
  })

  test('are observed at the tick that the answer names, not at its other headers', async () => {
    await world.clock.advanceTo(instantOf('10:00:30'))
    const headers = { TerritoryLastTick: '2026-06-01 10:00:12.500000+00:00' }
    world.sandbox.setAnswer('/guild/list/territory', () => ({ headers, body: { Oak: place('a', '08:00') } }))
    expect(await world.syncNow(territories)).toMatchObject({ observedAt: '2026-06-01T10:00:12.500Z' })
  })

  test('change nothing by an answer that is older, or the same again', async () => {
    const now = { Oak: place('b', '10:00:05'), Elm: place('b', '09:00') }
    await world.sync(territories, { Oak: place('a', '08:00'), Elm: place('b', '09:00') }, '10:00')
    await world.sync(territories, now, '10:00:20')
    const before = await world.rowCounts()
    const older = { Oak: place('c', '10:00:02'), Ivy: place('c', '10:00:02') }
    expect(await world.sync(territories, older, '10:00:10')).toMatchObject({ status: 'stale', inserted: 0 })
    expect(await world.sync(territories, now, '10:00:20')).toMatchObject({ status: 'unchanged', inserted: 0 })
    expect(await world.sync(territories, now, '10:00:30')).toMatchObject({ status: 'unchanged', inserted: 0 })
    expect(await world.rowCounts()).toEqual({ ...before, 'sync.run': (before['sync.run'] ?? 0) + 3 })
  })

  test('are not lost by an empty answer or one that is shrunken beyond belief', async () => {
    const names = ['Oak', 'Elm', 'Ash', 'Ivy', 'Yew']
    const all = Object.fromEntries(names.map((name) => [name, place('a', '08:00')]))
    await world.sync(territories, all, '10:00')
    for (const at of ['10:00:10', '10:00:20']) {
      expect(await world.sync(territories, {}, at)).toMatchObject({ status: 'rejected', closed: 0 })
    }
    for (const at of ['10:00:30', '10:00:40'])
      expect(await world.sync(territories, { Oak: all.Oak, Elm: all.Elm }, at)).toMatchObject({ status: 'rejected' })
    expect(await world.rows(`select count(*) from game.territory_hold where valid_until = 'infinity'`)).toEqual([[5]])
  })

  test('go on when one of them cannot be understood; that one keeps its hold', async () => {
    await world.sync(territories, { Oak: place('a', '08:00'), Elm: place('b', '09:00') }, '10:00')
    for (const [at, acquired] of [
      ['10:00:10', '10:00:05'],
      ['10:00:20', '10:00:15'],
      ['10:00:30', '10:00:25'],
    ] as const) {
      const body = { Oak: { guild: 7, acquired: 'yesterday' }, Elm: place('a', acquired) }
      expect(await world.sync(territories, body, at)).toMatchObject({ status: 'partial', quarantined: 1, closed: 0 })
    }
    expect(
      await world.rows('select territory, to_guild_name from analytics.territory_capture order by captured_at'),
    ).toEqual([
      ['Elm', 'Guild a'],
      ['Elm', 'Guild a'],
      ['Elm', 'Guild a'],
    ])
    expect(await world.rows(`select guild_name, valid_until from game.territory_hold where territory = 'Oak'`)).toEqual(
      [['Guild a', 'infinity']],
    )
    expect(await world.rows('select key, path from sync.quarantine')).toEqual([['Oak', '/guild']])
  })

  test('with a capture time that is no time are set aside', async () => {
    await world.sync(territories, { Oak: place('a', '08:00'), Elm: place('b', '09:00') }, '10:00')
    const body = { Oak: { ...place('b', null), acquired: 'yesterday' }, Elm: place('b', '09:00') }
    expect(await world.sync(territories, body, '10:00:10')).toMatchObject({ status: 'partial', quarantined: 1 })
    expect(await world.rows(holds)).toHaveLength(2)
  })

  test('cost one row of the ledger per poll that brings nothing new', async () => {
    await world.sync(territories, { Oak: place('a', '08:00', { resources: [{ type: 'ORE', stored: 1 }] }) }, '10:00')
    const before = await world.rowCounts()
    await world.sync(territories, { Oak: place('a', '08:00', { resources: [{ type: 'ORE', stored: 1 }] }) }, '10:00:10')
    expect(await world.rowCounts()).toEqual({ ...before, 'sync.run': 2 })
  })
})
