import { once } from 'node:events'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import { findChromium } from '../support/chromium.ts'
import { buildProgram, type Running, startProgram } from '../support/cli.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import { openWorld } from '../support/world.ts'

const executablePath = findChromium()
const why =
  executablePath === undefined ? ' (skipped: no Chromium; set WYNNSYNC_TEST_CHROMIUM or install chromium)' : ''

/** The sizes at which every page is looked at. */
const widths = [360, 768, 1280, 1440]

describe.skipIf(executablePath === undefined)(`the site of the program in a browser${why}`, () => {
  let browser: Browser
  let program: Running
  let url: string

  beforeAll(async () => {
    await buildProgram()
    const databaseUrl = await testDatabaseUrl()
    const db = await openServer(databaseUrl)
    const world = await openWorld(db)
    await liveWholeWorld(world)
    await world.api.close()
    await world.sandbox.close()
    await db.close()
    program = startProgram(['serve', '--port', '0', '--rate-limit', '0', '--json', '--database-url', databaseUrl])
    const [line] = (await once(program.child.stdout as NodeJS.ReadableStream, 'data')) as [string]
    url = JSON.parse(line).url
    browser = await chromium.launch({ executablePath: String(executablePath), args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser?.close()
    program?.child.kill('SIGTERM')
    await program?.finished
  })

  /** A page of the site, and what its scripts complain about. */
  async function open(path: string, options: Parameters<Browser['newPage']>[0] = {}) {
    const page = await browser.newPage(options)
    onTestFinished(() => page.close())
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('dialog', (dialog) => void complaints.push(`dialog: ${dialog.message()}`))
    await page.goto(`${url}${path}`)
    return { page, complaints }
  }

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

  test.each(widths)('no page is wider than a window of %i px, in the light or dark', async (width) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const { page } = await open('/', { viewport: { width, height: 900 }, colorScheme })
      for (const path of ['/', '/captures', '/search?q=a', '/guilds', '/status', '/items', '/worlds', '/gained']) {
        await page.goto(`${url}${path}`)
        expect([path, await overhang(page)]).toEqual([path, 0])
      }
    }
  })
})
