import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { guildId } from '../support/guild-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'

/** Every kind of page, with what its title says. */
const paths = (): readonly (readonly [string, RegExp])[] => [
  ['/', /^<script>alert\("guild"\)<\/script> holds most of the map: 2 of 3 territories$/],
  ['/status', /late|schedule/],
  ['/api', /^\d+ questions about the history, answered as JSON, CSV or NDJSON$/],
  ['/map', /holds most of the map: 2 of 3 territories/],
  ['/map?at=2026-06-01T10:45Z', /Guild b holds most of the map: 2 of 3 territories/],
  ['/map?at=2026-06-01T10:15Z', /No guild holds more than Guild b: 1 of 3 territories/],
  ['/captures', /^\d+ captures, most of them around 1 Jun/],
  ['/territories', /3 territories have a holder, of 3/],
  ['/territories/Oak', /^Guild b \[bbb\] holds Oak for 6 hours$/],
  [`/territories/${encodeURIComponent(hostile.territory)}`, /holds <\/script><script>alert\('place'\)<\/script> for/],
  ['/guilds', /guild/],
  [`/guilds?q=${encodeURIComponent(hostile.prefix)}`, /1 guild like "'><b/],
  [
    `/guilds/${encodeURIComponent(hostile.prefix)}`,
    /^<script>alert\("guild"\)<\/script> \["'><b\]: \d+ members, 2 territories$/,
  ],
  [
    '/gained',
    /^<script>alert\("guild"\)<\/script> gained most \w+: |^No gain of wars is known in this period$|^Nothing is counted/,
  ],
  ['/items', /^1 item$/],
  ['/items?q=svg', /^1 item like svg$/],
  ['/items/bow', /^<svg onload=alert\(1\)> changed once, on 1 Jun, 11:00$/],
  [`/players/${encodeURIComponent(hostile.player)}`, /^'"><img src=x onerror=alert\(1\)> is owner of /],
  ['/patches', /^1 patch seen, the last on 1 Jun, 11:00$/],
  ['/patches/1', /^Patch 1: 1 item changed/],
  ['/pools', /^1 loot pool, the last change seen 1 Jun, 16:00$/],
  ['/leaderboards', /^1 leaderboard$/],
  ['/leaderboards/guildLevel', /^<script>alert\("guild"\)<\/script> leads guild level$/],
  ['/worlds', /The most seen at once: \d+ player/],
]

/** Width and height, which a PNG has in its head. */
function sizeOf(png: Buffer): number[] {
  expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
  return [png.readUInt32BE(16), png.readUInt32BE(20)]
}

describe.each(kindsAtNight)('the pages on the %s database', (kind) => {
  const web = webWorld(kind)
  const { served } = web

  test('say in their titles what was found, run no name, and request nothing from elsewhere', async () => {
    const { ask } = await served()
    const linked = new Set<string>()
    for (const [path, title] of paths()) {
      const { status, headers, text } = await ask(path)
      expect([path, status, headers['content-type']]).toEqual([path, 200, 'text/html; charset=utf-8'])
      const { document } = parseHTML(text)
      const shown = String(document.querySelector('h1')?.textContent)
      expect.soft(shown, path).toMatch(title)
      expect(document.querySelector('title')?.textContent).toBe(`${shown} · wynnsync`)
      const meta = document.querySelector('meta[property="og:title"]')
      expect(meta?.getAttribute('content')).toBe(shown)
      // One script and one data block, both of the program; nothing else that runs or loads.
      const scripts = [...document.querySelectorAll('script:not([type="application/json"])')]
      expect(scripts.length, path).toBe(1)
      expect(
        document.querySelectorAll('img, iframe, object, embed, [onload], [onerror], [style], b > b').length,
        path,
      ).toBe(0)
      const loaded = [...document.querySelectorAll('[src], link:not([rel=canonical], [rel=alternate])')]
      expect(loaded.length, path).toBe(0)
      const policy = String(headers['content-security-policy'])
      expect(policy).toMatch(
        /^default-src 'none'; script-src 'sha256-\S+'; style-src 'sha256-\S+'; base-uri 'none'; form-action 'self'/,
      )
      for (const link of document.querySelectorAll('a[href]')) linked.add(String(link.getAttribute('href')))
    }
    expect([...linked].filter((href) => !/^[/#]/.test(href))).toEqual([])
    for (const href of linked) {
      if (href.startsWith('#')) continue
      expect([href, (await ask(href)).status]).toEqual([href, 200])
    }
  })

  test('have a picture each for sites that show links, of the size these ask for, made once', async () => {
    const { url, ask } = await served()
    // With a chart of each kind of colour, with hostile names, and without a chart.
    const drawn = paths().filter(([path]) => /^\/$|^\/(map|worlds|guilds\/.*%.*)$/.test(path))
    expect(drawn).toHaveLength(4)
    for (const [path] of drawn) {
      const { document } = parseHTML((await ask(path)).text)
      const address = String(document.querySelector('meta[property="og:image"]')?.getAttribute('content'))
      expect(address.startsWith(`${url}/og/`), address).toBe(true)
      const got = await fetch(address)
      expect([path, got.status, got.headers.get('content-type')]).toEqual([path, 200, 'image/png'])
      expect([path, sizeOf(Buffer.from(await got.arrayBuffer()))]).toEqual([path, [1200, 630]])
      const again = await fetch(address, { headers: { 'if-none-match': String(got.headers.get('etag')) } })
      expect([path, again.status]).toEqual([path, 304])
    }
    const proxied = await ask('/map', { 'x-forwarded-proto': 'https', host: 'localhost' })
    expect(proxied.text).toContain('<meta property="og:image" content="https://localhost/og/map.png">')
    for (const path of ['/og/guilds/none.png', '/og/none.png', '/og/map'])
      expect([path, (await ask(path)).status]).toEqual([path, 404])
    expect((await ask('/none')).text).not.toContain('og:image')
    // Nothing that others keep is made of one player or a list of them.
    const personal = [`/players/${encodeURIComponent(hostile.player)}`, '/leaderboards/guildLevel']
    for (const path of personal) {
      expect((await ask(path)).text, path).not.toContain('og:image')
      expect([path, (await ask(`/og${path}.png`)).status]).toEqual([path, 404])
    }
  })

  test('that name players are kept by no search engine', async () => {
    const { ask } = await served()
    const { status, text } = await ask('/robots.txt')
    expect([status, text.split('\n')]).toEqual([
      200,
      expect.arrayContaining(['Disallow: /players/', 'Disallow: /api/v1/']),
    ])
    const player = `/players/${encodeURIComponent(hostile.player)}`
    for (const path of [player, '/leaderboards/guildLevel', `/guilds/${guildId('a')}`]) {
      const { headers, text } = await ask(path)
      expect([path, headers['x-robots-tag']]).toEqual([path, 'noindex'])
      expect(text, path).toContain('<meta name="robots" content="noindex">')
    }
    const named = [`/feeds/guilds/${guildId('a')}.atom`, '/feeds/news.atom', '/api/v1/player']
    for (const path of named) expect([path, (await ask(path)).headers['x-robots-tag']]).toEqual([path, 'noindex'])
    expect((await ask('/territories')).headers['x-robots-tag']).toBeUndefined()
  })

  test('are small where there is none, and have an icon', async () => {
    const { ask } = await served()
    const long = `/items/${'x'.repeat(3000)}`
    for (const path of ['/none', '/wp-login.php', '/guilds/none', '/players/none', '/map?at=noon', long]) {
      const { status, text } = await ask(path)
      expect([path, status >= 400, text.length <= 2000, text.includes('<nav')]).toEqual([path, true, true, false])
    }
    const icon = await ask('/favicon.ico')
    expect([icon.status, icon.headers['content-type']]).toEqual([200, 'image/x-icon'])
    expect(icon.text.length).toBeLessThan(1000)
  })

  test('have one of the read API: questions, arguments, examples that are answered, and the problems by their types', async () => {
    const { ask, json } = await served()
    const { document } = parseHTML((await ask('/api')).text)
    const paths: Record<string, { get: { parameters: { name: string }[] } }> = (await json('/openapi.json')).paths
    // Questions have a figure each, the rows of tables one line in a figure of all.
    const shown = [...document.querySelectorAll('main figure h3, main #rows a')].map((one) => one.textContent)
    for (const [path, { get }] of Object.entries(paths)) {
      const name = path.slice('/api/v1/'.length)
      if (!path.startsWith('/api/v1/')) expect(document.querySelector('#feeds')?.textContent).toContain(path)
      else expect(shown).toContain(name)
      const figure = document.querySelector(`figure#${name.replace(/\W/g, '_')}`)
      for (const one of figure ? get.parameters : [])
        expect(`${document.querySelector('#parameters')?.textContent} ${figure?.textContent}`).toContain(one.name)
    }
    const examples = [...document.querySelectorAll('main a[href^="/api/v1/"]')].map((link) => link.getAttribute('href'))
    expect(examples.length).toBeGreaterThan(30)
    const types: string[] = (await json('/openapi.json')).components.schemas.problem.properties.type.enum
    for (const type of types) expect(document.querySelector(type.replace('/api', '')), type).not.toBeNull()
    const nav = [...document.querySelectorAll('nav a')].find(({ textContent }) => textContent === 'API')
    expect([nav?.getAttribute('href'), nav?.getAttribute('aria-current')]).toEqual(['/api', 'page'])
    expect(document.querySelector('a[href="/openapi.json"]')).not.toBeNull()
    const ofMany = parseHTML((await (await served({ people: false })).ask('/api')).text).document
    expect(ofMany.querySelector('figure#player')).toBeNull()
  })

  test('give each item every revision, with what was and what is', async () => {
    const { ask } = await served()
    const { document } = parseHTML((await ask('/items/bow')).text)
    const rows = [...document.querySelectorAll('#revisions tbody tr')].map((row) =>
      [...row.children].map((cell) => cell.textContent),
    )
    expect(rows).toEqual([['raw strength', '4', '6', '+2']])
    expect(document.querySelector('#revisions del')?.textContent).toBe('4')
  })

  test('count up to the last observation, and call nothing old the last day', async () => {
    const { ask } = await served({}, virtualClock(web.world.clock.now() + 200 * 86_400_000))
    const { document } = parseHTML((await ask('/')).text)
    expect(document.querySelector('.soft')?.textContent).toMatch(
      /^\d+ captures in the \d+ hours before 1 Jun, \d\d:\d\d, 1 player listed online on 2 worlds on 1 Jun, \d\d:\d\d\.$/,
    )
  })

  test('never show hours that were not watched as zero', async () => {
    const { ask } = await served()
    const { document } = parseHTML((await ask(`/players/${encodeURIComponent(hostile.player)}?from=2026-05-20`)).text)
    const rows = [...document.querySelectorAll('#days tbody tr')].map((row) =>
      [...row.children].map((cell) => cell.textContent),
    )
    expect(rows[0]).toEqual(['2026-06-01', '1', '8', '12 %'])
    expect(rows.slice(1).map(([, ...cells]) => cells)).toEqual(rows.slice(1).map(() => ['?', '?', '0 %']))
  })

  test('are found under other names, and say what is not there or ambiguous', async () => {
    const { ask } = await served()
    expect((await ask(`/guilds/${guildId('a')}`)).status).toBe(200)
    const missing = [
      '/guilds/none',
      '/items/none',
      '/players/none',
      '/patches/99',
      '/patches/x',
      '/territories/none',
      '/none',
    ]
    for (const path of [...missing, `/guilds/${guildId('f')}`, '/guilds/%00', '/map?at=%00']) {
      const { status, headers } = await ask(path)
      expect([path, status, headers['content-type']]).toEqual([path, 404, 'text/html; charset=UTF-8'])
    }
    expect((await ask('/map?at=noon')).status).toBe(400)
    expect((await ask('/map?at=2027-06-01')).status).toBe(400)
    const { headers } = await ask('/items/bow')
    expect((await ask('/items/bow', { 'if-none-match': String(headers.etag) })).status).toBe(304)
  })

  test('are there for periods before all that was observed, at its beginning, and of no length', async () => {
    const { ask } = await served()
    const periods = [
      'to=2020-01-01',
      'from=2020-01-01&to=2020-01-02',
      ...['09:00', '10:00'].map((time) => `to=2026-06-01T${time}Z`),
    ]
    const none = 'from=2026-06-01T10:00Z&to=2026-06-01T10:00Z'
    for (const [path] of paths())
      for (const period of [...periods, none]) {
        const { status } = await ask(`${path}${path.includes('?') ? '&' : '?'}${period}`)
        expect([200, 303, 400], `${path} ${period}: ${status}`).toContain(status)
      }
  })

  test('leave out single players, if so started', async () => {
    const { ask } = await served({ people: false })
    expect((await ask(`/players/${encodeURIComponent(hostile.player)}`)).status).toBe(403)
    for (const [path] of paths()) {
      const { text } = await ask(path)
      expect(text, path).not.toMatch(/img src=x|Player[0-9]/)
    }
  })

  test('that are read by many are made once, and count for the one who has them made', async () => {
    const { ask } = await served({ requestsPerMinute: 2 })
    const all = await Promise.all(Array.from({ length: 20 }, () => ask('/territories')))
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
    await ask('/guilds')
    expect((await ask('/items')).status).toBe(429)
    expect((await ask('/territories')).status).toBe(200)
  })
})
