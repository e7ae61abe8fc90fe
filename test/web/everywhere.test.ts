import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { tableMarkup } from '../../src/drawing/html-table.ts'
import { guildId } from '../support/guild-answers.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'
import { instantOf } from '../support/world.ts'

const DAY = 86_400_000

describe('every page', () => {
  const web = webWorld('server')
  const { served } = web

  const linksOf = (text: string, selector: string) =>
    [...parseHTML(text).document.querySelectorAll(selector)].map(
      (one) => [one.textContent, one.getAttribute('href') ?? ''] as const,
    )

  test.each([
    '/',
    '/patches',
    '/records',
    '/leaderboards',
    '/captures',
    '/territories',
    '/territories/Oak',
    '/worlds',
    '/map',
    '/status',
    '/items',
    '/items/bow',
    '/pools',
    '/quests',
    '/events',
    '/raids',
    '/camps',
    '/nodes',
    '/abilities',
    '/aspects',
    '/seasons',
    `/guilds/${guildId('a')}`,
  ])('about a period has it in its address, and links to others: %s', async (path) => {
    const { ask } = await served()
    const usual = await ask(path)
    const links = linksOf(usual.text, '.period > a')
    const names = ['24 h', '7 d', '30 d', ...(path === '/status' ? ['90 d'] : []), 'all']
    expect(links.map(([name]) => name)).toEqual(names)
    expect(parseHTML(usual.text).document.querySelectorAll('.period > [aria-current]').length).toBe(1)
    for (const [name, href] of links) {
      const { status, text } = await ask(href)
      expect([href, status]).toEqual([href, 200])
      const from = new URLSearchParams(href.split('?')[1]).get('from')
      const field = parseHTML(text).document.querySelector('.period input[name=from]')
      expect([name, field?.getAttribute('value')]).toEqual([name, from])
    }
    expect((await ask(`${path}?from=2026-06-01T12:00Z&to=2026-06-01T11:00Z`)).status).toBe(400)
    expect((await ask(`${path}?to=2027-06-01`)).status).toBe(400)
    expect((await ask(`${path}?from=soon`)).status).toBe(400)
  })

  test('counts only what lies in the period', async () => {
    const { ask } = await served()
    const titleOf = async (period: string) =>
      parseHTML((await ask(`/captures?${period}`)).text).document.querySelector('h1')?.textContent
    expect(await titleOf('to=2026-06-01T17:00Z')).toMatch(/^4 captures/)
    expect(await titleOf('from=2026-06-01T11:00Z&to=2026-06-01T17:00Z')).toMatch(/^[123] captures?/)
    expect(await titleOf('from=2026-05-01&to=2026-05-02')).toBe('No capture was seen in this period')
  })

  test('shows of a period what was then, and follows no longer what is', async () => {
    const { ask } = await served()
    const at = async (path: string) => parseHTML((await ask(path)).text).document
    const holderOf = (page: ReturnType<typeof parseHTML>['document']) =>
      page.querySelector('#home-map [data-place=Oak] title')?.textContent?.replace('Oak: ', '')
    const [then, now] = [await at('/?from=2026-06-01T09:00Z&to=2026-06-01T10:10Z'), await at('/')]
    expect([holderOf(then), holderOf(now)]).toEqual([hostile.guild, 'Guild b'])
    expect([then, now].map((page) => page.querySelectorAll('#home-live').length)).toEqual([0, 1])
    const captures = (page: ReturnType<typeof parseHTML>['document']) => page.querySelectorAll('#ticker li').length
    expect(captures(then)).toBeLessThan(captures(now))
    expect(then.querySelector('header > p')?.textContent).toMatch(
      /^As of 1 Jun, 10:10 UTC: 0 captures in the .* before /,
    )
    const before = 'from=2026-05-01&to=2026-05-02'
    for (const [path, title] of [
      ['/patches', 'No patch was seen in this period'],
      ['/records', 'The map was not seen in this period'],
    ])
      expect((await at(`${path}?${before}`)).querySelector('h1')?.textContent).toBe(title)
  })

  test('says nothing twice that its title says', async () => {
    const { ask } = await served()
    for (const path of ['/guilds', '/territories', '/leaderboards', '/captures', '/worlds']) {
      const { document } = parseHTML((await ask(path)).text)
      const title = document.querySelector('h1')?.textContent
      const said = [...document.querySelectorAll('h3')].filter(({ textContent }) => textContent === title)
      expect([path, said.map(({ className }) => className)]).toEqual([path, said.length > 0 ? ['said'] : []])
      if (path === '/guilds') expect(said.length).toBe(1)
    }
    // A guild that won and lost nothing: one sentence.
    const page = parseHTML(
      (await ask(`/guilds/${guildId('a')}?to=2026-06-01T09:50Z&from=2026-06-01T09:40Z`)).text,
    ).document
    expect(['lost', 'rivals', 'war-hours'].filter((id) => page.querySelector(`#war #${id}`))).toEqual(['rivals'])
  })

  test('of a history of more hours than a chart has lists all of it, and offers no period that it would refuse', async () => {
    const { db, clock } = web.world
    await db.query(
      `insert into sync.run (run_id, resource, status, observed_at, started_at, finished_at, program)
       select gen_random_uuid(), resource, 'ok', at, at, at, 'test' from unnest($1::text[]) resource cross join (select $2::timestamptz as at) long_ago`,
      [['items', 'territories'], new Date(clock.now() - 3 * 366 * DAY)],
    )
    const { ask } = await served()
    for (const path of ['/patches', '/records', '/captures', '/map', '/']) {
      const { status, text } = await ask(path)
      expect([path, status]).toEqual([path, 200])
      for (const { 1: href = '' } of text.matchAll(/<a href="([^"]+)"[^>]*>(?:24 h|7 d|30 d|all)</g))
        expect([href, (await ask(href.replaceAll('&amp;', '&'))).status]).toEqual([href, 200])
    }
  })

  test('says once how to have what is missing, and only where it was never observed', async () => {
    const { ask } = await served()
    const textOf = async (path: string) => (await ask(path)).text
    const commands = async (path: string) => [...(await textOf(path)).matchAll(/<code>(wynnsync sync .*?)<\/code>/g)]
    const before = 'from=2026-05-01&to=2026-05-02'
    for (const path of [`/worlds?${before}`, `/captures?${before}`, `/guilds/${guildId('b')}?${before}`]) {
      const told = (await commands(path)).map(([, command]) => command)
      expect([path, told]).toEqual([path, [...new Set(told)]])
    }
    expect(await commands(`/captures?${before}`)).toEqual([])
    expect((await textOf(`/worlds?${before}`)).includes('id="lifecycle"')).toBe(true)
  })

  test('has the records of a period, which are those of all time where it has all of that', async () => {
    const { ask } = await served()
    const recordsOf = async (query: string) =>
      [...parseHTML((await ask(`/records?${query}`)).text).document.querySelectorAll('#record-list tbody tr')].map(
        ({ children }) => [0, 1, 2, 3].map((place) => children[place]?.textContent?.replace('at least ', '')),
      )
    const all = await recordsOf('')
    expect(all.length).toBe(4)
    // A minute less than all.
    expect(await recordsOf('to=2026-06-01T17:00Z')).toEqual(all)
    const early = await recordsOf('to=2026-06-01T11:10Z')
    expect(early.length).toBe(4)
    expect(early).not.toEqual(all)
  })

  test('about a time that is long over may be kept for an hour, unless it names players or shows what is now', async () => {
    const { ask } = await served({}, virtualClock(web.world.clock.now() + 9 * DAY))
    const rowsOf = async (path: string, id: string) => [
      ...parseHTML((await ask(path)).text).document.querySelectorAll(`#${id} tbody tr`),
    ]
    const cachingOf = async (path: string) => (await ask(path)).headers['cache-control']
    expect(await cachingOf('/captures?to=2026-06-01T12:00Z')).toBe('max-age=3600')
    const listed = async (query: string) => (await rowsOf(`/captures${query}`, 'latest')).length
    expect(await listed('?to=2026-06-01T11:00Z')).toBeLessThan(await listed(''))
    for (const path of ['/map', '/records', '/patches', '/runs', '/pools', '/quests', '/items', '/events', '/aspects'])
      expect([path, await cachingOf(`${path}?to=2026-06-01T12:00Z`)]).toEqual([path, 'max-age=3600'])
    expect(await cachingOf('/captures')).toBe('no-cache')
    // It ends at another instant tomorrow.
    for (const word of ['yesterday', '-2d'])
      expect([word, await cachingOf(`/captures?to=${word}`)]).toEqual([word, 'no-cache'])
    for (const path of ['/guilds', '/territories', '/territories/Oak', '/worlds', '/status', '/leaderboards'])
      expect([path, await cachingOf(`${path}?to=2026-06-01T12:00Z`)]).toEqual([path, 'no-cache'])
    expect(await cachingOf(`/guilds/${guildId('a')}?to=2026-06-01T12:00Z`)).toBe('no-cache')
  })

  test('has a search, which leads to the only hit and lists several', async () => {
    const { ask } = await served()
    const { document } = parseHTML((await ask('/territories')).text)
    expect(document.querySelector('header form[action="/search"] input')?.getAttribute('name')).toBe('q')
    const placeOf = async (text: string) => {
      const { status, headers } = await ask(`/search?q=${encodeURIComponent(text)}`)
      return [status, headers.location]
    }
    expect(await placeOf('oAK')).toEqual([302, '/territories/Oak'])
    expect(await placeOf('Guild B')).toEqual([302, `/guilds/${guildId('b')}`])
    expect(await placeOf('BBB')).toEqual([302, `/guilds/${guildId('b')}`])
    expect(await placeOf('BBBBBBBB-0000')).toEqual([302, `/guilds/${guildId('b')}`])
    expect(await placeOf('SVG')).toEqual([302, '/items/bow'])
    expect((await placeOf('img src'))[1]).toMatch(/^\/players\/[0-9a-f-]{36}$/)
    const several = await ask('/search?q=script')
    expect([several.status, several.headers['x-robots-tag']]).toEqual([200, 'noindex'])
    expect(linksOf(several.text, 'main a').map(([name]) => name)).toEqual([hostile.guild, hostile.territory])
    const none = await ask('/search?q=nobody')
    expect([none.status, parseHTML(none.text).document.querySelector('h1')?.textContent]).toEqual([
      200,
      'Nothing is called nobody',
    ])
    // Whatever is written as if it were the name, and what is near where nothing is.
    expect(await placeOf('\u200bOak\u2060')).toEqual([302, '/territories/Oak'])
    expect(await placeOf('\uff27uild  \u00a0b')).toEqual([302, `/guilds/${guildId('b')}`])
    expect(linksOf((await ask('/search?q=Guild%20bx')).text, '#near a')).toEqual([
      ['Guild b [bbb]', '/guilds/Guild%20b'],
    ])
    expect(linksOf((await ask('/search?q=Oka')).text, '#near a')).toContainEqual(['Oak', '/territories/Oak'])
    expect(linksOf((await ask('/search?q=%E2%80%8B')).text, 'main a')).toEqual([])
  })

  test.each([
    ['/items?type=bow', '/items'],
    ['/gained?kind=guild&counter=wars', '/gained'],
    ['/guilds?q=a', '/guilds'],
    ['/territories/Oak', '/territories'],
  ])('says in its header which part it is of, whatever the address asks for: %s', async (path, part) => {
    const { ask } = await served()
    const { document } = parseHTML((await ask(path)).text)
    expect([...document.querySelectorAll('.site a[aria-current=page]')].map((one) => one.getAttribute('href'))).toEqual(
      [part],
    )
  })

  test('finds no player where single players are left out', async () => {
    const { ask } = await served({ people: false })
    const { status, text } = await ask('/search?q=img%20src')
    expect(status).toBe(200)
    expect(linksOf(text, 'main a')).toEqual([])
  })

  test('of a thing is found by its name or prefix in any case, where no other has that', async () => {
    const { ask } = await served()
    for (const [path, to] of [
      ['/territories/oAK', '/territories/Oak'],
      ['/guilds/BBB', '/guilds/Guild%20b'],
      ['/guilds/guild%20B', '/guilds/Guild%20b'],
    ] as const) {
      const { status, headers } = await ask(path)
      expect([path, status, headers.location]).toEqual([path, 302, to])
      expect([to, (await ask(to)).status]).toEqual([to, 200])
    }
    const period = 'from=2026-06-01T10%3A00Z&to=2026-06-01T11%3A00Z'
    expect((await ask(`/guilds/BBB?${period}`)).headers.location).toBe(`/guilds/Guild%20b?${period}`)
    expect((await ask('/territories/Oa')).status).toBe(404)
    for (const path of ['/territories/%E2%80%8BOak%20', '/guilds/Guild%20%20b', '/guilds/%EF%BC%A7uild%20b%20'])
      expect([path, [200, 302].includes((await ask(path)).status)]).toEqual([path, true])
  })

  test.each([
    '/guilds?',
    '/guilds?q=guild&',
    '/territories?',
    '/captures?',
    '/items?',
    '/items?from=2026-06-01T10:30Z&to=2026-06-01T11:00Z&',
    '/patches?',
    '/nodes?',
    '/runs?',
    '/items/bow?',
  ])('after the last of a list says that it ends, not that there is nothing: %s', async (path) => {
    const { ask } = await served()
    const { status, text } = await ask(`${path}page=50`)
    const { document } = parseHTML(text)
    expect([status, document.querySelector('main')?.textContent]).toEqual([
      200,
      expect.stringContaining('The list ends before page 50'),
    ])
    expect(text).not.toMatch(/ known yet| seen yet|>0 |No run began|9,\d01 to/)
    const [, back] = linksOf(text, 'header p.at a').find(([said]) => said?.includes('Before')) ?? []
    expect(back).toBe(`${path}page=1`.replaceAll(/(?<=\d\d):(?=\d\d)/g, '%3A'))
  })

  test('offers what is near where nothing has the name', async () => {
    const { ask } = await served()
    const near = async (path: string) => {
      const { status, text } = await ask(path)
      expect(status).toBe(404)
      return linksOf(text, 'li a')
    }
    expect(await near('/territories/Oka')).toEqual([['Oak', '/territories/Oak']])
    const place = `/guilds/${encodeURIComponent(hostile.guild)}`
    expect(await near(`${place}x`)).toEqual([[`${hostile.guild} [${hostile.prefix}]`, place]])
    expect((await ask(place)).status).toBe(200)
    const { document } = parseHTML((await ask('/items/nothing')).text)
    expect(document.querySelector('form[action="/search"] input[name=q]')?.getAttribute('value')).toBe('nothing')
    const lost = await ask('/nothing/at/all')
    expect(lost.status).toBe(404)
    expect(linksOf(lost.text, 'header a').map(([, href]) => href)).toEqual([
      '/',
      '/map',
      '/guilds',
      '/items',
      '/status',
    ])
    expect(lost.headers['content-security-policy']).toContain(`form-action 'self'`)
  })

  test('says in its header how fresh all is: in words, and above everything where nothing comes any more', async () => {
    const healthAt = async (clock?: number) => {
      const { ask } = await served({}, clock === undefined ? undefined : virtualClock(clock))
      const { document } = parseHTML((await ask('/territories')).text)
      const { className, textContent } = document.querySelector('header .health') ?? {}
      return [className, textContent, document.querySelectorAll('.banner').length]
    }
    const last = instantOf('17:00')
    expect(await healthAt(instantOf('11:10'))).toEqual(['health fresh', 'up to date', 0])
    expect(await healthAt(last + 5 * 3_600_000)).toEqual([
      'health late',
      expect.stringMatching(/^map \d h old and \d more$/),
      0,
    ])
    expect(await healthAt(last + 400 * DAY)).toEqual(['health silent', 'nothing since 1 Jun 2026', 1])
  })

  test('has days that stay on one line, as instants do', () => {
    const { document } = parseHTML(String(tableMarkup({ columns: ['Day'], rows: [['2026-05-03'], ['2026-05-03 x']] })))
    const shown = [...document.querySelectorAll('td')].map(({ innerHTML }) => innerHTML.trim())
    expect(shown).toEqual(['<time datetime="2026-05-03">2026-05-03</time>', '2026-05-03 x'])
  })

  test('has instants that a browser can read', async () => {
    const { ask } = await served()
    const { document } = parseHTML((await ask('/captures')).text)
    const times = [...document.querySelectorAll('td time')].map((one) => [
      one.getAttribute('datetime'),
      one.textContent,
    ])
    expect(times.length).toBeGreaterThan(3)
    for (const [machine, text] of times) expect(machine).toBe(`${text?.replace(' ', 'T')}Z`)
  })
})
