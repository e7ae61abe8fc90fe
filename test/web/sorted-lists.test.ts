import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { lootPools } from '../../src/resources/loot-pools/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, syncGuild } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'

const PLACES = 230

/** A guild takes all of the map within some hours, and another a part of it back. */
const map = (holder: string, since: number, every = 1) =>
  Object.fromEntries(
    Array.from({ length: PLACES }, (_, nth) => {
      const isTaken = nth % every === 0
      const at = `${String(since).padStart(2, '0')}:${String(nth % 60).padStart(2, '0')}`
      return [`Place ${nth}`, isTaken ? place(holder, at) : place('b', `11:${String(nth % 60).padStart(2, '0')}`)]
    }),
  )

const vault = (length: number) => ({
  name: 'Vault',
  internalName: 'vault',
  type: 'RAID',
  rewards: Array.from({ length }, (_, nth) => ({
    name: `Ring ${nth + 1}`,
    tier: 'RARE',
    type: 'ITEM',
    amount: 1,
    always: false,
  })),
})

describe('a long list', () => {
  const web = webWorldOf()
  const pageOf = async (path: string) => {
    const { ask } = await web.served()
    const { status, text } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    const { document } = parseHTML(text)
    const rows = (id: string) =>
      [...document.querySelectorAll(`#${id} tbody tr`)].map((row) =>
        [...row.querySelectorAll('td')].map((cell) => cell.textContent?.trim() ?? ''),
      )
    return {
      rows,
      title: String(document.querySelector('h1')?.textContent),
      heading: (id: string) => document.querySelector(`#${id} h3`)?.textContent,
      head: (id: string) => [...document.querySelectorAll(`#${id} th`)].map(({ textContent }) => textContent),
      link: (selector: string) => String(document.querySelector(selector)?.getAttribute('href')),
      isThere: (selector: string) => document.querySelector(selector) !== null,
    }
  }

  test('of captures has pages, is sorted by its headings, and narrowed by guild and place', async () => {
    const first = await pageOf('/captures')
    expect(first.title).toMatch(new RegExp(`^${PLACES + PLACES / 10} captures, most of them`))
    expect(first.head('latest')).toEqual(['At (UTC) ▼', 'Territory', 'Taken by', 'From'])
    const all = first.rows('latest')
    for (let page = first; page.isThere('header p.at a[href*="page="]'); ) {
      const next = page.link('header p.at a[href*="page="]:last-child')
      page = await pageOf(next)
      // Of the pictures, which are of the whole period, only the first page has one.
      expect(page.isThere('#war')).toBe(false)
      all.push(...page.rows('latest'))
      if (page.rows('latest').length < 100) break
    }
    expect(new Set(all.map(([at, name]) => `${at} ${name}`)).size).toBe(PLACES + PLACES / 10)
    expect(all.map(([at]) => at)).toEqual(
      all
        .map(([at]) => at)
        .toSorted()
        .toReversed(),
    )
    const places = (await pageOf(first.link('#latest th a[href*="sort=territory"]')))
      .rows('latest')
      .map(([, name]) => name)
    expect(places.slice(0, 3)).toEqual(['Place 0', 'Place 0', 'Place 1'])
    expect((await pageOf('/captures?sort=-territory')).rows('latest')[0]?.[1]).toBe('Place 99')
    for (const guild of [guildId('c'), 'Guild c', 'guild C', 'ccc']) {
      const found = await pageOf(`/captures?guild=${encodeURIComponent(guild)}`)
      expect([guild, found.title]).toEqual([guild, `${PLACES / 10} captures by or from ${guild}`])
      expect(new Set(found.rows('latest').map((cells) => cells[2]))).toEqual(new Set(['Guild c']))
    }
    // The one place that is called so, or all whose names have it in them.
    expect((await pageOf('/captures?territory=Place%207')).title).toBe('1 capture of Place 7')
    expect((await pageOf('/captures?territory=place%207')).rows('latest').length).toBe(12)
    expect((await pageOf('/captures?territory=%25&guild=%27')).title).toBe(`0 captures of % by or from '`)
    // A question has the place that is called so, and none of the others.
    const csvOf = async (place: string) =>
      (await pageOf(`/captures?territory=${encodeURIComponent(place)}`)).isThere('#latest a[href*="format=csv"]')
    expect([await csvOf('Place 7'), await csvOf('place 7')]).toEqual([true, false])
  })

  test('of runs has pages, and is sorted by its headings', async () => {
    const first = await pageOf('/runs')
    expect(first.head('runs')).toEqual([
      'Began (UTC) ▼',
      'Resource',
      'Outcome',
      'Took',
      'Records',
      'New',
      'Changed',
      'Gone',
      'Why',
    ])
    expect(first.title).toMatch(/^The latest 100 runs, /)
    expect(first.rows('runs').length).toBe(100)
    const next = await pageOf(first.link('header p.at:last-child a'))
    expect(next.title).toMatch(/^Runs 101 to 200, /)
    const records = (await pageOf('/runs?sort=records')).rows('runs').map((cells) => Number(cells[4]))
    expect(records).toEqual(records.toSorted((a, b) => b - a))
    expect(records[0]).toBe(PLACES)
    const least = (await pageOf('/runs?sort=-records')).rows('runs').map((cells) => Number(cells[4]))
    expect(least[0]).toBe(0)
    const resources = (await pageOf('/runs?sort=resource')).rows('runs').map((cells) => cells[1])
    expect(resources[0]).toBe('guilds')
  })

  test('of loot is narrowed by what a reward or its pool is called', async () => {
    const all = await pageOf('/pools')
    expect(all.rows('rewards-1').length).toBe(12)
    // Names with numbers go by these, and a heading sorts one table of several.
    expect(all.rows('rewards-1').map(([name]) => name)[1]).toBe('Ring 10')
    const sorted = await pageOf(all.link('#rewards-1 th:first-child a'))
    expect(sorted.rows('rewards-1').map(([name]) => name)[1]).toBe('Ring 2')
    const other = await pageOf(sorted.link('#rewards-1 th:first-child a'))
    expect([other.head('rewards-1')[0], other.rows('rewards-1')[0]?.[0]]).toEqual(['Reward ▼', 'Ring 12'])
    const [found, none] = [await pageOf('/pools?q=ring%204'), await pageOf('/pools?q=bow')]
    expect(found.rows('rewards-1').map(([name]) => name)).toEqual(['Ring 4'])
    expect(none.title).toBe('No reward like bow is known at the end of this period')
  })

  test('of loot says how many of what is called so left a pool, not of all', async () => {
    await web.world.sync(lootPools, [vault(9)], '15:00')
    const left = async (query: string) => {
      const page = await pageOf(`/pools${query}`)
      return [page.heading('rewards-left'), page.rows('rewards-left').map(([, , name]) => name)]
    }
    expect(await left('')).toEqual(['3 rewards left', ['Ring 10', 'Ring 11', 'Ring 12']])
    expect(await left('?q=RING%2011')).toEqual(['1 reward left', ['Ring 11']])
    expect(await left('?q=vault')).toEqual(await left(''))
  })

  function webWorldOf() {
    return webWorld('server', async (world) => {
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }), '09:00')
      await world.sync(territories, map('a', 8), '10:00')
      await world.sync(territories, map('b', 11), '12:00')
      await world.sync(territories, map('c', 13, 10), '14:00')
      await world.sync(lootPools, [vault(12)], '14:00')
      await world.db.query(
        `insert into sync.run (run_id, resource, status, observed_at, started_at, finished_at, program)
         select gen_random_uuid(), 'guilds', 'unchanged', at, at, at, 'test' from generate_series(timestamptz '2026-06-01T09:00Z', '2026-06-01T13:00Z', interval '1 minute') at`,
      )
    })
  }
})
