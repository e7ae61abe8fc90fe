import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import { nameFinders } from '../../src/resources/key-names.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { serveWeb } from '../../src/web/web-server.ts'
import { findChromium } from '../support/chromium.ts'
import { guildId, place } from '../support/guild-answers.ts'
import { request } from '../support/http-request.ts'
import { hostile } from '../support/report-world.ts'
import { worldOf } from '../support/world.ts'

const executablePath = findChromium()
const why =
  executablePath === undefined ? ' (skipped: no Chromium; set WYNNSYNC_TEST_CHROMIUM or install chromium)' : ''

const at = (x: number) => ({ location: { start: [x, 0], end: [x + 90, 60] } })
const oak = (of: string, acquired: string) => place(of, acquired, at(0))
const elm = place('b', '09:00', at(100))

describe('captures as they come', () => {
  const world = worldOf('server')

  /** The same server again on the same port, when one is given. */
  async function served(port = 0) {
    const { db, clock } = world
    const options = { host: '127.0.0.1', port, flag: '--port', requestsPerMinute: 0, people: true, timeoutMs: 5000 }
    const context = { db, finders: nameFinders, clock, log: createLog('error', clock) }
    const server = await serveWeb(context, { ...options, version: 'test' })
    onTestFinished(() => server.close())
    return server
  }

  const sync = async (body: object, instant: string) => {
    await world.sync(territories, body, instant, { notifies: true })
  }

  test('are in one document, which is made once a second and for each later change', async () => {
    await sync({ Oak: oak('a', '08:00'), Elm: elm, Ash: place(null, null, at(200)) }, '10:00')
    const { url } = await served()
    const ask = async (after = '') => JSON.parse((await request(url, `/map.json?after=${after}`)).text)
    const first = await ask()
    expect(first).toMatchObject({ at: '1 Jun, 10:00', isRecent: true, holders: { Ash: -1 } })
    const holderOf = ({ guilds, holders }: typeof first, name: string) => guilds[holders[name]]?.slice(0, 2)
    expect([holderOf(first, 'Oak'), holderOf(first, 'Elm')]).toEqual([
      ['Guild a', 'aaa'],
      ['Guild b', 'bbb'],
    ])
    await sync({ Oak: oak('b', '10:30'), Elm: elm, Ash: place(null, null, at(200)) }, '11:00')
    expect(holderOf(await ask('2'), 'Oak')).toEqual(['Guild b', 'bbb'])
    await world.db.query(`update game.territory_hold set guild_name = 'Guild c' where territory = 'Oak'`)
    expect(holderOf(await ask('2'), 'Oak')).toEqual(['Guild b', 'bbb'])
    expect(holderOf(await ask('3'), 'Oak')).toEqual(['Guild c', 'bbb'])
  })

  test('are not live where nothing was received for an hour, and of the latest response where one of them was not in it', async () => {
    await sync({ Ash: elm, Oak: oak('a', '08:00'), Elm: elm }, '10:00')
    for (const time of ['10:01', '10:02']) await sync({ Ash: { guild: 7 }, Oak: oak('a', '08:00'), Elm: elm }, time)
    const { url } = await served()
    const ask = async () => JSON.parse((await request(url, '/map.json')).text)
    expect(await ask()).toMatchObject({ at: '1 Jun, 10:02', isRecent: true })
    await world.clock.advance(2 * 3_600_000)
    expect(await ask()).toMatchObject({ at: '1 Jun, 10:02', isRecent: false })
  })

  test('may only be asked for by the map', async () => {
    await sync({ Oak: oak('a', '08:00') }, '10:00')
    const { url } = await served()
    const policyOf = async (path: string) => (await request(url, path)).headers['content-security-policy']
    expect(await policyOf('/map')).toContain(`connect-src 'self'`)
    expect(await policyOf('/territories')).not.toContain('connect-src')
    expect((await request(url, '/map?at=2026-06-01T10:00Z')).text).not.toContain('id="map-live"')
  })

  describe.skipIf(executablePath === undefined)(`in a browser${why}`, () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath: String(executablePath), args: ['--no-sandbox'] })
    })
    afterAll(() => browser?.close())

    async function opened(url: string): Promise<{ page: Page; complaints: string[] }> {
      const page = await browser.newPage()
      onTestFinished(() => page.close())
      const complaints: string[] = []
      page.on('console', (message) => complaints.push(message.text()))
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('dialog', (dialog) => void complaints.push(`dialog: ${dialog.message()}`))
      await page.goto(`${url}/map`)
      await page.locator('#map-live p', { hasText: 'Live' }).waitFor()
      return { page, complaints }
    }

    /** The log has `text`; meanwhile seconds pass for the server. */
    async function told(page: Page, text: string): Promise<void> {
      const line = page.locator('#map-live li', { hasText: text })
      for (let second = 0; second < 100 && (await line.count()) === 0; second++) {
        await world.clock.advance(1000)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      expect(await page.locator('#map-live li').allTextContents()).toContainEqual(expect.stringContaining(text))
    }

    const tooltip = (page: Page, name: string) =>
      page.locator('#map .scaled rect title', { hasText: `${name}:` }).textContent()

    test('move the map, its legend and its slider, and are told below it', async () => {
      await sync({ Oak: oak('a', '08:00'), Elm: elm, [hostile.territory]: place('a', '08:00', at(300)) }, '10:00')
      const { page, complaints } = await opened((await served()).url)
      const held = () => page.locator('#map-legend li', { hasText: 'Guild a' }).locator('b').textContent()
      expect([await tooltip(page, 'Oak'), await held()]).toEqual(['Oak: Guild a', '2'])
      const guild = { uuid: guildId('c'), name: hostile.guild, prefix: hostile.prefix }
      const after = { Oak: oak('b', '10:59'), Elm: place('c', '10:59', { guild, ...at(100) }) }
      await sync({ ...after, [hostile.territory]: place(null, null, at(300)) }, '11:00')
      await told(page, '1 Jun, 11:00 UTC: Guild b took Oak from Guild a')
      await told(page, `${hostile.guild} took Elm from Guild b`)
      await told(page, `${hostile.territory} has no known holder any more`)
      expect([await tooltip(page, 'Oak'), await held()]).toEqual(['Oak: Guild b', '0'])
      expect(await page.locator('#map-time').textContent()).toBe('1 Jun, 11:00 UTC')
      const finding = await page.locator('h1').textContent()
      expect(finding).toMatch(/^No guild holds more than .*: 1 of 3 territories$/)
      expect(await page.title()).toBe(`${finding} · wynnsync`)
      // Who looks at another moment stays there.
      await page.locator('#map-slider').press('Home')
      const moment = await page.locator('#map-time').textContent()
      await sync({ ...after, Oak: oak('a', '11:59'), [hostile.territory]: place(null, null, at(300)) }, '12:00')
      await told(page, '1 Jun, 12:00 UTC: Guild a took Oak from Guild b')
      expect(await page.locator('#map-time').textContent()).toBe(moment)
      await page.locator('#map-slider').press('End')
      expect([await tooltip(page, 'Oak'), await page.locator('#map-time').textContent()]).toEqual([
        'Oak: Guild a',
        '1 Jun, 12:00 UTC',
      ])
      expect(complaints).toEqual([])
    })

    test('of the time without a server are told when it is back', async () => {
      await sync({ Oak: oak('a', '08:00'), Elm: elm }, '10:00')
      const first = await served()
      const { page } = await opened(first.url)
      await first.close()
      await page.locator('#map-live p', { hasText: 'the server is away' }).waitFor()
      await sync({ Oak: oak('b', '10:59'), Elm: elm }, '11:00')
      await served(Number(new URL(first.url).port))
      await told(page, 'Guild b took Oak from Guild a')
      expect(await page.locator('#map-live p').textContent()).toMatch(/^Live/)
    })
  })
})
