import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

const holds = `select territory, guild_name, valid_from, valid_until from game.territory_hold order by territory, valid_from`

describe.each(kindsOfLongTests)('territories on the %s database', (kind) => {
  const world = worldOf(kind)

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
    const { 'sync.claim': unconfirmed, ...rest } = before
    expect(unconfirmed).toBe(1)
    expect(await world.rowCounts()).toEqual({
      ...rest,
      'sync.run': (before['sync.run'] ?? 0) + 3,
      'sync.guard_action': 1,
    })
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

  test('load with a capture time that is Unix time, and without an odd value of another field', async () => {
    const odd = { hq: 'true', treasury: 7 }
    const seconds = instantOf('09:00') / 1000
    await world.sync(territories, { Oak: { ...place('a', null), acquired: seconds, ...odd } }, '10:00')
    expect(await world.rows('select guild_name, acquired from game.territory_hold')).toEqual([['Guild a', '09:00']])
    expect(await world.rows('select is_hq, treasury, extra from game.territory')).toEqual([[null, null, odd]])
    expect(await world.rows('select path from sync.drift order by 1')).toEqual([['/hq'], ['/treasury']])
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
