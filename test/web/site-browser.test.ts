import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { findChromium } from '../support/chromium.ts'
import { runProgram } from '../support/cli.ts'
import { guildId } from '../support/guild-answers.ts'
import { lists } from '../support/page-lists.ts'
import { temporaryFolder } from '../support/postgres.ts'
import { programSite } from '../support/program-site.ts'
import { liveWholeWorld } from '../support/whole-world.ts'

const executablePath = findChromium()
const why =
  executablePath === undefined ? ' (skipped: no Chromium; set WYNNSYNC_TEST_CHROMIUM or install chromium)' : ''

/** The sizes at which every page is looked at. */
const widths = [360, 768, 850, 1280, 1440]

describe.skipIf(executablePath === undefined)(`the site of the program in a browser${why}`, () => {
  const { at, newPage, open } = programSite(liveWholeWorld)

  /** Pixels by which the page is wider than the window. */
  const overhang = (page: Page) =>
    page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth')

  test('/ goes to the search from everywhere, and the search to the only hit', async () => {
    const { page, complaints } = await open('/territories')
    await page.keyboard.press('/')
    await page.keyboard.type('oak')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/territories/Oak')
    expect(complaints).toEqual([])
  })

  test('the time of the reader stands beside UTC, and nothing where they are the same', async () => {
    const localOf = async (timezoneId: string) => {
      const { page } = await open('/captures', { timezoneId })
      return await page.locator('td time').first().getAttribute('data-local')
    }
    const [utc] = [await localOf('UTC')]
    expect(utc).toBeNull()
    expect(await localOf('Asia/Kolkata')).toMatch(/^(\d+ \w+, )?\d\d:[03]\d$/)
  })

  test('a period is chosen by a click, and back shows the one before', async () => {
    const { page } = await open('/captures')
    const title = await page.locator('h1').textContent()
    await page.locator('.period summary').click()
    await page.locator('.period input[name=from]').fill('2026-05-01')
    await page.locator('.period input[name=to]').fill('2026-05-02')
    await page.locator('.period button').click()
    await page.waitForURL('**/captures?from=2026-05-01&to=2026-05-02')
    expect(await page.locator('h1').textContent()).toBe('No capture was seen in this period')
    await page.goBack()
    expect(await page.locator('h1').textContent()).toBe(title)
  })

  test('another counter and kind are chosen on the page of gains', async () => {
    const { page, complaints } = await open('/gained')
    await page.locator('select[name=counter]').selectOption({ index: 1 })
    await page.locator('form[action="/gained"] button').first().click()
    await page.waitForURL('**/gained?kind=guild&counter=**')
    expect(await page.evaluate(`document.querySelector('select[name=counter]').selectedIndex`)).toBe(1)
    expect(complaints).toEqual([])
  })

  test('the first page follows the map, and each of its territories leads to its page', async () => {
    const { page, complaints } = await open('/')
    await expect
      .poll(() => page.locator('#home-live').textContent())
      .toMatch(/^Nothing was received since 1 Jun, .*: captures appear here/)
    await page.locator('#home-map rect[data-place=Oak]').click()
    await page.waitForURL('**/territories/Oak')
    expect(complaints).toEqual([])
  })

  test('members of a guild are sorted by a click on a heading, and a rival is compared', async () => {
    const { page, complaints } = await open(`/guilds/${guildId('a')}`)
    const first = () => page.locator('#members-list tbody td').first().textContent()
    await page.locator('#members-list th a', { hasText: 'Member' }).click()
    await page.waitForURL('**?sort=name#members')
    const byName = await first()
    await page.locator('#members-list th a', { hasText: 'Member' }).click()
    await page.waitForURL('**?sort=-name#members')
    expect(await first()).not.toBe(byName)
    await page.locator('#rivals a', { hasText: 'compare' }).first().click()
    await page.waitForURL('**?sort=-name&rival=*')
    expect(await page.locator('#rival-hours h3').textContent()).toMatch(/^Guild b: /)
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 })
      expect([width, await overhang(page)]).toEqual([width, 0])
    }
    expect(complaints).toEqual([])
  })

  test('the status leads to the runs of a resource, and these to each', async () => {
    const { page, complaints } = await open('/status')
    expect(await page.locator('.resources li').count()).toBeGreaterThan(3)
    await page.locator('.resources li a', { hasText: /^items$/ }).click()
    await page.waitForURL('**/runs?resource=items')
    await page.locator('#runs td a').first().click()
    await page.waitForURL('**/runs/*')
    expect(await page.locator('h1').textContent()).toMatch(/^items: /)
    expect(complaints).toEqual([])
  })

  test('the map is moved and enlarged by wheel, keys and buttons without drawing a territory anew', async () => {
    const { page, complaints } = await open('/map')
    const port = page.locator('.map-port')
    const transform = () => page.evaluate<string>(`document.querySelector('.map-port svg.plot').style.transform`)
    const settled = async (change: () => Promise<unknown>) => {
      const before = await transform()
      await change()
      await expect.poll(transform).not.toBe(before)
    }
    await page.evaluate(`new MutationObserver((all) => { window.drawn = (window.drawn ?? 0) + all.length })
      .observe(document.querySelector('.map-port svg g[data-mark=rect]'), { attributes: true, subtree: true, childList: true })`)
    const box = await port.boundingBox()
    if (!box) throw new Error('there is no map')
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
    await settled(() => page.mouse.wheel(0, -300))
    await page.mouse.down()
    await settled(() => page.mouse.move(box.x + box.width / 2 + 50, box.y + box.height / 2 + 20, { steps: 4 }))
    await page.mouse.up()
    await port.focus()
    for (const key of ['+', 'ArrowLeft', '-', '0']) await settled(() => page.keyboard.press(key))
    await settled(() => page.locator('#map-in').click())
    expect(await page.evaluate('window.drawn ?? 0')).toBe(0)
    expect(complaints).toEqual([])
  })

  test('two fingers on the map enlarge it by as much as they part, and move it; one moves it, and a tap opens a card', async () => {
    const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }
    const { page, complaints } = await open('/map', phone)
    const port = page.locator('.map-port')
    await port.scrollIntoViewIfNeeded()
    const box = await port.boundingBox()
    if (!box) throw new Error('there is no map')
    const client = await page.context().newCDPSession(page)
    const touch = (
      type: 'touchStart' | 'touchMove' | 'touchEnd',
      ...points: readonly (readonly [x: number, y: number, id: number])[]
    ) => client.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y, id]) => ({ x, y, id })) })
    const shown = async () => {
      // What is moved is placed with the next frame.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      const transform = await page.evaluate<string>(`document.querySelector('.map-port svg.plot').style.transform`)
      const [x = 0, y = 0, zoom = 0] = (transform.match(/-?[\d.]+/g) ?? []).map(Number)
      return { x, y, zoom }
    }
    const whereIs = (at: { x: number; y: number; zoom: number }, x: number, y: number) => [
      (x - box.x - at.x) / at.zoom,
      (y - box.y - at.y) / at.zoom,
    ]
    const scrolled = () => page.evaluate<[number, number]>('[scrollY, visualViewport.scale]')
    const [before, page0] = [await shown(), await scrolled()]
    const [x, y] = [box.x + box.width / 2, box.y + 150]
    await touch('touchStart', [x - 30, y, 0], [x + 30, y, 1])
    for (const far of [45, 60, 75, 90]) await touch('touchMove', [x - far, y, 0], [x + far, y, 1])
    const near = await shown()
    expect(near.zoom).toBeCloseTo(before.zoom * 3, 1)
    // What was between the fingers still is.
    const [was, is] = [whereIs(before, x, y), whereIs(near, x, y)]
    expect(Math.hypot((was[0] ?? 0) - (is[0] ?? 0), (was[1] ?? 0) - (is[1] ?? 0))).toBeLessThan(3)
    for (const by of [10, 20, 30]) await touch('touchMove', [x - 90 + by, y + by, 0], [x + 90 + by, y + by, 1])
    const moved = await shown()
    expect([moved.zoom, moved.x - near.x, moved.y - near.y].map((one) => Math.round(one))).toEqual([3, 30, 30])
    // One is lifted; the other goes on.
    await touch('touchEnd', [x - 60, y + 30, 0])
    for (const by of [10, 20]) await touch('touchMove', [x + 120 - by, y + 30, 1])
    const dragged = await shown()
    expect([dragged.zoom, dragged.x - moved.x, dragged.y - moved.y].map((one) => Math.round(one))).toEqual([3, -20, 0])
    // A finger that rests before it is lifted throws nothing: what is thrown takes the next tap.
    await page.waitForTimeout(300)
    await touch('touchEnd')
    expect(await page.locator('#map-card').isVisible()).toBe(false)
    expect(await scrolled()).toEqual(page0)
    await page.locator('#map-whole').tap()
    await expect.poll(async () => (await shown()).zoom).toBe(1)
    const place = await page.locator('.map-port svg.plot g[data-mark=rect] rect').first().boundingBox()
    const middle = [(place?.x ?? 0) + (place?.width ?? 0) / 2, (place?.y ?? 0) + (place?.height ?? 0) / 2, 0] as const
    await touch('touchStart', middle)
    await touch('touchEnd')
    await page.locator('#map-card').waitFor()
    expect(complaints).toEqual([])
  })

  test('a territory of the map has a card, by a click or Enter, and the address keeps what is shown', async () => {
    const { page, complaints } = await open('/map')
    const card = page.locator('#map-card')
    const shownAs = (what: string) => page.evaluate(`getComputedStyle(document.querySelector('${what}')).display`)
    await page.locator('.map-port').focus()
    await page.keyboard.press('Enter')
    await card.waitFor()
    const name = await card.locator('h4').textContent()
    expect(await card.locator('dl').textContent()).toContain('Held by')
    await page.keyboard.press('Escape')
    expect(await card.isVisible()).toBe(false)
    await page.locator('.map-port svg.plot g[data-mark=rect] rect').nth(1).click()
    await card.waitFor()
    await page.selectOption('#map-mode', 'treasury')
    expect(await shownAs('path.routes')).toBe('inline')
    await page.locator('#map-routes').uncheck()
    await page.locator('#map-before').click()
    await page.waitForURL(/#.*m=treasury&r=0/)
    await page.waitForURL(/#t=/)
    const [time, territory] = [await page.locator('#map-time').textContent(), await card.locator('h4').textContent()]
    await page.reload()
    await card.waitFor()
    expect(await page.locator('#map-time').textContent()).toBe(time)
    expect(await shownAs('path.routes')).toBe('none')
    expect([await page.inputValue('#map-mode'), await card.locator('h4').textContent()]).toEqual([
      'treasury',
      territory,
    ])
    expect(name).not.toBe('')
    expect(complaints).toEqual([])
  })

  test('guilds of the map have lines where few colours are seen, in the legend too, and the address keeps that', async () => {
    const { page, complaints } = await open('/map')
    const fillsOf = (of: string) =>
      page.evaluate<string[]>(`[...document.querySelectorAll('${of}')].map((one) => one.getAttribute('fill'))`)
    const plain = await fillsOf('#map-legend [data-guild]:not([data-guild="-1"]) rect')
    expect(plain.filter((fill) => fill.startsWith('#')).length).toBeGreaterThan(1)
    await page.selectOption('#map-mode', 'patterns')
    await page.waitForURL(/#m=patterns$/)
    await page.reload()
    const lined = await fillsOf('#map-legend [data-guild]:not([data-guild="-1"]) rect')
    expect(new Set(lined).size).toBe(plain.length)
    expect(lined.filter((fill) => /^url\(#guild-\d+\)$/.test(fill))).toEqual(lined)
    const places = await fillsOf('.map-port svg.plot g[data-mark=rect] rect')
    expect(places.filter((fill) => !lined.includes(fill) && fill !== 'url(#unknown)')).toEqual([])
    await page.selectOption('#map-mode', 'guild')
    expect(await fillsOf('#map-legend [data-guild]:not([data-guild="-1"]) rect')).toEqual(plain)
    expect(complaints).toEqual([])
  })

  test('from near, places of the map have names and resources, and from nearer treasury and defences', async () => {
    const { page, complaints } = await open('/map')
    await page.locator('.map-port').focus()
    const seen = async (what: string) => await page.locator(`.map-port .names .${what}`).first().isVisible()
    for (let nth = 0; nth < 5; nth++) await page.keyboard.press('+')
    await expect.poll(() => seen('place')).toBe(true)
    expect(await seen('levels')).toBe(false)
    for (let nth = 0; nth < 3; nth++) await page.keyboard.press('+')
    await expect.poll(() => seen('levels')).toBe(true)
    expect(await page.locator('.map-port .names .levels').first().textContent()).toMatch(/^treasury .+, defences .+$/)
    expect(complaints).toEqual([])
  })

  test('an export is a site in a folder, without a server', async () => {
    const folder = join(await temporaryFolder(), 'site')
    const done = await runProgram(['serve', '--export', folder, '--json', '--database-url', at.databaseUrl])
    expect(JSON.parse(done.out)).toMatchObject({ dir: folder, failed: 0, leftOut: 0, removed: 0 })
    const { page, complaints } = await newPage()
    await page.goto(pathToFileURL(join(folder, 'index.html')).href)
    await page.locator('.site a', { hasText: 'Map' }).click()
    await page.locator('.map-port').focus()
    await page.keyboard.press('Enter')
    await page.locator('#map-card h4 a').click()
    await page.waitForURL('**/territories/*.html')
    await page.locator('.site a', { hasText: 'Items' }).click()
    await page.locator('main td a').first().click()
    await page.waitForURL('**/items/*.html')
    expect(complaints).toEqual([])
  })

  test('all script of the site is at most 100 kB, and the map is there without it', async () => {
    const scripts = await Promise.all(
      ['/', '/map'].map(async (path) => {
        const text = await (await fetch(`${at.url}${path}`)).text()
        return [...text.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, script = '']) => script)
      }),
    )
    const bytes = [...new Set(scripts.flat())].reduce((sum, script) => sum + script.length, 0)
    expect(bytes).toBeGreaterThan(1000)
    expect(bytes).toBeLessThan(100_000)
    const { page } = await open('/map', { javaScriptEnabled: false })
    expect(await page.locator('.map-port svg.plot rect').count()).toBeGreaterThan(2)
    expect(await page.locator('.map-tools').isVisible()).toBe(false)
  })

  test.each([360, 768])(
    'no table of a page scrolls sideways in a window of %i px: its values are below each other, with their headings',
    async (width) => {
      const { page, complaints } = await open('/', { viewport: { width, height: 900 } })
      const sideways = () =>
        page.evaluate<string[]>(
          `[...document.querySelectorAll('main .scroll')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.closest('[id]').id)`,
        )
      for (const path of [...lists, `/guilds/${guildId('a')}`, '/territories/Oak']) {
        await page.goto(`${at.url}${path}`)
        expect([path, await sideways()]).toEqual([path, []])
      }
      await page.goto(`${at.url}/guilds`)
      const style = (of: string, what: string) =>
        page.evaluate<string>(
          `getComputedStyle(document.querySelector('#list tbody td:nth-child(5)'), '${of}').${what}`,
        )
      expect(await style('::before', 'content')).toBe(width === 360 ? '"Online"' : 'none')
      await page.setViewportSize({ width: 1280, height: 900 })
      await expect.poll(() => style('', 'display')).toBe('table-cell')
      expect(complaints).toEqual([])
    },
  )

  test.each(widths)('no page is wider than a window of %i px, in the light or dark', async (width) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open('/', { viewport: { width, height: 900 }, colorScheme })
      for (const path of lists) {
        await page.goto(`${at.url}${path}`)
        expect([path, await overhang(page)]).toEqual([path, 0])
      }
    }
  })
})
