import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { extname, join, posix } from 'node:path'
import axe from 'axe-core'
import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { findChromium } from '../support/chromium.ts'

const site = join(import.meta.dirname, '../../site')
const dist = join(site, 'dist')
const isInstalled = existsSync(join(site, 'node_modules/vitepress'))
const executablePath = findChromium()

/** Of a page of the site: where its links and its parts lead. */
function linksOf(html: string): string[] {
  return [...html.matchAll(/<(?:a|link|script|img)\b[^>]*?\b(?:href|src)="([^"]*)"/g)].map(([, link = '']) => link)
}

const idsOf = (path: string) =>
  new Set([...readFileSync(join(dist, path), 'utf8').matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id))

describe.skipIf(!isInstalled)(
  `the documentation as a site${isInstalled ? '' : ' (skipped: run npm ci --prefix site)'}`,
  () => {
    let server: Server
    let url: string
    beforeAll(async () => {
      execFileSync('npm', ['run', 'build', '--prefix', site], { stdio: 'pipe' })
      const types: Record<string, string> = {
        '.html': 'text/html',
        '.js': 'text/javascript',
        '.css': 'text/css',
        '.svg': 'image/svg+xml',
      }
      server = createServer(({ url = '/' }, response) => {
        const path = decodeURIComponent(url.split('?')[0] ?? '/').replace(/\/$/, '/index.html')
        const file = join(dist, extname(path) === '' ? `${path}.html` : path)
        if (!existsSync(file)) {
          response.writeHead(404).end()
          return
        }
        response.setHeader('content-type', types[extname(file)] ?? 'application/octet-stream')
        response.end(readFileSync(file))
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const address = server.address()
      url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    }, 300_000)
    afterAll(() => server?.close())

    const pages = () =>
      readdirSync(dist, { recursive: true, encoding: 'utf8' })
        .map((path) => path.replaceAll('\\', '/'))
        .filter((path) => path.endsWith('.html') && !path.startsWith('demo/'))

    test('has every page of the repository, and no link of it leads nowhere', () => {
      const docs = readdirSync(join(site, '../docs'), { recursive: true, encoding: 'utf8' })
      expect(pages().length).toBeGreaterThan(docs.filter((path) => path.endsWith('.md')).length)
      const broken = pages().flatMap((page) =>
        linksOf(readFileSync(join(dist, page), 'utf8')).flatMap((link) => {
          if (/^(https?|mailto|data):/.test(link) || link.startsWith('/demo/')) return []
          const [path = '', anchor = ''] = link.split('#')
          const to = path === '' ? page : posix.join(path.startsWith('/') ? '.' : posix.dirname(page), path)
          const file = to.endsWith('/') || to === '.' ? posix.join(to, 'index.html') : to
          if (!existsSync(join(dist, file))) return [`${page}: ${link} is missing`]
          const isThere = anchor === '' || !file.endsWith('.html') || idsOf(file).has(decodeURIComponent(anchor))
          return isThere ? [] : [`${page}: ${link} has no such heading`]
        }),
      )
      expect(broken).toEqual([])
    })

    const withBrowser = executablePath === undefined ? test.skip : test
    withBrowser(
      'is searched, read and followed without a request to another host, and nothing keeps readers out',
      async () => {
        const browser: Browser = await chromium.launch({
          executablePath: String(executablePath),
          args: ['--no-sandbox'],
        })
        onTestFinished(() => browser.close())
        const page = await browser.newPage()
        const complaints: string[] = []
        page.on('request', (request) => {
          if (!request.url().startsWith(url)) complaints.push(`request: ${request.url()}`)
        })
        page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.message}`))
        await page.goto(`${url}/`)
        await page.locator('.VPNavBarSearch button').click()
        await page.locator('#localsearch-input').fill('tombstone')
        await page.locator('#localsearch-list a').first().click()
        await page.waitForURL((to) => to.pathname !== '/')
        for (const path of [
          '/',
          '/docs/',
          '/docs/how-to/start.html',
          '/docs/reference/exit-codes.html',
          '/docs/explanation/deletion.html',
        ]) {
          await page.goto(`${url}${path}`)
          await page.evaluate(axe.source)
          const { violations } = await page.evaluate<axe.AxeResults>(
            `axe.run(document, { resultTypes: ['violations'] })`,
          )
          const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
          expect
            .soft([path, grave.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target}`))])
            .toEqual([path, []])
        }
        expect(complaints).toEqual([])
      },
    )
  },
)
