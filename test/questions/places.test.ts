import { describe, expect, test } from 'vitest'
import { camps } from '../../src/resources/camps/index.ts'
import { gatheringNodes } from '../../src/resources/gathering-nodes/index.ts'
import { itemSets } from '../../src/resources/item-sets/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { raids } from '../../src/resources/raids/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { place } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { item, worldOf } from '../support/world.ts'

describe.each(kindsOfPart)('where things are, on the %s database:', (kind) => {
  const world = worldOf(kind)

  test('item_drop_place and item_set show the current items, their places, and what the parts of a set add', async () => {
    const dropMeta = { name: 'The Mill', type: 'guild', coordinates: [1, 2, 3] }
    await world.sync(items, [item('hat', { displayName: 'Old Hat', dropMeta }), item('cap')], '10:00')
    const hat = { internalName: 'old', bonuses: { 2: { minor: { rawStrength: 4 } }, 3: { minor: { walkSpeed: -5 } } } }
    await world.sync(itemSets, { Old: { ...hat, parts: ['Old Hat', 'Lost Boots'] } }, '10:00')
    expect(await world.rows('select internal_name, place, kind, x, y, z from analytics.item_drop_place')).toEqual([
      ['hat', 'The Mill', 'place', 1, 2, 3],
    ])
    const bonuses = { 2: { rawStrength: 4 }, 3: { walkSpeed: -5 } }
    expect(await world.rows('select * from analytics.item_set order by display_name')).toEqual([
      ['Old', null, bonuses, 'Lost Boots'],
      ['Old', 'hat', bonuses, 'Old Hat'],
    ])
  })

  test('gathering_near gives the nearest nodes of a material', async () => {
    const node = (resource: string, x: number, z: number) => ({
      resource,
      type: 'NODE',
      level: 1,
      angle: 0,
      x,
      y: 60,
      z,
    })
    await world.sync(gatheringNodes, [node('OAK', 30, 40), node('OAK', 3, 4), node('FIR', 1, 1)], '10:00')
    expect(await world.rows(`select * from analytics.gathering_near('oak', 0, 0)`)).toEqual([
      ['OAK', 1, 3, 60, 4, 5],
      ['OAK', 1, 30, 60, 40, 50],
    ])
    expect(await world.rows(`select node from analytics.gathering_near('OAK', 0, 0, 1)`)).toEqual([['OAK']])
    expect(await world.rows(`select node from analytics.gathering_near('OAK', 0, 0, -1)`)).toEqual([])
  })

  test('route_between gives a shortest way along the routes of the instant, with who held each territory', async () => {
    const linked = (letter: string, links: string[], at = '09:00') => place(letter, at, { links })
    const chain = {
      Ash: linked('a', ['Bay', 'Elm']),
      Bay: linked('b', ['Ash', 'Cove']),
      Cove: linked('c', ['Bay', 'Dune']),
      Dune: linked('a', ['Cove', 'Elm']),
      Elm: linked('b', ['Ash', 'Nowhere']),
      Isle: linked('c', []),
    }
    await world.sync(territories, chain, '10:00')
    await world.sync(territories, { ...chain, Elm: linked('c', ['Ash', 'Dune'], '10:50') }, '11:00')
    const route = (to: string, at: string) =>
      world.rows(
        `select position, territory, guild_name from analytics.route_between('Ash', '${to}', '2026-06-01 ${at}Z')`,
      )
    expect(await route('Dune', '10:30')).toEqual([
      [1, 'Ash', 'Guild a'],
      [2, 'Bay', 'Guild b'],
      [3, 'Cove', 'Guild c'],
      [4, 'Dune', 'Guild a'],
    ])
    expect(await route('Dune', '11:00')).toEqual([
      [1, 'Ash', 'Guild a'],
      [2, 'Elm', 'Guild c'],
      [3, 'Dune', 'Guild a'],
    ])
    expect(await route('Ash', '11:00')).toEqual([[1, 'Ash', 'Guild a']])
    expect(await route('Isle', '11:00')).toEqual([])
  })

  test('route_between knows no route in a gap after which the routes are others', async () => {
    await expectEvery(world.db, { resource: 'territories', everySeconds: 600, setBy: 'sync', at: new Date(0) })
    const map = (letter: string, ...links: string[]) => ({
      Ash: place(letter, '09:00', { links }),
      Bay: place(letter, '09:00', { links: ['Ash', 'Cove'] }),
      Cove: place(letter, '09:00', { links: ['Bay'] }),
    })
    for (const when of ['10:00', '10:10']) await world.sync(territories, map('a', 'Bay'), when)
    // Other guilds change no route.
    for (const when of ['05 10:00', '05 10:10']) await world.sync(territories, map('b', 'Bay'), when)
    for (const when of ['09 10:00', '09 10:10']) await world.sync(territories, map('b', 'Bay', 'Cove'), when)
    const route = (at: string) =>
      world.rows(`select territory, reason from analytics.route_between('Ash', 'Cove', '2026-06-${at}Z')`)
    const far = ['Ash', 'Bay', 'Cove']
    expect((await route('01 10:10')).map(([name]) => name)).toEqual(far)
    expect((await route('03 10:10')).map(([name]) => name)).toEqual(far)
    expect(await route('07 10:10')).toEqual([[null, 'not observed']])
    expect((await route('09 10:10')).map(([name]) => name)).toEqual(['Ash', 'Cove'])
  })

  test('raid_at and camp_at give what was true at an instant, by either name', async () => {
    const at = (name: string, length: string) => ({
      name,
      internalName: 'vault',
      type: name,
      length,
      coordinates: [1, 2, 3],
    })
    await world.sync(raids, [at('The Vault', 'SHORT')], '10:00')
    await world.sync(raids, [at('The Vault', 'LONG')], '11:00')
    await world.sync(camps, [at('The Camp', 'SHORT')], '10:00')
    const length = async (question: string) => (await world.rows(`select analytics.${question} ->> 'length'`))[0]?.[0]
    expect(await length(`raid_at('The Vault', '2026-06-01 10:30Z')`)).toBe('SHORT')
    expect(await length(`raid_at('vault', '2026-06-01 11:00Z')`)).toBe('LONG')
    expect(await length(`raid_at('vault', '2026-06-01 09:00Z')`)).toBe(null)
    expect(await length(`camp_at('The Camp', '2026-06-01 10:30Z')`)).toBe('SHORT')
  })
})
