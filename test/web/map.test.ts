import { parseHTML } from 'linkedom'
import { expect, test } from 'vitest'
import { nameFinders } from '../../src/resources/key-names.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { pageText } from '../../src/web/html/page.ts'
import { knownPatches } from '../../src/web/known-patches.ts'
import { mapPage } from '../../src/web/pages/map.ts'
import { place } from '../support/guild-answers.ts'
import { instantOf, worldOf } from '../support/world.ts'

const world = worldOf('server')

const visit = { name: '', people: true, finders: nameFinders, patchesOf: knownPatches() }

/** What the map of a period draws. */
async function drawn(query = '') {
  const now = new Date(instantOf('12:00'))
  const page = await mapPage({ ...visit, sql: world.db, now, query: new URLSearchParams(query) })
  const { document } = parseHTML(`<main>${await page.chapters[0]?.figures[0]?.picture}</main>`)
  const [known] = document.querySelectorAll('#map-places')
  return {
    paths: (kind: string) => document.querySelector(`path.${kind}`)?.getAttribute('d') ?? '',
    known: JSON.parse(known?.textContent ?? ''),
  }
}

test('routes are lines that are drawn once, and a headquarters wears a crown', async () => {
  const at = (x: number, links: string[], hq = false) => ({ hq, links, location: { start: [x, 0], end: [x + 90, 60] } })
  const body = {
    Ash: place('a', '09:00', at(0, ['Elm', 'Nowhere'], true)),
    Elm: place('a', '09:00', at(200, ['Ash', 'Oak'])),
    Oak: place('b', '09:00', at(400, ['Elm'])),
  }
  await world.sync(territories, body, '10:00')
  const now = await drawn()
  expect(now.paths('routes').match(/M/g)).toHaveLength(2)
  expect(now.paths('crowns').match(/M/g)).toHaveLength(1)
  expect(now.known.places.map(([, hq]: number[]) => hq)).toEqual([1, 0, 0])
})

test('what is known of a territory now is not said of a time before', async () => {
  const oak = (hq: boolean, treasury: string) => ({ Oak: place('a', '09:00', { hq, treasury }) })
  await world.sync(territories, oak(false, 'LOW'), '10:00')
  await world.sync(territories, oak(true, 'HIGH'), '11:00')
  const before = await drawn('at=2026-06-01T10:30Z')
  expect([before.paths('crowns'), before.known.places[0].slice(0, 4)]).toEqual(['', [null, 0, null, null]])
})

test('the page of 437 places with routes and what they store is at most 300 kB', async () => {
  const nameOf = (nth: number) => `Territory named ${nth}`
  const types = ['EMERALD', 'ORE', 'WOOD', 'FISH', 'CROP']
  const bodyOf = (shift: number) =>
    Object.fromEntries(
      Array.from({ length: 437 }, (_, nth) => {
        const [x, z] = [(nth % 20) * 107, Math.floor(nth / 20) * 131]
        const stored = (type: string) => ({
          type,
          generation: 9000 + nth,
          baseGeneration: 9000,
          stored: 100 + nth,
          limit: 3000,
        })
        const links = [1, 20].map((step) => nameOf(nth + step))
        const fields = {
          links,
          treasury: 'HIGH',
          defences: 'LOW',
          resources: types.map(stored),
          location: { start: [x, z], end: [x + 90, z + 90] },
        }
        return [nameOf(nth), place('abcdef'[(nth + shift) % 6] ?? null, shift === 0 ? '09:00' : '10:30', fields)]
      }),
    )
  await world.sync(territories, bodyOf(0), '10:00')
  await world.sync(territories, bodyOf(1), '11:00')
  const now = new Date(instantOf('12:00'))
  const page = await mapPage({ ...visit, sql: world.db, now, query: new URLSearchParams() })
  const text = await pageText(page, {
    health: { level: 'fresh', text: '' },
    people: true,
    version: 'test',
    kind: 'map',
  })
  expect(text.match(/<rect [^>]*><title>[^<]/g)).toHaveLength(437)
  expect(text.length).toBeLessThan(300_000)
})

/** The map's title when guilds hold so many territories each. */
async function titleWhen(held: Readonly<Record<string, number>>): Promise<string> {
  const guilds = Object.entries(held).flatMap(([guild, count]) => Array.from({ length: count }, () => guild))
  const places = guilds.map((guild, nth) => [`Place ${nth}`, place(guild, '09:00')])
  await world.sync(territories, Object.fromEntries(places), '10:00')
  const query = new URLSearchParams()
  const page = await mapPage({ ...visit, query, sql: world.db, now: new Date(instantOf('10:01')) })
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
