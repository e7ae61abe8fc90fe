import { expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { place } from '../support/guild-answers.ts'
import { incomplete, item, worldOf } from '../support/world.ts'

const world = worldOf('server')
const records = (level: number) => [item('Bow', { requirements: { level } }), item('Spear'), item('Wand')]

test('a change of an item lies between the last whole response before it and the one that shows it', async () => {
  await world.sync(items, records(10), '01 10:00')
  await world.sync(items, records(10), '01 12:00')
  // Nobody watches for four weeks; the first response after them has a part of the items.
  await world.sync(items, incomplete([item('Spear')]), '30 09:00')
  await world.sync(items, records(20), '30 10:00')
  expect(await world.rows('select path, changed_at, not_before from analytics.item_change')).toEqual([
    ['/requirements/level', '30 10:00', '12:00'],
  ])
  expect(await world.rows('select patch, started_at, not_before from analytics.patch')).toEqual([
    [1, '30 10:00', '12:00'],
  ])
})

test('a capture was not before the last whole response that showed another owner', async () => {
  const shown = (letter: string, since: string) => ({ Ragni: place(letter, since), Detlas: place('a', '01 09:00') })
  await world.sync(territories, shown('a', '01 09:00'), '01 10:00')
  await world.sync(territories, shown('a', '01 09:00'), '01 10:10')
  await world.sync(territories, shown('b', '01 10:15'), '01 10:20')
  expect(await world.rows('select captured_at, observed_at, not_before from analytics.territory_capture')).toEqual([
    ['10:15', '10:20', '10:10'],
  ])
  // The ledger of that time is gone, and with it what is known of before.
  await world.db.query(`delete from sync.run where observed_at < '2026-06-01 10:20Z'`)
  expect(await world.rows('select not_before from analytics.territory_capture')).toEqual([[null]])
})
