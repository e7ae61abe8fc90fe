import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import { findChromium } from '../support/chromium.ts'
import { buildProgram, runProgram } from '../support/cli.ts'
import { temporaryFolder, testDatabaseUrl } from '../support/postgres.ts'
import { liveWeek, turning } from '../support/report-week.ts'
import { hostile, liveSevenHours } from '../support/report-world.ts'
import { openWorld, type World } from '../support/world.ts'

const executablePath = findChromium()
const why =
  executablePath === undefined ? ' (skipped: no Chromium; set WYNNSYNC_TEST_CHROMIUM or install chromium)' : ''

/** What may be asked of the page; the compiler knows no browser here. */
interface Shown {
  readonly textContent: string
  querySelectorAll(selector: string): Iterable<Shown>
  getBoundingClientRect(): Readonly<Record<'left' | 'right' | 'top' | 'bottom', number>>
}
declare const document: Shown & { readonly documentElement: { readonly scrollWidth: number } }

const turns = (text: string) => text.includes('\u202e') || text.includes('\u001b')

describe.skipIf(executablePath === undefined)(`the report in a browser${why}`, () => {
  let browser: Browser
  let url: string
  let week: string
  const written = async (live: (world: World) => Promise<void>) => {
    const environment = { DATABASE_URL: await testDatabaseUrl() }
    const db = await openServer(environment.DATABASE_URL)
    const world = await openWorld(db)
    await live(world)
    await Promise.all([world.api.close(), world.sandbox.close(), db.close()])
    const file = join(await temporaryFolder(), 'report.html')
    const { code, err } = await runProgram(['report', '--out', file], environment)
    expect([code, err]).toEqual([0, expect.any(String)])
    return pathToFileURL(file).href
  }
  beforeAll(async () => {
    await buildProgram()
    url = await written(liveSevenHours)
    week = await written(liveWeek)
    // Tests may run as root, for whom its sandbox does not work; the page is ours.
    browser = await chromium.launch({ executablePath: String(executablePath), args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  /** Opens the page in a window; what goes wrong in it is in `told`. */
  async function open(width: number, options: object = {}, address = url): Promise<{ page: Page; told: string[] }> {
    const context = await browser.newContext({ viewport: { width, height: 800 }, ...options })
    onTestFinished(() => context.close())
    const page = await context.newPage()
    const told: string[] = []
    page.on('console', (message) => told.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => told.push(`error: ${error.message}`))
    page.on('dialog', (dialog) => void told.push(`dialog: ${dialog.message()}`))
    page.on('request', (request) => {
      if (request.url() !== address) told.push(`request: ${request.url()}`)
    })
    await page.goto(address)
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
    const elm = page.locator('#map .scaled rect', { hasText: 'Elm' })
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
    expect(await page.locator('#map .scaled rect', { hasText: `Elm: ${hostile.guild}` }).count()).toBe(1)
    expect(await page.locator('#map-slider').isVisible()).toBe(false)
  })

  test('on paper, tables are open', async () => {
    const { page } = await open(1280, { javaScriptEnabled: false })
    const cell = page.locator('#matrix td').first()
    expect(await cell.isVisible()).toBe(false)
    await page.emulateMedia({ media: 'print' })
    expect(await cell.isVisible()).toBe(true)
  })

  describe('of a week with many guilds', () => {
    const labels = (page: Page) =>
      page.evaluate(() => {
        const places = [...document.querySelectorAll('#map .scaled g[data-mark=rect] rect')]
        const texts = [...document.querySelectorAll('#map .scaled g[data-mark=text] text')]
        const shown = texts.flatMap((text, index) => {
          const [inner, outer] = [text, places[index]].map((one) => one?.getBoundingClientRect())
          return text.textContent.trim() !== '' && inner && outer ? [{ inner, outer }] : []
        })
        const isOutside = ({ inner, outer }: (typeof shown)[0]) =>
          inner.left < outer.left || inner.right > outer.right || inner.top < outer.top || inner.bottom > outer.bottom
        return { shown: shown.length, outside: shown.filter(isOutside).length }
      })

    const some = { shown: expect.toSatisfy((count: number) => count > 20 && count < 90), outside: 0 }

    test.each(['light', 'dark'] as const)('labels stay inside their places when it is %s', async (colorScheme) => {
      const still = await open(1280, { colorScheme, javaScriptEnabled: false }, week)
      expect(await labels(still.page)).toEqual(some)
      const { page, told } = await open(1280, { colorScheme }, week)
      for (const key of ['End', 'ArrowLeft', 'PageDown']) {
        await page.locator('#map-slider').press(key)
        expect(await labels(page)).toEqual(some)
      }
      expect(told).toEqual([])
    })

    test.each([
      [360, 1],
      [600, 2],
      [1280, 1],
    ])('the legend has straight columns at %i px', async (width, columns) => {
      const { page } = await open(width, {}, week)
      const edges = await page.evaluate(() => {
        const column = (selector: string, edge: 'left' | 'right') =>
          [...document.querySelectorAll(`#map-legend ${selector}`)].map((one) =>
            Math.round(one.getBoundingClientRect()[edge]),
          )
        return { names: column('[data-guild] .name', 'left'), numbers: column('b', 'right') }
      })
      expect([new Set(edges.names).size, new Set(edges.numbers).size]).toEqual([columns, columns])
    })

    test('the small pictures are in the order of their numbers', async () => {
      const { page } = await open(1280, {}, week)
      const numbers = await page.evaluate(() =>
        [...document.querySelectorAll('#empires .wide g[font-weight="700"] text')]
          .map((one) => ({
            text: one.textContent,
            top: Math.round(one.getBoundingClientRect().top),
            right: one.getBoundingClientRect().right,
          }))
          .sort((a, b) => a.top - b.top || a.right - b.right)
          .map(({ text }) => Number(text)),
      )
      expect(numbers.length).toBe(16)
      expect(numbers).toEqual([...numbers].sort((a, b) => b - a))
    })

    test('fits eight sheets of paper, and says where the other rows are', async () => {
      const { page } = await open(1280, {}, week)
      const paper = await page.pdf({ format: 'A4' })
      const sheets = paper.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length
      expect(sheets).toBeGreaterThan(2)
      expect(sheets).toBeLessThanOrEqual(8)
      await page.emulateMedia({ media: 'print' })
      expect(await page.locator('#map tbody tr:visible').count()).toBe(20)
      expect(await page.locator('#map .on-paper').textContent()).toContain('wynnsync report --tables')
      await page.emulateMedia({ media: 'screen' })
      expect(await page.locator('#map tbody tr').count()).toBeGreaterThan(20)
    })

    test('no name turns the text around it, in the title, in the map or in a table', async () => {
      const { page } = await open(1280, {}, week)
      expect(turns(turning)).toBe(true)
      expect(turns(await page.content())).toBe(false)
      expect(await page.locator('#map-legend', { hasText: 'Tur\\u202en\\u001b[31ming' }).count()).toBe(1)
      await page.locator('#map-slider').press('PageDown')
      expect(turns(await page.content())).toBe(false)
    })
  })
})
