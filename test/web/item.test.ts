import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { articleVocabulary } from '../../src/api/schemas/articles.ts'
import { articles } from '../../src/resources/articles/index.ts'
import { itemSets } from '../../src/resources/item-sets/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { recipes } from '../../src/resources/recipes/index.ts'
import { bothKinds } from '../support/postgres.ts'
import { webWorld } from '../support/web-world.ts'
import { headersOf, instantOf, item, type World } from '../support/world.ts'

const evil = '<img src=x onerror=alert(1)>'

/** A bow with all that a card shows. */
const bow = (strength: object | number, others: object = {}) =>
  item('Bow of Test', {
    displayName: `Bow ${evil}`,
    type: 'weapon',
    subType: 'bow',
    tier: 'mythic',
    attackSpeed: 'verySlow',
    averageDps: 321,
    powderSlots: 3,
    requirements: { level: 95, classRequirement: 'archer', quest: 'The Way', dexterity: 40, agility: 0 },
    base: { baseFireDamage: { min: 100, raw: 150, max: 200 } },
    identifications: { rawStrength: strength, '1stSpellCost': { min: -3, raw: -10, max: -13 }, walkSpeed: -8 },
    majorIds: { 'Tidal Drift': `<span>Drifts</span> ${evil}` },
    lore: `It \ue001 is &7${evil} old<span class='font-common'>\ue010</span>.`,
    sets: ['Testers'],
    dropMeta: { name: 'Cave', type: ['dungeon', 'miniboss'], coordinates: [10, 20, -30] },
    ...others,
  })

async function live(world: World): Promise<void> {
  const rope = item('Rope', {
    droppedBy: [
      {
        name: `Rat ${evil}`,
        coords: [
          [1, 2, 3, 40],
          [99999, 0, 0],
        ],
      },
      { name: 'Ghost' },
    ],
  })
  const ring = (icon: string) => item('Ring', { icon: { format: 'skin', value: icon } })
  const range = (raw: number) => ({ min: Math.round(raw * 0.3), raw, max: Math.round(raw * 1.3) })
  await world.sync(items, [bow(range(10)), rope, ring('a')], '10:00')
  await world.sync(items, [bow(range(20), { averageDps: 300 }), rope, ring('a')], '11:00')
  await world.sync(
    items,
    [bow(range(20), { averageDps: 300, lore: 'Another.' }), rope, ring('b'), item('Late')],
    '20:00',
  )
  await world.sync(
    recipes,
    [{ internalName: 'Bow-1-3', type: 'bow', skill: 'woodworking', materials: [{ item: 'Rope', amount: 2 }] }],
    '20:00',
  )
  await world.sync(
    itemSets,
    { Testers: { bonuses: { 2: { minor: { rawStrength: 7 } } }, parts: [`Bow ${evil}`, 'Hat'] } },
    '20:00',
  )
  const controller = { count: 1, current_count: 1, pages: 1, prev: null, current: 1, next: null }
  const news = { pk: 7, title: `News ${evil}`, type: 'blog', published_at: '2026-06-03T10:00:00+00:00' }
  for (const type of articleVocabulary.type)
    world.sandbox.setAnswer(`/publisher/articles/list/${type}`, () => ({
      headers: headersOf(instantOf('21:00'), 60),
      body: { controller, results: type === 'blog' ? { 1: news } : {} },
    }))
  await world.syncNow(articles)
}

const path = '/items/Bow%20of%20Test'

describe.each(bothKinds)('the page of an item on the %s database', (kind) => {
  const web = webWorld(kind, live)
  const pageOf = async (address: string) => {
    const { ask } = await web.served()
    const { status, text } = await ask(address)
    expect([address, status]).toEqual([address, 200])
    const { document } = parseHTML(text)
    expect(document.querySelectorAll('main img, main script').length).toBe(0)
    return document
  }
  type Part = Awaited<ReturnType<typeof pageOf>>
  const textsOf = (page: Part, selector: string) =>
    [...page.querySelectorAll(selector)].map((one) => one.textContent?.replace(/\s+/g, ' ').trim())
  const rowsOf = (page: Part, figure: string) =>
    [...page.querySelectorAll(`#${figure} tbody tr`)].map((row) => [...row.children].map((cell) => cell.textContent))

  test('has a card as in the game: base values, what is needed, rolls with their ends, major identifications, lore', async () => {
    const page = await pageOf(path)
    expect(page.querySelector('.item-card')?.className).toBe('item-card of-mythic')
    expect(textsOf(page, '.item-card h4')).toEqual([`Bow ${evil}`])
    const lines = textsOf(page, '.item-card dt').map((what, place) => [what, textsOf(page, '.item-card dd')[place]])
    expect(lines).toEqual([
      ['attack speed', 'very slow'],
      ['fire damage', '100 to 200'],
      ['average damage per second', '300'],
      ['level', '95'],
      ['class', 'archer'],
      ['quest', 'The Way'],
      ['dexterity needed', '40'],
      ['powder slots', '3'],
    ])
    const rolls = [...page.querySelectorAll('.item-card tbody tr')].map((row) => [
      row.className,
      ...[...row.children].map((cell) => cell.textContent),
    ])
    expect(rolls).toEqual([
      ['good', '1st spell cost', '-10 %', '-13 to -3 %'],
      ['good', 'raw strength', '+20', '+6 to +26'],
      ['bad', 'walk speed', '-8 %', 'always'],
    ])
    expect(textsOf(page, '.item-card p')).toEqual(['mythic bow', 'Tidal Drift Drifts', 'Another.'])
    expect(textsOf(page, '.item > div h4')).toEqual([`Bow ${evil}`, 'Where it comes from', 'Set Testers'])
    expect(rowsOf(page, 'card').slice(3)).toEqual([
      ['Cave', 'dungeon, miniboss', '10, 20, -30', ''],
      ['2', 'raw strength +7'],
    ])
    expect(textsOf(page, '.item .parts li')).toEqual([`Bow ${evil}`, 'Hat'])
  })

  test('says of an item that only appeared when it did, and of one that changed how often', async () => {
    expect(textsOf(await pageOf('/items/Late'), 'h1')).toEqual(['Late appeared on 1 Jun, 20:00'])
    expect(textsOf(await pageOf(path), 'h1')).toEqual([`Bow ${evil} changed 2 times, last on 1 Jun, 20:00`])
  })

  test('has where an ingredient drops, and the recipes that need it', async () => {
    const page = await pageOf('/items/Rope')
    expect(rowsOf(page, 'card')).toEqual([
      [`Rat ${evil}`, 'creature', '1, 2, 3', '40'],
      [`Rat ${evil}`, 'creature', '', ''],
      ['Ghost', 'creature', '', ''],
      ['Bow-1-3', 'woodworking', '2'],
    ])
  })

  test('has every revision with one row for each identification, whatever its range is', async () => {
    const page = await pageOf(path)
    expect(page.querySelector('h1')?.textContent).toBe(`Bow ${evil} changed 2 times, last on 1 Jun, 20:00`)
    expect(textsOf(page, '#revisions figure[id^=at-] h3')).toEqual([
      '2026-06-01 20:00: 1 value changed',
      '2026-06-01 11:00: 2 values changed: 1 number up, 1 down',
    ])
    expect(rowsOf(page, 'revisions')).toEqual([
      ['lore', 'It is old.', 'Another.', ''],
      ['average dps', '321', '300', '-21'],
      ['raw strength', '10 (3 to 13)', '20 (6 to 26)', '+10'],
    ])
  })

  test('compares any two versions that are chosen, in either order, or one with now', async () => {
    const page = await pageOf(path)
    const options = [...page.querySelectorAll('#choice select[name=a] option')]
    expect(options.map((one) => one.textContent)).toEqual([
      '2026-06-01 20:00, patch 2',
      '2026-06-01 11:00, patch 1',
      '2026-06-01 10:00',
    ])
    const [last, , first] = options.map((one) => encodeURIComponent(String(one.getAttribute('value'))))
    for (const address of [`?a=${first}&b=${last}`, `?a=${last}&b=${first}`, `?a=${first}`]) {
      const compared = await pageOf(`${path}${address}`)
      expect(rowsOf(compared, 'compare').map(([what]) => what)).toEqual(['average dps', 'lore', 'raw strength'])
    }
    const same = await pageOf(`${path}?a=${last}&b=${last}`)
    expect(same.querySelector('#compare h3')?.textContent).toMatch(/^It was the same at /)
    const before = await pageOf(`${path}?a=2026-05-01T00:00Z`)
    expect(before.querySelector('#compare h3')?.textContent).toBe(
      'No response shows it at 2026-05-01 00:00, so there is nothing to compare',
    )
    const { ask } = await web.served()
    for (const address of ['?a=x', '?b=%3Cb%3E', '?patch=99', '?patch=x'])
      expect((await ask(`${path}${address}`)).status).toBe(400)
  })

  test('shows it as of a patch, which its revisions lead to, and says nothing there of what is known of now alone', async () => {
    const page = await pageOf(path)
    const links = [...page.querySelectorAll('#revisions .then a')].map((one) => String(one.getAttribute('href')))
    expect(links).toContain(`${path}?patch=1`)
    const then = await pageOf(`${path}?patch=1`)
    expect(then.querySelector('h1')?.textContent).toBe(`Bow ${evil} as of patch 1`)
    expect(textsOf(then, '.item-card .lore')).toEqual(['It is old.'])
    expect(textsOf(then, '.item > div h4')).toEqual([`Bow ${evil}`, 'Where it comes from'])
    const comparisons = links.filter((href) => href.includes('?a='))
    expect(comparisons).not.toEqual([])
    for (const link of comparisons)
      expect((await pageOf(link.replace(/#.*/, ''))).querySelector('#compare')).not.toBeNull()
  })

  test('has a patch named after the article nearest to it, and its technical changes folded', async () => {
    const page = await pageOf('/patches/2')
    expect(page.querySelector('h1')?.textContent).toBe(`Patch 2: News ${evil}`)
    expect(page.querySelector('#patch h3')?.textContent).toBe('1 item changed, 1 added, 0 removed')
    expect(rowsOf(page, 'patch')).toEqual([
      ['Items', 'bow', '', '1'],
      ['Items', 'material', '1', ''],
    ])
    expect(page.querySelector('#technical-values > details:not([open]) summary')?.textContent).toBe('The numbers (1)')
    expect(rowsOf(page, 'technical-values')).toEqual([['items', 'Ring', 'icon · value', 'a', 'b', '']])
    const other = await pageOf('/patches/1')
    expect(textsOf(other, '#items h3')).toEqual(['1 item with mixed or other changes'])
    expect(rowsOf(other, 'items-other')).toEqual([
      [`Bow ${evil}`, 'bow', 'average dps', '321', '300', '-21', ''],
      [`Bow ${evil}`, 'bow', 'raw strength', '10 (3 to 13)', '20 (6 to 26)', '+10', ''],
    ])
    expect(other.querySelector('#technical')).toBeNull()
  })
})
