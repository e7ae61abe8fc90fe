import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { findChromium } from '../support/chromium.ts'
import { temporaryFolder, testDatabase } from '../support/postgres.ts'
import { hostile, liveSevenHours, reportOf } from '../support/report-world.ts'
import { openWorld } from '../support/world.ts'

const executablePath = findChromium()
const why =
  executablePath === undefined ? ' (skipped: no Chromium; set WYNNSYNC_TEST_CHROMIUM or install chromium)' : ''

/** What may be asked of the page; the compiler knows no browser here. */
declare const document: {
  readonly documentElement: { readonly scrollWidth: number }
  querySelectorAll(
    selector: string,
  ): Iterable<{ getBoundingClientRect(): { readonly left: number; readonly right: number } }>
}

describe.skipIf(executablePath === undefined)(`the report in a browser${why}`, () => {
  let browser: Browser
  let url: string
  beforeAll(async () => {
    const world = await openWorld(await testDatabase('server'))
    await liveSevenHours(world)
    const file = join(await temporaryFolder(), 'report.html')
    await writeFile(file, (await reportOf(world)).html)
    url = pathToFileURL(file).href
    await Promise.all([world.api.close(), world.sandbox.close()])
    // Tests may run as root, for whom its sandbox does not work; the page is ours.
    browser = await chromium.launch({ executablePath: String(executablePath), args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  /** Opens the page in a window; what goes wrong in it is in `told`. */
  async function open(width: number, options: object = {}): Promise<{ page: Page; told: string[] }> {
    const context = await browser.newContext({ viewport: { width, height: 800 }, ...options })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const told: string[] = []
    page.on('console', (message) => told.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => told.push(`error: ${error.message}`))
    page.on('dialog', (dialog) => void told.push(`dialog: ${dialog.message()}`))
    page.on('request', (request) => {
      if (request.url() !== url) told.push(`request: ${request.url()}`)
    })
    await page.goto(url)
    return { page, told }
  }

  test.each([360, 1280])(
    'opens at %i px: nothing sticks out, nothing is asked for, nothing complains',
    async (width) => {
      const { page, told } = await open(width)
      for (const summary of await page.locator('summary').all()) await summary.click()
      const wide = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(wide).toBeLessThanOrEqual(width)
      const outside = await page.evaluate(() =>
        [...document.querySelectorAll('figure, .scroll, svg.plot, h3, nav a')]
          .map((one) => one.getBoundingClientRect())
          .filter(({ left, right }) => left < 0 || right > document.documentElement.scrollWidth),
      )
      expect(outside).toEqual([])
      expect(told).toEqual([])
    },
  )

  test('the slider moves the map and its legend, by keyboard too', async () => {
    const { page, told } = await open(1280)
    const elm = page.locator('#map .wide rect', { hasText: 'Elm' })
    const [time, slider] = [page.locator('#map-time'), page.locator('#map-slider')]
    const held = page.locator('#map-legend li', { hasText: hostile.guild }).locator('b')
    const latest = await elm.getAttribute('fill')
    expect(await time.textContent()).toBe('1 Jun, 17:00 UTC')
    expect(await held.textContent()).toBe('2')
    await slider.press('Home')
    expect(await time.textContent()).toBe('1 Jun, 10:00 UTC')
    expect(await elm.getAttribute('fill')).not.toBe(latest)
    expect(await elm.locator('title').textContent()).toBe('Elm: Guild b')
    expect(await held.textContent()).toBe('1')
    await slider.press('ArrowRight')
    expect(await time.textContent()).not.toBe('1 Jun, 10:00 UTC')
    await slider.press('End')
    expect(await elm.getAttribute('fill')).toBe(latest)
    expect(told).toEqual([])
  })

  test('without a script the last moment is shown, and no slider that does nothing', async () => {
    const { page } = await open(360, { javaScriptEnabled: false })
    expect(await page.locator('#map .narrow rect', { hasText: `Elm: ${hostile.guild}` }).count()).toBe(1)
    expect(await page.locator('#map-slider').isVisible()).toBe(false)
  })

  test('on paper, tables are open', async () => {
    const { page } = await open(1280, { javaScriptEnabled: false })
    const cell = page.locator('#matrix td').first()
    expect(await cell.isVisible()).toBe(false)
    await page.emulateMedia({ media: 'print' })
    expect(await cell.isVisible()).toBe(true)
  })
})
