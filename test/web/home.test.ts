import { html } from 'hono/html'
import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { placesMap } from '../../src/web/html/places-map.ts'
import { cardText } from '../../src/web/pictures/card.ts'
import { webWorld } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'

describe('the first page', () => {
  const { served } = webWorld('server', liveWholeWorld)

  async function homeOf(options: { readonly people?: boolean } = {}) {
    const { ask } = await served(options)
    const { text } = await ask('/')
    return { text, page: parseHTML(text).document }
  }
  const textsOf = (page: ReturnType<typeof parseHTML>['document'], selector: string) =>
    [...page.querySelectorAll(selector)].map((one) => one.textContent?.replace(/\s+/g, ' ').trim())

  test('has the map, each territory a link, hatched where no holder is known', async () => {
    const { page, text } = await homeOf()
    expect(page.querySelector('h1')?.textContent).toMatch(/ hold(s|s more than) .*: \d of \d territories$/)
    const links = [...page.querySelectorAll('#home-map a')].map((one) => one.getAttribute('href'))
    expect(links).toContain('/territories/Oak')
    expect(new Set(links).size).toBe(links.length)
    const fills = [...page.querySelectorAll('#home-map rect')].map((one) => one.getAttribute('fill'))
    expect(fills.length).toBe(links.length)
    expect(fills).toContain('url(#unknown)')
    expect(text.length).toBeLessThan(300_000)
  })

  test('has the latest captures beside it, the newest first, with a chip for each guild', async () => {
    const { page } = await homeOf()
    const lines = textsOf(page, '#ticker li')
    expect(lines.length).toBeGreaterThan(2)
    expect(lines[0]).toMatch(/^\d+ Jun, \d\d:\d\d \S+ took /)
    expect(page.querySelectorAll('#ticker .chip').length).toBeGreaterThanOrEqual(lines.length)
  })

  test('has four numbers with what they were before; what was not watched is hatched', async () => {
    const { page } = await homeOf()
    const numbers = textsOf(page, '.numbers li')
    expect(numbers.length).toBe(4)
    expect(numbers[0]).toMatch(/^\d+ captures in the /)
    expect(numbers[1]).toMatch(/^1 player listed online/)
    expect(numbers[2]).toMatch(/^2 worlds up/)
    expect(numbers[3]).toMatch(/^\d+ changes? of the last patch, 1 Jun/)
    for (const place of [1, 2])
      expect(
        page.querySelectorAll(`.numbers li:nth-child(${place}) .spark [fill="url(#unknown)"]`).length,
      ).toBeGreaterThan(1)
  })

  test('has cards of moves, the last patch and the loot; those of players only where these are shown', async () => {
    const { page } = await homeOf()
    expect([...page.querySelectorAll('.card')].map((one) => one.id)).toEqual(['moves', 'patch', 'loot'])
    expect(page.querySelectorAll('#patch li').length).toBeGreaterThan(0)
    expect(page.querySelectorAll('#patch li').length).toBeLessThanOrEqual(3)
    expect(textsOf(page, '#loot p')[0]).toMatch(/^The next is due in about \d+ days|^The next was due/)
    const without = await homeOf({ people: false })
    expect([...without.page.querySelectorAll('.card')].map((one) => one.id)).toEqual(['patch', 'loot'])
    expect(without.text).not.toContain('/players/')
  })
})

test('a picture of a page whose first chart is a map of places shows that', async () => {
  const at = { since: null, hq: null, observed: null, treasury: null, defences: null, x1: 0, z1: 0, x2: 90, z2: 90 }
  const place = { territory: 'Oak', uuid: null, name: 'Guild <a>', prefix: 'AAA', ...at }
  const picture = html`<div>${placesMap([place], { id: 'home-map', label: 'Map' })}</div>`
  const figures = [{ id: 'map', title: 'The map', picture }]
  const card = await cardText({ title: 'Oak', lead: '', path: '/', chapters: [{ id: 'now', heading: 'Now', figures }] })
  expect(card).toContain('data-place="Oak"')
  expect(card).toMatch(/<svg [^>]*text-anchor="middle"[^>]*>.*>AAA<\/text>/s)
})

test('a picture of a page without a chart has the first lines of its list, as text', async () => {
  const rows = [
    ['Oak <b>', await html`<a href="/x">${'A & B'}</a>`, 7, new Date(0)],
    ['Elm', '', null, new Date(0)],
  ]
  const list = { id: 'list', title: 'Oaks', table: { columns: ['Name', 'Of', 'Level', 'At'], rows } }
  const chapters = [{ id: 'now', heading: 'Now', figures: [list] }]
  const card = await cardText({ title: 'Oaks', lead: '', path: '/', chapters })
  const said = [...card.matchAll(/font-size="25"[^>]*>([^<]*)</g)].map(([, text]) => text)
  expect(said).toEqual(['Oak &lt;b&gt;', 'A &amp; B', '7', '1970-01-01 00:00', 'Elm', '?', '1970-01-01 00:00'])
})

describe('the first page of an empty database', () => {
  const { served } = webWorld('server', async () => undefined)

  test('says what is missing, and what brings it', async () => {
    const { ask } = await served()
    const { status, text } = await ask('/')
    const { document } = parseHTML(text)
    expect([status, document.querySelector('h1')?.textContent]).toEqual([200, 'The map was not seen yet'])
    expect(document.querySelector('main')?.textContent).toContain('wynnsync sync territories')
    expect([...document.querySelectorAll('.numbers b')].map((one) => one.textContent)).toEqual(['?', '?', '?', '?'])
  })

  test('has lists that say so, too, without a number or an empty table', async () => {
    const { ask } = await served()
    for (const [path, title, command] of [
      ['/items', 'No item was seen yet', 'wynnsync sync items'],
      ['/guilds', 'No guild is known yet', 'wynnsync sync guild-list guilds territories'],
      ['/map', 'No territory is known yet', 'wynnsync sync territories'],
      ['/gained', 'No gain of wars is known in this period', 'wynnsync sync guilds'],
    ] as const) {
      const { document } = parseHTML((await ask(path)).text)
      expect([path, document.querySelector('h1')?.textContent, document.querySelectorAll('table').length]).toEqual([
        path,
        title,
        0,
      ])
      expect([path, document.querySelector('main code')?.textContent]).toEqual([path, command])
    }
    expect(parseHTML((await ask('/runs')).text).document.querySelector('h1')?.textContent).toMatch(/^No run, /)
  })
})
