import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseHTML } from 'linkedom'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import type { Database, Sql } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { items } from '../../src/resources/items/index.ts'
import { nameFinders } from '../../src/resources/key-names.ts'
import { exportSite, fileOf, isExported } from '../../src/web/export/export-site.ts'
import { exportWeb } from '../../src/web/web-server.ts'
import { buildProgram, runProgram, startProgram } from '../support/cli.ts'
import { temporaryFolder, testDatabase, testDatabaseUrl } from '../support/postgres.ts'
import { hostile } from '../support/report-world.ts'
import { serve, webWorld } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import { item, openWorld } from '../support/world.ts'

describe('the pages as files', () => {
  const web = webWorld('server', liveWholeWorld)
  let dir: string
  let result: Awaited<ReturnType<typeof exportWeb>>

  const write = (people: boolean, place: string) => {
    const { db, clock } = web.world
    const context = { db, finders: nameFinders, clock, log: createLog('error', clock) }
    return exportWeb(context, { dir: place, people, version: 'test' })
  }
  const filesIn = async (place: string) =>
    (await readdir(place, { recursive: true, encoding: 'utf8' })).filter((name) => name.endsWith('.html')).sort()

  beforeAll(async () => {
    dir = join(await temporaryFolder(), 'site')
    result = await write(true, dir)
  })

  test('are all that can be reached, and no link of them is dead', async () => {
    const files = await filesIn(dir)
    expect(result).toMatchObject({ dir, pages: files.length, failed: 0, leftOut: 0, removed: 0 })
    for (const folder of ['map', 'captures', 'guilds', 'items', 'patches', 'players', 'status', 'runs', 'worlds'])
      expect([folder, files.some((file) => file.startsWith(`${folder}/`))]).toEqual([folder, true])
    expect(files.length).toBeGreaterThan(25)
    for (const file of files) {
      const { document } = parseHTML(await readFile(join(dir, file), 'utf8'))
      for (const link of document.querySelectorAll('a[href]')) {
        const [href = '', id] = String(link.getAttribute('href')).split('#')
        const place = href === '' ? file : join(dirname(file), href)
        expect([file, href, files.includes(place)]).toEqual([file, href, true])
        if (id === undefined) continue
        const target = href === '' ? document : parseHTML(await readFile(join(dir, place), 'utf8')).document
        expect([file, href, id, target.getElementById(decodeURIComponent(id)) !== null]).toEqual([file, href, id, true])
      }
    }
  })

  test('need no server, run nothing but their own script, and are kept by no search engine where they name players', async () => {
    for (const file of await filesIn(dir)) {
      const text = await readFile(join(dir, file), 'utf8')
      const { document } = parseHTML(text)
      if (document.querySelector('h1') === null) continue
      expect([file, document.querySelectorAll('form, [src], link, [style], [onload], img').length]).toEqual([file, 0])
      expect([file, /href="\/|url=\//.test(text)]).toEqual([file, false])
      const policy = document.querySelector('head > meta')?.nextElementSibling
      expect([file, policy?.getAttribute('http-equiv')]).toEqual([file, 'Content-Security-Policy'])
      expect(policy?.getAttribute('content')).toMatch(/^default-src 'none'; script-src 'sha256-.*form-action 'none'$/)
      const isNoindex = document.querySelector('meta[name=robots]')?.getAttribute('content') === 'noindex'
      expect([file, isNoindex]).toEqual([
        file,
        /^(index|(guilds|players|leaderboards)\/(?!index)\S*|gained\/index)\.html$/.test(file),
      ])
      expect([file, document.querySelector('footer')?.textContent?.includes('need the server')]).toEqual([file, true])
    }
    expect(await readFile(join(dir, 'robots.txt'), 'utf8')).toContain('Disallow: /players/')
  })

  test('name no player without people, and lose those of an export before', async () => {
    const place = join(await temporaryFolder(), 'site')
    await write(true, place)
    const { removed } = await write(false, place)
    expect(removed).toBeGreaterThan(0)
    expect(existsSync(join(place, 'players'))).toBe(false)
    const files = await filesIn(place)
    expect(files.length).toBeGreaterThan(10)
    for (const file of files) {
      const text = await readFile(join(place, file), 'utf8')
      expect([file, /Player\d|img src=x/.test(text.replaceAll(hostile.territory, ''))]).toEqual([file, false])
    }
  })

  test('stay as they are when the next export is ended, and a folder of something else is refused', async () => {
    const place = join(await temporaryFolder(), 'site')
    let left = 3
    const page = (title: string) =>
      `<!doctype html><html><head><meta charset="utf-8"></head><a href="/map">m</a><a href="/guilds">g</a><footer>${title}`
    const wanted = (title: string) => ({
      dir: place,
      version: 'test',
      madeAt: new Date(0),
      request: async () => {
        if (left-- === 0) throw new Error('killed')
        return new Response(page(title))
      },
    })
    left = -1
    await exportSite(wanted('old'))
    const before = await filesIn(place)
    left = 2
    await expect(exportSite(wanted('new'))).rejects.toThrow('killed')
    const whole = (await filesIn(place)).filter((file) => !file.startsWith('.'))
    expect(whole).toEqual(before)
    for (const file of whole) expect(await readFile(join(place, file), 'utf8')).toContain('old')
    left = -1
    await exportSite(wanted('new'))
    expect(await filesIn(place)).toEqual(before)
    expect(await readFile(join(place, 'index.html'), 'utf8')).toContain('new')
    const other = join(await temporaryFolder(), 'documents')
    await mkdir(other)
    await writeFile(join(other, 'letter.txt'), 'mine')
    await expect(exportSite({ ...wanted('new'), dir: other })).rejects.toThrow(/letter\.txt/)
    expect(await readdir(other)).toEqual(['letter.txt'])
    // A list that somebody changed removes nothing outside of the folder.
    await writeFile(
      join(place, 'wynnsync-export.json'),
      JSON.stringify({ files: ['../documents/letter.txt', 'a/../../x.html'] }),
    )
    await exportSite(wanted('new'))
    expect(await readdir(other)).toEqual(['letter.txt'])
  })

  test('of items have what the server says of each, read many at a time', async () => {
    const world = await openWorld(await testDatabase('server'))
    onTestFinished(async () => {
      await world.api.close()
      await world.sandbox.close()
    })
    const some = Array.from({ length: 120 }, (_, place) =>
      item(`item${place}`, { identifications: { rawStrength: place + 1 } }),
    )
    await world.sync(items, some, '10:00')
    let reads = 0
    const counting = (sql: Sql): Sql => ({
      ...sql,
      query: (text, values) => {
        if (text.includes('game.field_change')) reads++
        return sql.query(text, values)
      },
    })
    const { transaction } = world.db
    const db: Database = {
      ...world.db,
      transaction: (work, options) => transaction((sql) => work(counting(sql)), options),
    }
    const { clock } = world
    const place = join(await temporaryFolder(), 'site')
    const context = { db, finders: nameFinders, clock, log: createLog('error', clock) }
    await exportWeb(context, { dir: place, people: true, version: 'test' })
    const { ask } = await serve(world)
    const cellsOf = (text: string) =>
      [...parseHTML(text).document.querySelectorAll('.item-card th, .item-card td')].map((cell) => cell.textContent)
    for (const name of ['item0', 'item77', 'item119']) {
      const cells = cellsOf(await readFile(join(place, 'items', `${name}.html`), 'utf8'))
      expect(cells).toContain('raw strength')
      expect(cells).toEqual(cellsOf((await ask(`/items/${name}`)).text))
    }
    expect((await readdir(join(place, 'items'))).length).toBeGreaterThan(120)
    expect(reads).toBeLessThan(5)
  })

  test('stay whole when the program is killed half-way, and the next export replaces them', async () => {
    await buildProgram()
    const url = await testDatabaseUrl()
    const world = await openWorld(await openServer(url))
    onTestFinished(async () => {
      await world.db.close()
      await world.api.close()
      await world.sandbox.close()
    })
    const some = Array.from({ length: 300 }, (_, place) => item(`item${place}`))
    await world.sync(items, some, '10:00')
    const place = join(await temporaryFolder(), 'site')
    const [args, environment] = [['serve', '--export', place], { DATABASE_URL: url }]
    expect((await runProgram(args, environment)).code).toBe(0)
    const before = await filesIn(place)
    const textOf = () => Promise.all(before.map((file) => readFile(join(place, file), 'utf8')))
    const texts = await textOf()
    await world.sync(items, some.slice(100), '11:00')
    const { child, finished } = startProgram(args, environment)
    const stage = join(place, '.wynnsync-export', 'items')
    const made = async () => (await readdir(stage).catch(() => [])).length
    while ((await made()) < 20 && child.exitCode === null) await delay(10)
    child.kill('SIGKILL')
    expect((await finished).code).toBe(null)
    expect(await made()).toBeGreaterThanOrEqual(20)
    expect((await filesIn(place)).filter((file) => !file.startsWith('.'))).toEqual(before)
    expect(await textOf()).toEqual(texts)
    expect((await runProgram(args, environment)).code).toBe(0)
    expect(existsSync(stage)).toBe(false)
  })

  test('are bounded, and what is beyond has no link', async () => {
    const place = join(await temporaryFolder(), 'site')
    const request = async (path: string) =>
      new Response(
        `<!doctype html><meta charset="utf-8">${[1, 2].map((one) => `<a href="/guilds/${path.length}${one}">x</a>`).join('')}<footer>`,
      )
    const done = await exportSite({ dir: place, version: 'test', madeAt: new Date(0), request, most: 4 })
    expect([done.pages, done.leftOut > 0]).toEqual([4, true])
    const files = await filesIn(place)
    for (const file of files)
      for (const [, href = ''] of (await readFile(join(place, file), 'utf8')).matchAll(/href="([^"]+)"/g))
        expect(files).toContain(join(dirname(file), href))
  })

  test('of a name that several have lead to each of them, and one that could not be made is named', async () => {
    const place = join(await temporaryFolder(), 'site')
    const page = (links: readonly string[]) =>
      `<!doctype html><meta charset="utf-8"><h1>x</h1>${links.map((href) => `<a href="${href}">x</a>`).join('')}`
    const answers = new Map([
      ['/', new Response(page(['/guilds/AAA', '/guilds/BBB']))],
      ['/guilds/AAA', new Response(page(['/guilds/1', '/guilds/2', '/search?q=AAA']), { status: 409 })],
      ['/guilds/BBB', new Response(page(['/guilds/3']), { status: 500 })],
    ])
    const request = async (path: string) => answers.get(path) ?? new Response(page([]))
    const failed: [path: string, status: number][] = []
    const onFailed = (...one: [path: string, status: number]) => void failed.push(one)
    const done = await exportSite({ dir: place, version: 'test', madeAt: new Date(0), request, onFailed })
    expect([done.failed, failed]).toEqual([1, [['/guilds/BBB', 500]]])
    const files = await filesIn(place)
    for (const path of ['/guilds/1', '/guilds/2']) expect(files).toContain(fileOf(path))
    expect(files).not.toContain(fileOf('/guilds/3'))
    const several = await readFile(join(place, fileOf('/guilds/AAA')), 'utf8')
    expect([...several.matchAll(/href="([^"]+)"/g)].map(([, href]) => href)).toEqual([
      '../guilds/1.html',
      '../guilds/2.html',
    ])
  })

  test('have names that differ on every file system, and are safe', () => {
    const names = ['abc', 'ABC', 'a b', 'a/b', '../x', 'con', 'index', 'a%b', 'é', '<b>', 'x'.repeat(300)]
    const files = names.map((name) => fileOf(`/guilds/${encodeURIComponent(name)}`))
    expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(names.length)
    for (const file of files) expect(file).toMatch(/^guilds\/[\w-]{1,80}\.html$/)
    expect(['/', '/guilds', '/guilds?page=2'].map(fileOf)).toEqual([
      'index.html',
      'guilds/index.html',
      'guilds/index-page-2.html',
    ])
    const left = [
      '/api/v1/territory',
      '/search?q=a',
      '/feeds/x.atom',
      '/map?at=-1d',
      '//evil.example',
      '/changes/1.json',
      '/map.json',
    ]
    expect(left.filter(isExported)).toEqual([])
  })
})
