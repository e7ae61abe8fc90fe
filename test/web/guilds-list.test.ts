import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, syncGuild } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'

describe('the list of guilds', () => {
  const web = webWorld('server', async (world) => {
    await world.sync(seasons, { 30: { initDate: '2026-05-20T10:00:00Z', endDate: '2026-07-01T10:00:00Z' } }, '09:00')
    await syncGuild(
      world,
      guildBody(
        'a',
        { 1: { rank: 'owner' } },
        { territories: 9, seasonRanks: { 30: { rating: 1234, finalTerritories: 1 } } },
      ),
      '10:00',
    )
    const held = { Oak: place('d', '09:00'), Elm: place('d', '09:00'), Ash: place('a', '09:00') }
    await syncGuild(world, guildBody('e', { 2: { rank: 'owner' } }, { prefix: '', level: 3 }), '10:00')
    await syncGuild(world, guildBody('f', { 3: { rank: 'owner' } }, { prefix: null, level: 2 }), '10:00')
    await world.sync(territories, held, '10:00')
    await world.sync(territories, { ...held, Elm: place('a', '10:30'), Ash: place('d', '10:40') }, '11:00')
  })

  const { served } = web

  test('has those first that hold most on the map, whatever their profiles say and whether they are listed', async () => {
    const { ask } = await served()
    const { document } = parseHTML((await ask('/guilds')).text)
    const rows = [...document.querySelectorAll('#list tbody tr')].map((row) => [
      row.children[0]?.textContent,
      row.children[5]?.textContent,
    ])
    expect(rows).toEqual([
      ['Guild d', '2'],
      ['Guild a', '1'],
      // Without a prefix one is no better than others.
      ['Guild e', '0'],
      ['Guild f', '0'],
    ])
    const found = parseHTML((await ask('/guilds?q=DDD')).text).document
    expect(found.querySelectorAll('#list tbody tr').length).toBe(1)
  })

  test('has what was won and lost in a period, the rating, and is sorted by its headings', async () => {
    const { ask } = await served()
    const rows = async (query: string) => {
      const { document } = parseHTML((await ask(`/guilds?${query}`)).text)
      return [...document.querySelectorAll('#list tbody tr')].map((row) =>
        [0, 6, 7, 9].map((place) => row.children[place]?.textContent),
      )
    }
    expect((await rows('sort=-name')).slice(2)).toEqual([
      ['Guild d', '1', '1', '?'],
      ['Guild a', '1', '1', '1,234'],
    ])
    expect((await rows('sort=rating')).map(([name]) => name)).toEqual(['Guild a', 'Guild d', 'Guild e', 'Guild f'])
    expect((await rows('sort=-rating')).map(([name]) => name)[0]).toBe('Guild a')
    expect((await rows('sort=name&to=2026-06-01T10:20Z')).slice(0, 2).map((cells) => cells.slice(1, 3))).toEqual([
      ['0', '0'],
      ['0', '0'],
    ])
    expect((await rows('sort=name&from=2026-05-30T10:00Z&to=2026-05-31T10:00Z')).map((cells) => cells[1])).toEqual([
      '?',
      '?',
      '?',
      '?',
    ])
    expect(await rows('page=2')).toEqual([])
  })

  test('has as many territories of a guild as its page, also where the API does not say where one is', async () => {
    const { ask } = await served()
    const pageOf = async (path: string) => parseHTML((await ask(path)).text).document
    await web.world.db.query(
      `update game.territory set min_x = null, max_x = null, min_z = null, max_z = null where territory = 'Oak'`,
    )
    const [first] = (await pageOf('/guilds')).querySelectorAll('#list tbody tr')
    expect([first?.children[0]?.textContent, first?.children[5]?.textContent]).toEqual(['Guild d', '2'])
    const own = await pageOf(`/guilds/${guildId('d')}`)
    expect(own.querySelector('#standing h3')?.textContent).toBe('It holds 2 territories of 3')
    expect([...own.querySelectorAll('#standing tbody td:first-child')].map((one) => one.textContent)).toEqual([
      'Ash',
      'Oak',
    ])
    expect(own.querySelectorAll('#guild-map rect').length).toBe(1)
    const home = await pageOf('/')
    expect([home.querySelectorAll('#home-map rect').length, (await pageOf('/map')).title !== '']).toEqual([2, true])
  })
})
