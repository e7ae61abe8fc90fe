import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { guildId, playerId } from '../support/guild-answers.ts'
import { bothKinds } from '../support/postgres.ts'
import { hostile, reportOf } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import { instantOf } from '../support/world.ts'

type Part = ReturnType<typeof parseHTML>['document']

const textOf = (part: Part, selector: string) => String(part.querySelector(selector)?.textContent)
/** The rows of a table of a figure, without headings. */
const rowsOf = (part: Part, figure: string) =>
  [...part.querySelectorAll(`#${figure} tbody tr`)].map((row) => [...row.children].map((cell) => cell.textContent))
const hatchedIn = (part: Part, figure: string) =>
  part.querySelectorAll(`#${figure} .wide [role="img"] [fill="url(#unknown)"] rect`).length

describe.each(bothKinds)('what single pages show on the %s database', (kind) => {
  const web = webWorld(kind, liveWholeWorld)
  const pageOf = async (path: string, options = {}) => {
    const { ask } = await web.served(options)
    const { status, text } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    return parseHTML(text).document
  }

  test('everything that a patch changed, by kind, direction and class or type, each group with a heading to link', async () => {
    const page = await pageOf('/patches/1')
    expect(textOf(page, 'h1')).toBe(
      'Patch 1: 2 items changed, 3 added, 1 removed, 1 recipe changed, 1 ability changed, 1 aspect changed, another number of quests',
    )
    const groups = [...page.querySelectorAll('section:not(#changes) figure')].map(({ id }) => [
      id,
      textOf(page, `#${id} h3`),
    ])
    expect(groups).toEqual([
      ['items-added', '2 items added'],
      ['items-up', '1 item buffed'],
      ['items-other', '1 item with mixed or other changes'],
      ['recipes-other', '1 recipe with mixed or other changes'],
      ['abilities-up', '1 ability buffed'],
      ['aspects-up', '1 aspect buffed'],
      ['quests-up', 'The number of quests'],
    ])
    const linked = [...page.querySelectorAll('#patch td a')].map((one) => one.getAttribute('href'))
    expect(linked).toEqual(groups.map(([id]) => `#${id}`))
    expect(page.querySelector('#items-up td a')?.getAttribute('href')).toBe('/items/bow')
    expect(rowsOf(page, 'items-up')).toEqual([[hostile.item, 'material', 'raw strength', '4', '6', '+2', '']])
    expect(rowsOf(page, 'items-added').map((row) => row.slice(0, 6))).toEqual([
      ['axe', 'material', 'appeared', '', '', ''],
      ['axe', 'material', 'average dps', '9', '7', '-2'],
      ['axe', 'material', 'average dps', '7', '5', '-2'],
      ['cap', 'material', 'appeared', '', '', ''],
    ])
    expect(rowsOf(page, 'items-other').map((row) => row.slice(0, 3))).toEqual([
      ['ring', 'material', 'appeared'],
      ['ring', 'material', 'disappeared'],
    ])
    expect(rowsOf(page, 'recipes-other')).toEqual([['Bow-1-3', 'skill', 'woodworking', 'weaponsmithing', '', '']])
    expect(rowsOf(page, 'abilities-up')).toEqual([
      ['mage/ability/bolt', 'mage', 'description', 'Cooldown: 12 s', 'Cooldown: 8 s', '', ''],
    ])
    expect(rowsOf(page, 'quests-up')[0]?.slice(2, 5)).toEqual(['100', '102', '+2'])
    expect(page.toString()).not.toContain('wynnsync query')
  })

  test('the territories of a guild over time, and the wars of its members, who have pages', async () => {
    const path = `/guilds/${encodeURIComponent(hostile.prefix)}`
    const page = await pageOf(path)
    expect(textOf(page, '#guild-territories h3')).toBe(
      'It held 1 to 2 territories when the map was watched, 2 when it last was',
    )
    const held = new Map(rowsOf(page, 'guild-territories').map(([at, amount]) => [String(at).slice(11), amount]))
    expect([held.get('10:00'), held.get('14:00'), held.get('21:00')]).toEqual(['1', '?', '2'])
    expect(hatchedIn(page, 'guild-territories')).toBeGreaterThan(0)
    expect(textOf(page, '#wars h3')).toBe(`${hostile.player} fought most: at least 3 wars of at least 3`)
    expect(rowsOf(page, 'wars').map(([name, wars]) => [name, wars])).toEqual([
      [hostile.player, '3'],
      ['Player2', '0'],
      ['Player3', '?'],
      ['Player4', '?'],
    ])
    expect(page.querySelectorAll('#wars .wide svg')).toHaveLength(1)
    for (const figure of ['members-list', 'wars', 'moves'])
      expect([figure, page.querySelectorAll(`#${figure} td a[href^="/players/"]`).length > 0]).toEqual([figure, true])
    const member = [...page.querySelectorAll('#wars td a')].map((one) => one.getAttribute('href'))
    expect(member).toContain(`/players/${playerId(2)}`)
    const ticks = [...page.querySelectorAll('#moves .wide [data-mark="y-axis tick label"] text')]
    const labels = ticks.map((one) => one.textContent).filter(Boolean)
    expect(labels).toEqual([...new Set(labels)])
    const ofMany = await pageOf(path, { people: false })
    expect(textOf(ofMany, '#guild-territories h3')).toMatch(/^It held 1 to 2 territories/)
    expect(ofMany.toString()).not.toMatch(/img src=x|Player[0-9]|\/players\//)
  })

  test('what a guild won and lost, against whom and when, its members in one table that a link sorts, and the hours of a rival', async () => {
    const path = `/guilds/${guildId('a')}`
    const page = await pageOf(path)
    expect([...page.querySelectorAll('section')].map(({ id }) => id)).toEqual([
      'now',
      'war',
      'members',
      'hours',
      'history',
    ])
    expect([...page.querySelectorAll('.parts a')].map((one) => one.getAttribute('href'))).toEqual([
      '#now',
      '#war',
      '#members',
      '#hours',
      '#history',
    ])
    expect(textOf(page, '#rivals h3')).toMatch(/^\d+ won and \d+ lost, /)
    const rivals = rowsOf(page, 'rivals')
    expect(rivals.map(([name]) => name)).toContain('Guild b')
    const counted = rivals.reduce((sum, [, won, lost]) => sum + Number(won) + Number(lost), 0)
    const hours = rowsOf(page, 'war-hours').reduce((sum, [, won, lost]) => sum + Number(won) + Number(lost), 0)
    expect(hours).toBe(counted)
    expect(page.querySelector('#standing progress')).not.toBeNull()
    expect(textOf(page, '#standing code')).toContain(`--guild ${guildId('a')} `)
    expect(page.querySelectorAll('#guild-map rect:not([fill-opacity])').length).toBe(2)
    // Who hides is unknown and says why; so it stays under every order.
    const hidden = rowsOf(page, 'members-list').find(([name]) => name === 'Player3')
    expect([hidden?.[3], hidden?.[4]]).toEqual(['?', '?'])
    expect(hidden?.at(-1)).not.toBe('')
    const heading = page.querySelector('#members-list th a[href*="sort=name"]')?.getAttribute('href') ?? ''
    const [byName, other] = [await pageOf(heading), await pageOf(heading.replace('sort=name', 'sort=-name'))]
    const names = (of: Part) => rowsOf(of, 'members-list').map(([name]) => name)
    expect(names(byName)).toEqual([...names(other)].reverse())
    expect(names(byName).toSorted()).toEqual(names(page).toSorted())
    const compared = await pageOf(`${path}?rival=${guildId('b')}`)
    expect(textOf(compared, '#rival-hours h3')).toMatch(/^Guild b: /)
  })

  test('items by an identification in words, sorted by its value, and by a heading', async () => {
    const found = await pageOf('/items?stat=raw%20strength')
    expect(rowsOf(found, 'list').map(([name, ...cells]) => [name, cells.at(-1)])).toEqual([[hostile.item, '6']])
    expect([...found.querySelectorAll('#list th')].at(-1)?.textContent).toBe('raw strength')
    const names = async (query: string) => rowsOf(await pageOf(`/items?${query}`), 'list').map(([name]) => name)
    const all = await names('')
    expect(all.length).toBeGreaterThan(2)
    expect(await names('sort=-name')).toEqual(all.toReversed())
    expect(await names('page=2')).toEqual([])
    expect(await names('least=9999')).toEqual([])
    const item = await pageOf('/items/bow')
    expect(rowsOf(item, 'card').map(([what]) => what)).toContain('raw strength')
  })

  test('near names of a guild that is in no list where none is found', async () => {
    const { ask } = await web.served()
    const { status, text } = await ask('/guilds/Gild%20b')
    expect([status, parseHTML(text).document.querySelector('li a')?.textContent]).toEqual([404, 'Guild b [bbb]'])
    expect((await ask(`/guilds/${guildId('a')}?rival=nowhere`)).status).toBe(404)
  })

  test('what is known of a guild that is not in the latest list', async () => {
    const page = await pageOf(`/guilds/${guildId('b')}`)
    expect(textOf(page, '#not-listed h3')).toBe('It is not in the latest list of guilds')
    expect(page.toString()).not.toContain('No guild was synced')
    expect(textOf(page, '#guild-territories h3')).toMatch(/^It held 1 to 2 territories/)
  })

  test('what a territory produces, stores and is worth to take; hatched where it was not observed', async () => {
    const page = await pageOf('/territories/Oak')
    expect(textOf(page, 'h1')).toBe('Guild b [bbb] holds Oak for 10 hours')
    expect(textOf(page, '.soft')).toBe('Treasury low, defences very low.')
    expect(textOf(page, '#storage h3')).toBe(
      'It produces 9,000 emeralds an hour; its storage is fullest of emeralds, 50 %',
    )
    const emeralds = rowsOf(page, 'storage').filter(([, resource]) => resource === 'emeralds')
    const of = (hour: string) => emeralds.find(([at]) => String(at).endsWith(hour))?.slice(2)
    expect([of('10:00'), of('18:00'), of('20:00')]).toEqual([
      ['?', '?', '?'],
      ['600', '3,000', '9,000'],
      ['?', '?', '?'],
    ])
    expect(emeralds.at(-1)?.slice(2)).toEqual(['1,500', '3,000', '9,000'])
    expect(hatchedIn(page, 'storage')).toBeGreaterThan(1)
    expect(textOf(page, '#standing h3')).toBe('Treasury low, defences very low; 2 changes in this period')
    expect(rowsOf(page, 'standing').map((row) => row.slice(2, 4))).toEqual([
      ['?', '?'],
      ['very low', 'very low'],
      ['low', 'very low'],
    ])
    expect(hatchedIn(page, 'standing')).toBeGreaterThan(1)
    const list = await pageOf('/territories')
    expect(list.toString()).not.toMatch(/VERY_LOW/)
  })

  test('that a place is unowned', async () => {
    const page = await pageOf('/territories/Fir')
    expect(textOf(page, 'h1')).toBe('No guild holds Fir')
    expect(textOf(page, '#hold-list h3')).toBe('It is unowned')
    expect(page.querySelector('main')?.textContent).not.toContain('wynnsync sync')
  })

  test('labels of time within the small pictures of guilds', async () => {
    const period = { from: new Date(instantOf('00:00')), to: new Date(instantOf('02 00:00')) }
    const { document } = parseHTML((await reportOf(web.world, period)).html)
    const labels = [...document.querySelectorAll('#empires .narrow [data-mark="x-axis tick label"] text')]
    expect(new Set(labels.map((one) => one.textContent))).toEqual(new Set(['', '12:00']))
  })

  test('how long a place was held when it was last observed, and since when it was not', async () => {
    await web.world.clock.advanceTo(instantOf('03 12:00'))
    const page = await pageOf('/territories/Oak')
    expect(textOf(page, 'h1')).toBe('Guild b [bbb] holds Oak for 10 hours, as of 1 Jun, 21:00')
    expect(textOf(page, '.soft')).toContain('Not observed since 1 Jun, 21:00 UTC.')
  })
})
