import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { guildBody, guildId, syncGuild } from '../support/guild-answers.ts'
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
      await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { ...hostileGuild, wars: a }), at)
      await syncGuild(world, guildBody('b', { 2: { rank: 'owner' } }, { wars: b }), at)
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

  test('of one guild says what it gained, how that developed, and its best times', async () => {
    const { title, document } = await read('?counter=wars&entity=bbb&from=2026-06-01T09:00Z&to=2026-06-01T12:01Z')
    expect(title).toMatch(/^Guild b gained (at least )?3 wars$/)
    expect(document.querySelector('#timeline h3')?.textContent).toBe('How wars of Guild b developed')
    const rows = [...document.querySelectorAll('#timeline tbody tr')].map((row) => row.children[1]?.textContent)
    expect(rows).toEqual(expect.arrayContaining(['7', '10']))
    expect((await read('?counter=wars&entity=nobody')).status).toBe(404)
  })

  test('says who was first to a number, and to a round one by itself', async () => {
    const { document } = await read('?counter=wars&value=9')
    const rows = [...document.querySelectorAll('#firsts tbody tr')].map((row) => row.children[1]?.textContent)
    expect(rows).toEqual([hostile.guild, 'Guild b'])
    expect((await read('?counter=wars')).document.querySelector('#firsts h3')?.textContent).toBe(
      `First seen with 10 wars: ${hostile.guild}`,
    )
  })

  test('is kept by no search engine, shows no player where these are left out, and refuses what it has not', async () => {
    expect((await read()).headers['x-robots-tag']).toBe('noindex')
    expect((await read('?kind=player', { people: false })).rows).toEqual([])
    expect((await read('?counter=none')).status).toBe(400)
    expect((await read('?kind=none')).status).toBe(400)
    expect((await read(`?kind=guild&counter=wars&value=x&q=${guildId('a')}`)).status).toBe(400)
  })
})
