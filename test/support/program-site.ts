import { once } from 'node:events'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { openServer } from '../../src/db/server/server.ts'
import { findChromium } from './chromium.ts'
import { buildProgram, type Running, startProgram } from './cli.ts'
import { testDatabaseUrl } from './postgres.ts'
import { openWorld, type World } from './world.ts'

/** A page of a site, and what its scripts complain about. */
export interface Opened {
  readonly page: Page
  readonly complaints: string[]
}

/** The pages that the program serves of a world, in a browser, for all tests of the calling `describe`. */
export function programSite(live: (world: World) => Promise<void>) {
  let browser: Browser
  let program: Running
  const at = { url: '', databaseUrl: '' }
  beforeAll(async () => {
    await buildProgram()
    at.databaseUrl = await testDatabaseUrl()
    const db = await openServer(at.databaseUrl)
    const world = await openWorld(db)
    await live(world)
    await world.api.close()
    await world.sandbox.close()
    await db.close()
    program = startProgram(['serve', '--port', '0', '--rate-limit', '0', '--json', '--database-url', at.databaseUrl])
    const [line] = (await once(program.child.stdout as NodeJS.ReadableStream, 'data')) as [string]
    at.url = JSON.parse(line).url
    browser = await chromium.launch({ executablePath: String(findChromium()), args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser?.close()
    program?.child.kill('SIGTERM')
    await program?.finished
  })
  const newPage = async (options: Parameters<Browser['newPage']>[0] = {}): Promise<Opened> => {
    const page = await browser.newPage(options)
    onTestFinished(() => page.close())
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('dialog', (dialog) => void complaints.push(`dialog: ${dialog.message()}`))
    return { page, complaints }
  }
  return {
    at,
    newPage,
    /** A page at a path of the site. */
    async open(path: string, options: Parameters<Browser['newPage']>[0] = {}): Promise<Opened> {
      const opened = await newPage(options)
      await opened.page.goto(`${at.url}${path}`)
      return opened
    },
  }
}
