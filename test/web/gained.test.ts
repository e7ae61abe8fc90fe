import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { guildBody, guildId, syncGuild } from '../support/guild-answers.ts'
import { profile, syncPlayer } from '../support/player-answers.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'

describe('the page of gains', () => {
  const { served } = webWorld('server', async (world) => {
    const hostileGuild = { name: hostile.guild, prefix: hostile.prefix }
    for (const [at, a, b] of [
      ['10:00', 10, 7],
      ['11:00', 14, 7],
      ['12:00', 15, 10],
    ] as const) {
      const member = { rank: 'owner', contributed: 100 * a }
      await syncGuild(world, guildBody('a', { 1: member }, { ...hostileGuild, wars: a }), at)
      await syncGuild(world, guildBody('b', { 2: { rank: 'owner' } }, { wars: b }), at)
    }
    // Nobody fights any more, and no player ever did.
    for (const [at, level, playtime] of [
      ['13:00', 10, 5],
      ['14:00', 12, 6.5],
    ] as const) {
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { ...hostileGuild, wars: 15 }), at)
      await syncGuild(world, guildBody('b', { 2: { rank: 'owner' } }, { wars: 10, level }), at)
      await syncPlayer(world, 1, profile(1, { playtime, globalData: { wars: 0 } }), at)
    }
  })

  const read = async (query = '', options = {}) => {
    const { ask } = await served(options)
    const { status, text, headers } = await ask(`/gained${query}`)
    const { document } = parseHTML(text)
    const rows = [...document.querySelectorAll('#gains tbody tr')].map((row) =>
      [...row.children].map((cell) => cell.textContent),
    )
    return { status, headers, rows, document, title: document.querySelector('h1')?.textContent }
  }

  test('lists who gained most first, in the period of the address alone', async () => {
    const whole = await read('?counter=wars&from=2026-06-01T09:00Z&to=2026-06-01T12:01Z')
    expect(whole.title).toMatch(/^<script>alert\("guild"\)<\/script> gained most wars: (at least )?5$/)
    expect(whole.rows.map(([place, name, gained]) => [place, name, gained])).toEqual([
      ['1', hostile.guild, '5'],
      ['2', 'Guild b', '3'],
    ])
    const later = await read('?counter=wars&from=2026-06-01T11:00Z&to=2026-06-01T12:01Z')
    expect(later.rows.map(([, name, gained]) => [name, gained])).toEqual([
      ['Guild b', '3'],
      [hostile.guild, '1'],
    ])
    expect((await read('?counter=wars&from=2026-05-01&to=2026-05-02')).rows).toEqual([])
  })

  test('begins with a counter of which somebody gained some, and says in which unit', async () => {
    const since = 'from=2026-06-01T12:30Z&to=2026-06-01T14:01Z'
    expect((await read('?from=2026-06-01T09:00Z&to=2026-06-01T12:01Z')).title).toMatch(
      / gained most wars: (at least )?5$/,
    )
    expect((await read(`?${since}`)).title).toMatch(/^Guild b gained most levels: (at least )?2$/)
    expect((await read(`?kind=player&${since}`)).title).toMatch(/^Player1 gained most playtime: (at least )?1.5 hours$/)
    expect((await read(`?entity=bbb&${since}`)).title).toMatch(/^Guild b gained (at least )?2 levels$/)
    const own = await read(`?kind=player&entity=Player1&value=6&${since}`)
    expect(own.title).toMatch(/^Player1 gained (at least )?1.5 hours of playtime$/)
    expect(own.document.querySelector('#firsts h3')?.textContent).toBe('First seen with 6 hours of playtime: Player1')
    expect(own.document.querySelector('#best thead')?.textContent).toContain('playtime (hours)')
    // The number that the last response showed, not only one as of the end of the period.
    const { document } = await read('?counter=wars&from=2026-06-01T09:00Z&to=2026-06-01T14:01Z')
    expect(document.querySelector('#firsts h3')?.textContent).toBe('Who was first to 10 wars')
  })

  test('asks of whom, and has each of its tables as CSV', async () => {
    const { document } = await read('?counter=wars&entity=bbb&value=9&from=2026-06-01T09:00Z&to=2026-06-01T12:01Z')
    expect(document.querySelector('input[name=entity]')?.getAttribute('value')).toBe('Guild b')
    const { ask } = await served()
    for (const [figure, question] of [
      ['gains', 'top_gained'],
      ['timeline', 'timeline'],
      ['best', 'best'],
      ['firsts', 'first_to'],
    ] as const) {
      const address = document.querySelector(`#${figure} a[href*="format=csv"]`)?.getAttribute('href') ?? ''
      expect(address).toContain(`/api/v1/${question}?`)
      const { status, text, headers } = await ask(address)
      expect([status, headers['content-type']]).toEqual([200, expect.stringContaining('text/csv')])
      expect(text.split('\r\n').length).toBeGreaterThan(2)
    }
  })

  test('of one guild says what it gained, how that developed, and its best times', async () => {
    const { title, document } = await read('?counter=wars&entity=bbb&from=2026-06-01T09:00Z&to=2026-06-01T12:01Z')
    expect(title).toMatch(/^Guild b gained (at least )?3 wars$/)
    expect(document.querySelector('#timeline h3')?.textContent).toBe('How wars of Guild b developed')
    const rows = [...document.querySelectorAll('#timeline tbody tr')].map((row) => row.children[1]?.textContent)
    expect(rows).toEqual(expect.arrayContaining(['7', '10']))
    expect((await read('?counter=wars&entity=nobody')).status).toBe(404)
  })

  test('says who was first to a number, and leads to a round one', async () => {
    const { document } = await read('?counter=wars&value=9')
    const rows = [...document.querySelectorAll('#firsts tbody tr')].map((row) => row.children[1]?.textContent)
    expect(rows).toEqual([hostile.guild, 'Guild b'])
    const round = (await read('?counter=wars')).document.querySelector('#firsts a')?.getAttribute('href') ?? ''
    expect(round).toBe('/gained?counter=wars&value=10#firsts')
    expect((await read(round.replace('/gained', ''))).document.querySelector('#firsts h3')?.textContent).toBe(
      `First seen with 10 wars: ${hostile.guild}`,
    )
  })

  test('lists members by what they gained in a guild, and asks of one by guild and name', async () => {
    const period = 'kind=member&counter=contributed&from=2026-06-01T09:00Z&to=2026-06-01T12:01Z'
    const all = await read(`?${period}`)
    expect(all.title).toMatch(/^Player1 gained most contributed experience: (at least )?500$/)
    expect(all.rows.map(([, name, gained]) => [name, gained])).toEqual([['Player1', '500']])
    expect(all.document.querySelector('#gains tbody a')?.getAttribute('href')).toMatch(/^\/players\/[^/]+$/)
    const own = await read(`?${period}&value=1200&entity=${encodeURIComponent(`${guildId('a')}/Player1`)}`)
    expect(own.title).toMatch(/^Player1 gained (at least )?500 contributed experience$/)
    expect(own.document.querySelector('#firsts h3')?.textContent).toMatch(/^First seen with 1,200 .*: Player1$/)
    expect(own.document.querySelector('#best tbody')?.textContent).toContain('500')
    expect([
      (await read(`?${period}&entity=Player1`)).status,
      (await read(`?${period}`, { people: false })).rows,
    ]).toEqual([400, []])
  })

  test('is kept by no search engine, shows no player where these are left out, and refuses what it has not', async () => {
    expect((await read()).headers['x-robots-tag']).toBe('noindex')
    expect((await read('?kind=player', { people: false })).rows).toEqual([])
    expect((await read('?counter=none')).status).toBe(400)
    expect((await read('?kind=none')).status).toBe(400)
    expect((await read(`?kind=guild&counter=wars&value=x&q=${guildId('a')}`)).status).toBe(400)
  })
})
