import { describe, expect, test } from 'vitest'
import { guildColour } from '../../src/drawing/colours.ts'
import { items } from '../../src/resources/items/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { findChromium } from '../support/chromium.ts'
import { guildId, place, playerId } from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { programSite } from '../support/program-site.ts'
import { hostile } from '../support/report-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import { item } from '../support/world.ts'

const hasBrowser = findChromium() !== undefined
const why = hasBrowser ? '' : ' (skipped: no Chromium; set WYNNSYNC_TEST_CHROMIUM or install chromium)'

describe.skipIf(!hasBrowser)(`each page of the program in a browser${why}`, () => {
  const { at, open } = programSite(async (world) => {
    await liveWholeWorld(world)
    const guild = { uuid: guildId('b'), name: 'Guild b', prefix: 'BBB', rank: 'CHIEF' }
    for (const [hour, wars] of [
      ['22:00', 3],
      ['23:00', 5],
    ] as const)
      await syncPlayer(world, 1, profile(1, { guild, playtime: 7, globalData: { wars } }), hour)
    const bow = item('bow', { displayName: hostile.item, identifications: { rawStrength: 6 } })
    const axe = item('axe', { averageDps: 5, icon: { format: 'attribute', value: { id: 'minecraft:axe' } } })
    await world.sync(items, [bow, item('cap'), axe], '2 10:00')
  })

  test('guilds are sorted by a heading, and lead to the page of each', async () => {
    const { page, complaints } = await open('/guilds')
    expect(await page.locator('#list th a[aria-current]').textContent()).toBe('Territories ▼')
    await page.locator('#list th a', { hasText: 'Level' }).click()
    await page.waitForURL('**/guilds?sort=level#list')
    const name = await page.locator('#list td a').first().textContent()
    await page.locator('#list td a').first().click()
    await page.waitForURL('**/guilds/*')
    expect(await page.locator('h1').textContent()).toContain(name)
    expect(complaints).toEqual([])
  })

  test('a player has days, sessions, counters and a line of guilds, is kept by no search engine, and what is hidden is said in words', async () => {
    const { page, complaints } = await open(`/players/${playerId(1)}?from=2026-06-01&to=2026-06-02`)
    expect(await page.locator('meta[name=robots]').getAttribute('content')).toBe('noindex')
    for (const part of ['#days svg', '#session-list', '#counted .spark', '#spells svg'])
      expect([part, await page.locator(part).first().isVisible()]).toEqual([part, true])
    const cells = await page.locator('#counted tbody tr', { hasText: 'wars' }).locator('td').allTextContents()
    expect(cells.slice(0, 4)).toEqual(['wars', '5', '≥ 2', 'at least'])
    const fills = await page.locator('#spells rect').evaluateAll((all) => all.map((one) => one.getAttribute('fill')))
    expect(fills).toEqual([guildColour('Guild b'), 'url(#unknown)'])
    await page.goto(`${at.url}/players/${playerId(3)}`)
    expect(await page.locator('h1 + p').textContent()).toBe(
      'Hides counters and ranks, whether and where they are online: what is hidden is unknown, not zero.',
    )
    expect(complaints).toEqual([])
  })

  test.each([true, false])('captures are narrowed by guild and place, with scripts %s', async (javaScriptEnabled) => {
    const { page, complaints } = await open('/captures?sort=territory', { javaScriptEnabled })
    const form = page.locator('form[action="/captures"][role=search]')
    const row = page.locator('#latest tbody tr')
    const all = await row.count()
    await form.locator('[name=guild]').fill('bbb')
    await form.locator('button').click()
    await page.waitForURL('**/captures?sort=territory&guild=bbb&territory=')
    expect(await page.locator('h1').textContent()).toContain('by or from bbb')
    const some = await row.allTextContents()
    expect([some.length > 0 && some.length < all, some.filter((one) => !one.includes('Guild b'))]).toEqual([true, []])
    await form.locator('[name=territory]').fill('oak')
    await form.locator('button').click()
    await page.waitForURL('**/captures?sort=territory&guild=bbb&territory=oak')
    expect(await row.locator('td:nth-child(2)').allTextContents()).toEqual(['Oak', 'Oak'])
    expect(await form.locator('[name=guild]').inputValue()).toBe('bbb')
    await page.goBack()
    expect(await row.allTextContents()).toEqual(some)
    expect(complaints).toEqual([])
  })

  test('a printed map is whole, and no page is printed with what is clicked', async () => {
    const { page } = await open('/map')
    await page.locator('.map-port').focus()
    for (const key of ['+', '+', 'ArrowLeft']) await page.keyboard.press(key)
    await page.emulateMedia({ media: 'print' })
    for (const part of ['.period', '.map-tools', '.map-buttons', 'details.at'])
      expect([part, await page.locator(part).isVisible()]).toEqual([part, false])
    const [port, drawn] = await Promise.all(
      ['.map-port', '.map-port svg.plot'].map((one) => page.locator(one).boundingBox()),
    )
    for (const side of ['x', 'y', 'width', 'height'] as const)
      expect([side, Math.abs(Number(drawn?.[side]) - Number(port?.[side])) < 8]).toEqual([side, true])
    for (const path of ['/items', '/captures', '/gained']) {
      await page.goto(`${at.url}${path}`)
      expect([
        path,
        await page.locator('form').evaluateAll((all) => all.filter((one) => one.getClientRects().length > 0).length),
      ]).toEqual([path, 0])
    }
  })

  test('a link to a moment of the map shows what happened by then, and before its page that of the moment', async () => {
    const { page, complaints } = await open('/map#t=2026-06-01T11:31Z&m=age')
    expect(await page.locator('#map-time').textContent()).toMatch(/ 11:(3[1-9]|4\d) UTC$/)
    const old = () => page.locator('.map-port g[data-mark=rect] rect[fill="var(--heat)"]').count()
    await page.locator('#map-slider').press('End')
    const now = await old()
    await page.locator('#map-slider').press('Home')
    // Of a hold that began before nothing says when.
    expect(await old()).toBeLessThan(now)
    await page.selectOption('#map-mode', 'resources')
    const fills = (of: string) => page.locator(of).evaluateAll((all) => all.map((one) => one.getAttribute('fill')))
    const places = '.map-port g[data-mark=rect] rect'
    // Of a moment before the last, only who held what is known.
    expect(new Set(await fills(places))).toEqual(new Set(['url(#unknown)']))
    await page.locator('#map-slider').press('End')
    const keys = new Set([...(await fills('#map-said rect')), 'url(#unknown)'])
    expect((await fills(places)).filter((fill) => !keys.has(fill))).toEqual([])
    expect(new Set(await fills(places)).size).toBeGreaterThan(1)
    await page.goto(`${at.url}/map`)
    await page.goto(`${at.url}/map#t=2026-05-31T11:00Z`)
    await page.reload()
    await page.waitForURL('**/map?at=2026-05-31T11%3A00Z#t=**')
    expect(complaints).toEqual([])
  })

  test('items are narrowed by name and type, and one has its card, its revisions, and any two versions side by side', async () => {
    const { page, complaints } = await open('/items')
    const type = await page.locator('#list tbody td:nth-child(2)').first().textContent()
    await page.locator('form[action="/items"] select[name=type]').selectOption(String(type))
    await page.locator('form[action="/items"] input[name=q]').fill('axe')
    await page.locator('form[action="/items"]:has(select) button').click()
    await page.waitForURL('**/items?q=axe&type=**')
    expect(await page.locator('#list tbody tr').count()).toBe(1)
    await page.locator('#list td a').first().click()
    await page.waitForURL('**/items/axe')
    expect(await page.locator('.item-card h4').isVisible()).toBe(true)
    expect(await page.locator('#revisions h3').count()).toBeGreaterThan(1)
    await page.locator('#choice button').click()
    await page.waitForURL(/\/items\/axe\?a=.*&b=.*#compare$/)
    expect(await page.locator('#compare tbody tr').count()).toBeGreaterThan(0)
    await page.locator('#revisions a', { hasText: 'the item then' }).last().click()
    await page.waitForURL('**/items/axe?patch=1')
    expect(await page.locator('h1').textContent()).toMatch(/ as of patch 1$/)
    expect(await page.locator('.item-card').isVisible()).toBe(true)
    expect(complaints).toEqual([])
  })

  test('patches lead to what each changed, by class or type, and from there to the item', async () => {
    const { page, complaints } = await open('/patches')
    expect(await page.locator('#list td a').allTextContents()).toEqual(['2, of form', '1'])
    await page.locator('#list td a').first().click()
    await page.waitForURL('**/patches/2')
    expect(await page.locator('h1').textContent()).toBe('Patch 2: only the form of the data: 1 technical change')
    expect(await page.locator('#technical-values table').isVisible()).toBe(false)
    await page.goto(`${at.url}/patches/1`)
    expect(await page.locator('#patch tbody tr').count()).toBeGreaterThan(0)
    await page.locator('main a[href^="/items/"]').first().click()
    await page.waitForURL('**/items/*')
    expect(complaints).toEqual([])
  })

  test('worlds are a table first, and hours of each last', async () => {
    const { page, complaints } = await open('/worlds')
    expect(await page.locator('#world-list .spark').count()).toBe(2)
    const [table, hours] = await Promise.all([
      page.locator('#world-list').boundingBox(),
      page.locator('#worlds').boundingBox(),
    ])
    expect(Number(table?.y)).toBeLessThan(Number(hours?.y))
    await page.locator('#world-list th a', { hasText: 'World' }).click()
    await page.waitForURL('**/worlds?sort=world#now')
    expect(complaints).toEqual([])
  })

  test('all that is recorded has a page, which the menu leads to', async () => {
    const { page, complaints } = await open('/')
    for (const name of ['Events', 'Quests', 'Nodes', 'Raids', 'Abilities', 'Aspects', 'Seasons']) {
      if (!(await page.locator('.site details[open]').count())) await page.locator('.site summary').click()
      await page.locator('.site a', { hasText: new RegExp(`^${name}$`) }).click()
      await page.waitForURL(`**/${name.toLowerCase()}`)
      expect([name, await page.locator('main :is(tbody tr, code, h3, .lead)').count()]).not.toEqual([name, 0])
    }
    expect(complaints).toEqual([])
  })

  test('a key leads to all that can be clicked on a page', async () => {
    for (const path of ['/', '/map', `/guilds/${guildId('a')}`, '/gained', '/items/axe']) {
      const { page } = await open(path)
      const all = await page.evaluate<number>(
        `[...document.querySelectorAll('a[href], button, select, input:not([type=hidden]), summary')].filter((one) => one.getClientRects().length > 0 && !one.closest('svg') && one.tabIndex < 0).length`,
      )
      expect([path, all]).toEqual([path, 0])
      await page.keyboard.press('Tab')
      expect(await page.evaluate(`getComputedStyle(document.activeElement).outlineStyle`)).toBe('solid')
    }
  })
})

/** Rows and columns of places, of which each has routes to its neighbours. */
const [ACROSS, DOWN] = [19, 23]

describe.skipIf(!hasBrowser)(`a map of ${ACROSS * DOWN} places with routes in a browser${why}`, () => {
  const nameOf = (nth: number) => `Place ${nth}`
  const bodyOf = (since: string) =>
    Object.fromEntries(
      Array.from({ length: ACROSS * DOWN }, (_, nth) => {
        const [x, z] = [(nth % ACROSS) * 100, Math.floor(nth / ACROSS) * 100]
        const links = [nth - 1, nth + 1, nth - ACROSS, nth + ACROSS]
          .filter((one) => one >= 0 && one < ACROSS * DOWN)
          .map(nameOf)
        return [
          nameOf(nth),
          place('abc'[nth % 3] ?? 'a', since, { links, location: { start: [x, z], end: [x + 90, z + 90] } }),
        ]
      }),
    )
  const { open } = programSite(async (world) => {
    await world.sync(territories, bodyOf('08:00'), '10:00')
    await world.sync(territories, bodyOf('10:30'), '11:00')
  })

  /** Milliseconds between frames while the map is moved for so many steps, the 95th of 100. */
  async function slowFrame(zoomed: number): Promise<number> {
    const { page } = await open('/map')
    await page.locator('.map-port').focus()
    for (let nth = 0; nth < zoomed; nth++) await page.keyboard.press('+')
    const box = await page.locator('.map-port').boundingBox()
    if (!box) throw new Error('there is no map')
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.evaluate(
      'window.frames_ = []; requestAnimationFrame(function each(at) { frames_.push(at); requestAnimationFrame(each) })',
    )
    for (let nth = 0; nth < 150; nth++) {
      await page.mouse.move(x + 150 * Math.sin(nth / 8), y + 80 * Math.cos(nth / 8))
      await page.waitForTimeout(8)
    }
    const at = await page.evaluate<number[]>('frames_')
    const between = at.slice(1).map((one, nth) => one - (at[nth] ?? 0))
    expect(between.length).toBeGreaterThan(60)
    return between.sort((one, other) => one - other)[Math.floor(between.length * 0.95)] ?? Number.NaN
  }

  // Other processes take the processor, too: the best of three counts.
  test.each([0, 6])('moves with 50 frames a second and more, enlarged %i times', { retry: 2 }, async (zoomed) => {
    expect(await slowFrame(zoomed)).toBeLessThanOrEqual(20)
  })
})
