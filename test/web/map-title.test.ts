import { expect, test } from 'vitest'
import { nameFinders } from '../../src/resources/key-names.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { mapPage } from '../../src/web/pages/map.ts'
import { place } from '../support/guild-answers.ts'
import { instantOf, worldOf } from '../support/world.ts'

const world = worldOf('server')

/** The map's title when guilds hold so many territories each. */
async function titleWhen(held: Readonly<Record<string, number>>): Promise<string> {
  const guilds = Object.entries(held).flatMap(([guild, count]) => Array.from({ length: count }, () => guild))
  const places = guilds.map((guild, nth) => [`Place ${nth}`, place(guild, '09:00')])
  await world.sync(territories, Object.fromEntries(places), '10:00')
  const visit = { name: '', query: new URLSearchParams(), people: true, finders: nameFinders }
  const page = await mapPage({ ...visit, sql: world.db, now: new Date(instantOf('10:01')) })
  return page.title
}

test('a guild holds most of the map only from a majority on', async () => {
  expect(await titleWhen({ a: 3, b: 1, c: 1 })).toMatch(/ holds most of the map: 3 of 5 territories$/)
})

test('half of the map, or the largest part of it, is no majority', async () => {
  expect(await titleWhen({ a: 2, b: 1, c: 1 })).toMatch(/ holds the most: 2 of 4 territories$/)
})

test('of two that hold the same none holds the most', async () => {
  expect(await titleWhen({ a: 2, b: 2, c: 1 })).toMatch(/^No guild holds more than .*: 2 of 5 territories$/)
})
