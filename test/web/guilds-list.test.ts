import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { seasons } from '../../src/resources/seasons/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, place, syncGuild } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'

describe('the list of guilds', () => {
  const { served } = webWorld('server', async (world) => {
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
})
