import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, playerId, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { webWorld } from '../support/web-world.ts'
import { item } from '../support/world.ts'

const PLACES = 32
const rivalId = (nth: number) => `0000${String(nth).padStart(4, '0')}-0000-4000-9000-000000000000`
const names = Array.from({ length: PLACES }, (_, nth) => `Place ${String(nth).padStart(2, '0')}`)
const ofRival = (nth: number) => ({
  ...place('b', '09:00'),
  guild: { uuid: rivalId(nth), name: `Rival ${nth}`, prefix: `R${nth}` },
})
const members = (...numbers: readonly number[]) =>
  Object.fromEntries(numbers.map((one) => [one, one === 1 ? { rank: 'owner' } : {}]))

describe('a page of a period', () => {
  const web = webWorld('server', async (world) => {
    await syncGuild(world, guildBody('a', members(1, 2)), '10:00')
    await syncOnline(world, onlineBody({ EU1: [1] }), '10:00')
    await world.sync(items, [item('bow')], '10:00')
    await world.sync(territories, Object.fromEntries(names.map((name, nth) => [name, ofRival(nth)])), '10:00')
    const won = Object.fromEntries(names.map((name) => [name, place('a', '10:30')]))
    for (const at of ['11:00', '11:10', '11:20']) await world.sync(territories, won, at)
    for (const at of ['11:30', '11:40']) await syncOnline(world, onlineBody({ EU1: [1], EU2: [2] }), at)
    for (const at of ['12:00', '12:10', '12:20']) await syncGuild(world, guildBody('a', members(1, 3)), at)
  })
  const PERIOD = 'from=2026-06-01T10:00Z&to=2026-06-01T12:20Z'
  const own = `/guilds/${guildId('a')}`
  const pageOf = async (path: string) => {
    const { ask } = await web.served()
    const { status, text } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    const { document } = parseHTML(text)
    const rows = (id: string) =>
      [...document.querySelectorAll(`#${id} tbody tr`)].map((row) => [...row.children].map((cell) => cell.textContent))
    return { document, rows, text: (selector: string) => String(document.querySelector(selector)?.textContent), ask }
  }

  test('counts what was won from all, also from those that its table has no room for, and says so', async () => {
    const { rows, text } = await pageOf(`${own}?${PERIOD}`)
    expect(text('#rivals h3')).toMatch(new RegExp(`^${PLACES} won and 0 lost, `))
    expect(rows('rivals')).toHaveLength(25)
    expect(text('#rivals .note:last-child')).toMatch(new RegExp(`^The first 25 of ${PLACES};`))
  })

  test('keeps the period in each link and form of its own', async () => {
    const { document } = await pageOf(`${own}?${PERIOD}&sort=name`)
    const links = [...document.querySelectorAll('a[href*="rival="]')].map((one) => String(one.getAttribute('href')))
    expect(links.length).toBeGreaterThan(25)
    const kept = (query: URLSearchParams) => ['from', 'to', 'sort'].map((name) => query.get(name))
    const wanted = ['2026-06-01T10:00Z', '2026-06-01T12:20Z', 'name']
    for (const link of links) expect([link, kept(new URL(link, 'http://x').searchParams)]).toEqual([link, wanted])
    const fieldsOf = (form: ReturnType<typeof parseHTML>['document'] | null) =>
      new URLSearchParams(
        [...(form?.querySelectorAll('input') ?? [])].map((one): [string, string] => [
          String(one.getAttribute('name')),
          String(one.getAttribute('value')),
        ]),
      )
    expect(kept(fieldsOf(document.querySelector('form[action$="#hours"]')))).toEqual(wanted)
    const gained = document.querySelector('#standing a[href^="/gained"]')?.getAttribute('href')
    expect(kept(new URL(String(gained), 'http://x').searchParams).slice(0, 2)).toEqual(wanted.slice(0, 2))
    for (const path of ['/', '/captures', `/players/${playerId(1)}`]) {
      const page = await pageOf(`${path}?${PERIOD}`)
      const about = [...page.document.querySelectorAll('.numbers a, p.at a, #map .note a')]
      const onward = about.map((one) => String(one.getAttribute('href'))).filter((href) => !href.startsWith('/patches'))
      expect([path, onward.length > 0]).toEqual([path, true])
      for (const href of onward)
        expect([href, kept(new URL(href, 'http://x').searchParams).slice(0, 2)]).toEqual([href, wanted.slice(0, 2)])
    }
    const guilds = await pageOf(`/guilds?${PERIOD}&sort=name&page=1`)
    const search = fieldsOf(guilds.document.querySelector('form[action="/guilds"][role="search"]'))
    expect([kept(search), search.has('page'), search.getAll('q')]).toEqual([wanted, false, ['']])
  })

  test('has nothing that happened after it, and lists no capture before it as one of it', async () => {
    const early = await pageOf(`${own}?from=2026-06-01T10:00Z&to=2026-06-01T10:20Z`)
    expect(early.text('#guild-captures h3')).toBe('No capture is known')
    const worlds = await pageOf('/worlds?from=2026-06-01T10:00Z&to=2026-06-01T11:00Z')
    expect(worlds.text('#lifecycle')).not.toContain('EU2')
    const late = await pageOf('/captures?from=2026-06-01T10:40Z&to=2026-06-01T11:20Z')
    expect(late.rows('latest')).toEqual([])
    const whole = await pageOf(`/captures?${PERIOD}`)
    expect([whole.text('#latest h3'), whole.rows('latest').length]).toEqual([`${PLACES} captures`, PLACES])
  })

  test('has the same members as its CSV, and of what was lost or moved only what its table is about', async () => {
    const { document, rows, ask } = await pageOf(`${own}?from=2026-06-01T10:00Z&to=2026-06-01T11:00Z`)
    const csv = document.querySelector('a[href*="/member_activity?"]')?.getAttribute('href')
    const lines = (await ask(String(csv))).text.trim().split(/\r?\n/).slice(1)
    expect(rows('members-list').map(([name]) => name)).toEqual(['Player1', 'Player2'])
    expect(lines.map((line) => line.split(',')[0]).sort()).toEqual([playerId(1), playerId(2)])
  })

  test('is none where an item is to be compared with what will be', async () => {
    const { ask } = await web.served()
    const statuses = await Promise.all(['11:00', '13:00'].map((at) => ask(`/items/bow?a=2026-06-01T${at}Z`)))
    expect(statuses.map(({ status }) => status)).toEqual([200, 400])
  })

  test('of a search says that more were found than it has room for', async () => {
    const { text, rows } = await pageOf('/search?q=place')
    expect([text('h1'), text('#territory-hits h3'), rows('territory-hits').length]).toEqual([
      'More than 30 names like place',
      'The first 30',
      30,
    ])
  })

  test('has all of its rows as CSV, also more than the first hundred', async () => {
    const numbers = Array.from({ length: 130 }, (_, nth) => nth + 1)
    await syncGuild(web.world, guildBody('d', members(...numbers)), '12:40')
    const { document, rows, ask } = await pageOf(`/guilds/${guildId('d')}`)
    expect(rows('members-list')).toHaveLength(numbers.length)
    for (const question of ['member_activity', 'member_contribution']) {
      const csv = document.querySelector(`a[href*="/${question}?"]`)?.getAttribute('href')
      const lines = (await ask(String(csv))).text.trim().split(/\r?\n/).slice(1)
      expect([question, lines.length]).toEqual([question, numbers.length])
    }
  })
})
