import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { apiWords, plainWords } from '../../src/drawing/words.ts'
import { hostile } from '../support/report-world.ts'
import { webWorld } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'

const paths = ['/events', '/quests', '/raids', '/camps', '/nodes', '/abilities', '/aspects', '/seasons']

test('names and texts of the API are words, without its spelling and signs', () => {
  const names = [
    'raw3rdSpellCost',
    '1stSpellCost',
    'guildSeason28',
    'globalData.guildRaids.total',
    'ARCHETYPE',
    'Timelost Sanctum',
  ]
  expect(names.map(apiWords)).toEqual([
    'raw 3rd spell cost',
    '1st spell cost',
    'guild season 28',
    'guild raids, total',
    'archetype',
    'Timelost Sanctum',
  ])
  expect(plainWords('§cDamage: 5% (\uE004 Fire: 2%)')).toBe('Damage: 5% (Fire: 2%)')
})

describe('what is recorded of the world', () => {
  const web = webWorld('server', async (world) => {
    await liveWholeWorld(world)
    await world.db.query(
      `insert into game.gathering_node (x, y, z, resource, kind, level, valid_from, valid_until, hash)
       select place, 0, 0, 'OAK_LOG', 'woodcutting', place % 100, '2026-06-01T10:00Z', 'infinity', '\\x00'
         from generate_series(1, 450) place`,
    )
  })

  async function pageOf(path: string) {
    const { ask } = await web.served()
    const { status, text } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    return parseHTML(text).document
  }
  const cellsOf = async (path: string, column: number) =>
    [...(await pageOf(path)).querySelectorAll('#list tbody tr')].map((row) => row.children[column]?.textContent)

  test('has a page for each kind, which every page leads to, and which says what brings what is not there', async () => {
    const home = await pageOf('/')
    const linked = [...home.querySelectorAll('.site a')].map((one) => one.getAttribute('href'))
    expect(linked).toEqual(expect.arrayContaining(paths))
    for (const path of paths) {
      const page = await pageOf(path)
      const isThere = page.querySelectorAll('main tbody tr').length > 0
      expect([path, isThere || page.querySelector('main code')?.textContent?.startsWith('wynnsync sync ')]).toEqual([
        path,
        true,
      ])
      expect(page.querySelector('.site a[aria-current]')?.getAttribute('href')).toBe(path)
    }
  })

  test('is found by name, sorted by headings, and shown so many at a time', async () => {
    const page = await pageOf('/nodes')
    expect(page.querySelector('h1')?.textContent).toBe('450 gathering nodes')
    expect(page.querySelector('#list h3')?.textContent).toBe('1 to 200 of 450')
    expect(await cellsOf('/nodes?page=3', 0)).toHaveLength(50)
    // Of many that are called and rated the same, each is on one page.
    for (const sort of ['level', '-level']) {
      const places: unknown[] = []
      for (const nth of [1, 2, 3]) places.push(...(await cellsOf(`/nodes?sort=${sort}&page=${nth}`, 3)))
      expect([sort, new Set(places).size]).toEqual([sort, 450])
    }
    const heading = page.querySelector('#list th a[href*="sort=level"]')?.getAttribute('href')
    const levels = (await cellsOf(String(heading), 2)).map(Number)
    expect([levels[0], levels.at(-1)]).toEqual([0, 40])
    const falling = (await cellsOf('/nodes?sort=-level', 2)).map(Number)
    expect([falling[0], falling.at(-1)]).toEqual([99, 50])
    expect((await pageOf('/nodes?q=gold')).querySelector('h1')?.textContent).toBe('0 gathering nodes like gold')
    for (const odd of ['sort=none', 'sort=%22;drop', 'page=-1', 'page=1.5', 'page=x', 'page=999999', 'q=%25'])
      await pageOf(`/nodes?${odd}`)
  })

  test('runs no name, and says how many quests there are and were', async () => {
    const abilities = await pageOf('/abilities')
    expect(abilities.querySelectorAll('main [onload], main svg[onload], main b > b').length).toBe(0)
    expect(abilities.toString()).not.toContain(hostile.item)
    expect(await cellsOf('/abilities', 5)).toEqual(['Cooldown: 8 s'])
    const quests = await pageOf('/quests')
    expect(quests.querySelector('h1')?.textContent).toBe('102 quests in the game')
    expect(quests.querySelector('#changes tbody tr')?.textContent).toMatch(/100\s*102/)
    await web.world.db.query(
      `insert into sync.unsent (resource, field, last_sent_at, from_at, received_from, had, out_of, run_id, columns)
       select resource, '/quests', observed_at, observed_at, observed_at, 1, 1, run_id, '{quest_count.quests}'
         from sync.run where resource = 'quests' order by observed_at desc limit 1`,
    )
    expect((await pageOf('/quests')).querySelector('h1')?.textContent).toBe('The number of quests is not known')
    await web.world.db.query('delete from sync.unsent')
  })
})
