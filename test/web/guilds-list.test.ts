import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, place, syncGuild } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'

describe('the list of guilds', () => {
  const { served } = webWorld('server', async (world) => {
    await syncGuild(world, guildBody('a', { 1: { rank: 'owner' } }, { territories: 9 }), '10:00')
    const held = { Oak: place('d', '09:00'), Elm: place('d', '09:00'), Ash: place('a', '09:00') }
    await world.sync(territories, held, '10:00')
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
    ])
    const found = parseHTML((await ask('/guilds?q=DDD')).text).document
    expect(found.querySelectorAll('#list tbody tr').length).toBe(1)
  })
})
