import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { leaderboards } from '../../src/resources/leaderboards/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { guildId, place } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'
import { headersOf, instantOf, type World } from '../support/world.ts'

async function live(world: World): Promise<void> {
  const at = new Date(instantOf('00:00'))
  for (const resource of ['territories', 'leaderboards'])
    await setExpectedInterval(world.db, { resource, everySeconds: 600, setBy: 'sync', at })
  const board = async (when: string, score: number) => {
    const body = { 1: { uuid: guildId('a'), name: 'Guild a', prefix: 'aaa', score } }
    const headers = headersOf(instantOf(when), 60)
    world.sandbox.setAnswer('/leaderboards/types', () => ({ body: ['guildLevel'], headers }))
    world.sandbox.setAnswer('/leaderboards/guildLevel', () => ({ body, headers }))
    await world.syncNow(leaderboards)
  }
  const held = { Oak: place('a', '09:00'), Elm: place('b', '09:00'), Ash: place('c', '09:00') }
  await world.sync(territories, held, '10:00')
  await board('10:00', 7)
  await world.sync(territories, held, '10:10')
  // What fell into a gap is known where the response after it shows it.
  const after = { ...held, Elm: place('a', '11 09:00') }
  for (const when of ['25 10:00', '25 10:10', '25 10:20']) await world.sync(territories, after, when)
  await board('25 10:20', 8)
}

describe('a period that lies in a gap', () => {
  const web = webWorld('server', live)
  const pageOf = async (path: string) => {
    const { ask } = await web.served()
    const { status, text } = await ask(path)
    expect([path, status]).toEqual([path, 200])
    return parseHTML(text).document
  }
  const rowsOf = (page: Awaited<ReturnType<typeof pageOf>>, places: readonly number[]) =>
    [...page.querySelectorAll('#list tbody tr')].map((row) => places.map((one) => row.children[one]?.textContent))
  const gap = 'from=2026-06-10T00:00Z&to=2026-06-12T00:00Z'

  test('has captures that are known, and of others it is not known that there was none', async () => {
    expect(rowsOf(await pageOf(`/guilds?sort=-name&${gap}`), [0, 6, 7])).toEqual([
      ['Guild c', '?', '?'],
      ['Guild a', '1', '?'],
    ])
    const watched = await pageOf('/guilds?sort=-name&from=2026-06-25T10:00Z&to=2026-06-25T10:20Z')
    expect(rowsOf(watched, [0, 6, 7])).toEqual([
      ['Guild c', '0', '0'],
      ['Guild a', '0', '0'],
    ])
    const tileOf = async (query: string) => (await pageOf(`/?${query}`)).querySelector('.numbers b')?.textContent
    expect(await tileOf(gap)).toBe('1')
    expect(await tileOf('from=2026-06-13T00:00Z&to=2026-06-14T00:00Z')).toBe('?')
  })

  test('is not one in which a guild held so much throughout, where responses show it at a few moments', async () => {
    const titleOf = async (query: string) =>
      (await pageOf(`/guilds/${guildId('c')}?${query}`)).querySelector('#guild-territories h3')?.textContent
    expect(await titleOf('from=2026-06-01T10:00Z&to=2026-06-25T10:21Z')).toBe(
      'It held 1 territory when the map was watched',
    )
    expect(await titleOf('from=2026-06-25T10:00Z&to=2026-06-25T10:20Z')).toBe(
      'It held 1 territory throughout this period',
    )
  })

  test('has no number of changes of a leaderboard', async () => {
    const changes = async (query: string) => rowsOf(await pageOf(`/leaderboards?${query}`), [2])
    expect(await changes(gap)).toEqual([['?']])
    expect(await changes('from=2026-06-25T10:00Z&to=2026-06-25T10:21Z')).toEqual([['1']])
  })
})
