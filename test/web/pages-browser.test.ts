import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { findChromium } from '../support/chromium.ts'
import { lists } from '../support/page-lists.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'

const executablePath = findChromium()
const why =
  executablePath === undefined ? ' (skipped: no Chromium; set WYNNSYNC_TEST_CHROMIUM or install chromium)' : ''

/** What may be asked of the page; the compiler knows no browser here. */
declare const document: {
  readonly documentElement: { readonly scrollWidth: number }
  querySelector(selector: string): { readonly value?: string; readonly textContent: string } | null
}

const paths = [
  ...lists,
  '/map?at=2026-06-01T10:45Z',
  '/map#at=Oak&m=resources',
  '/territories/Oak',
  '/territories/Fir',
  '/items/bow',
  '/patches/1',
  '/api',
  '/none',
  `/territories/${encodeURIComponent(hostile.territory)}`,
  `/guilds/${encodeURIComponent(hostile.prefix)}`,
  `/players/${encodeURIComponent(hostile.player)}`,
  '/leaderboards/guildLevel',
]

/** Labels of axes that begin or end beside their picture. */
const labelsOutside = `[...document.querySelectorAll('svg.plot [data-mark*="tick label"] text')].flatMap((text) => {
  const [box, sheet] = [text, text.closest('svg')].map((one) => one.getBoundingClientRect())
  return box.width > 0 && (box.left < sheet.left - 1 || box.right > sheet.right + 1) ? [text.textContent] : []
})`

/** Labels of the picture of a patch that a line crosses. */
const labelsCrossed = `[...document.querySelectorAll('#patch svg.plot')].flatMap((svg) => {
  const lines = [...svg.querySelectorAll('line, [data-mark="tick"] path')].map((one) => one.getBoundingClientRect())
  return [...svg.querySelectorAll('[data-mark="text"] text')].flatMap((text) => {
    const box = text.getBoundingClientRect()
    const isCrossed = (line) => line.left > box.left && line.right < box.right && line.bottom > box.top + 2 && line.top < box.bottom - 2
    return box.width > 0 && lines.some(isCrossed) ? [text.textContent] : []
  })
})`

/** What keeps people with a screen reader, a keyboard or weak eyes out: the rule, and where it is broken. */
async function barriers(page: Page, ...rules: string[]): Promise<string[]> {
  // Run by the debugger, so that the page's policy stays as it is.
  if (rules.length === 0) await page.evaluate(axe.source)
  const options = JSON.stringify({
    resultTypes: ['violations'],
    preload: false,
    ...(rules.length > 0 && { runOnly: rules }),
  })
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(document, ${options})`)
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${target} ${failureSummary}`),
  )
}

describe.skipIf(executablePath === undefined)(`the pages in a browser${why}`, () => {
  const { served } = webWorld('server', liveWholeWorld)
  let browser: Browser
  beforeAll(async () => {
    // Tests may run as root, for whom its sandbox does not work; the pages are ours.
    browser = await chromium.launch({ executablePath: String(executablePath), args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  test.each([
    [360, 'light', true],
    [1280, 'dark', true],
    [360, 'dark', false],
  ] as const)(
    'open at %i px, %s, with scripts %s: nothing sticks out, nothing keeps readers out, nothing is requested from elsewhere, nothing complains',
    async (width, colorScheme, javaScriptEnabled) => {
      const { url } = await served()
      const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme, javaScriptEnabled })
      onTestFinished(() => context.close())
      const page = await context.newPage()
      const complaints: string[] = []
      page.on('console', (message) => complaints.push(`${page.url()}: ${message.text()}`))
      page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
      page.on('dialog', (dialog) => void complaints.push(`dialog: ${dialog.message()}`))
      page.on('request', (request) => {
        if (!request.url().startsWith(url)) complaints.push(`request: ${request.url()}`)
      })
      for (const path of paths) {
        await page.goto(`${url}${path}`)
        if (javaScriptEnabled) {
          const wide = await page.evaluate(() => document.documentElement.scrollWidth)
          expect.soft([path, wide <= width ? 'fits' : wide]).toEqual([path, 'fits'])
          expect.soft([path, await page.evaluate<string[]>(labelsOutside)]).toEqual([path, []])
          expect.soft([path, await page.evaluate<string[]>(labelsCrossed)]).toEqual([path, []])
          expect.soft([path, await barriers(page)]).toEqual([path, []])
          // Only colours differ in the other scheme.
          await page.emulateMedia({ colorScheme: colorScheme === 'light' ? 'dark' : 'light' })
          expect
            .soft([path, 'other colours', await barriers(page, 'color-contrast')])
            .toEqual([path, 'other colours', []])
          await page.emulateMedia({ colorScheme })
        }
      }
      // The browser itself reports the status of a page that does not exist.
      expect(complaints.filter((one) => !/status of 404/.test(one))).toEqual([])
    },
  )

  test('move the map by its slider, and open a territory from the list', async () => {
    const { url } = await served()
    const page = await browser.newPage()
    onTestFinished(() => page.close())
    await page.goto(`${url}/map`)
    const time = await page.locator('#map-time').textContent()
    await page.locator('#map-slider').press('Home')
    expect(await page.locator('#map-time').textContent()).not.toBe(time)
    // By the keyboard alone.
    await page.locator('#map-slider').press('Home')
    const states = page.locator('#map-legend')
    const first = await states.textContent()
    await page.locator('#map-speed').selectOption('4')
    await page.locator('#map-play').press('Enter')
    expect(await page.locator('#map-play').textContent()).toBe('Pause')
    await page.waitForFunction(() => Number(document.querySelector('#map-slider')?.value) > 2)
    await page.keyboard.press('Space')
    expect(await page.locator('#map-play').textContent()).toBe('Play')
    const paused = await page.locator('#map-slider').inputValue()
    await page.locator('#map-play').press('Enter')
    await page.waitForFunction(() => document.querySelector('#map-play')?.textContent === 'Play')
    const [end, most] = [
      await page.locator('#map-slider').inputValue(),
      await page.locator('#map-slider').getAttribute('max'),
    ]
    expect([Number(end) > Number(paused), end]).toEqual([true, most])
    expect(await states.textContent()).not.toBe(first)
    await page.locator('#map .scaled a[*|href="/territories/Oak"]').click()
    await page.locator('#map-card h4 a').click()
    await page.waitForURL('**/territories/Oak')
    expect(await page.locator('h1').textContent()).toMatch(/holds Oak/)
    await page.goBack()
    await page.getByRole('link', { name: 'Territories', exact: true }).click()
    await page.getByRole('link', { name: 'Oak' }).click()
    expect(await page.locator('h1').textContent()).toMatch(/holds Oak/)
    await page.goto(`${url}/map`)
    await page.getByText('at a moment').click()
    await page.getByRole('textbox', { name: 'At' }).fill('2026-06-01T10:45Z')
    await page.getByRole('button', { name: 'Show' }).click()
    expect(await page.locator('h1').textContent()).toMatch(/^Guild b holds the most/)
  })
})
