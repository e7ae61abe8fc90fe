import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, syncGuild } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'

/** What a page may have, and what the grids of two whole weeks add to one of few hours, uncompressed. */
const [MOST, WEEKS] = [300_000, 40_000]

/** Members of the biggest guilds of the game, and territories of the whole map. */
const [MEMBERS, PLACES] = [150, 440]

/** All fight; most join after the first hour, and some leave for some hours. */
const members = (hour: number) =>
  Object.fromEntries(
    Array.from({ length: hour === 10 ? 1 : hour > 11 && hour < 15 ? 90 : MEMBERS }, (_, nth) => [
      nth + 1,
      {
        ...{ username: `Sixteen_Letters${nth}`.slice(-16), rank: nth === 0 ? 'owner' : 'recruit' },
        ...{ joined: nth < 90 || hour < 15 ? '10:30' : '14:30', contributed: hour * 123_456 },
        ...{ lastJoin: '2026-06-01T08:00:00Z', globalData: { wars: nth * hour, guildRaids: { total: hour } } },
      },
    ]),
  )
/** A guild that takes a third of the map; the others stay with another. */
const map = (holder: string, since: string) =>
  Object.fromEntries(
    Array.from({ length: PLACES }, (_, nth) => {
      const at = { location: { start: [nth * 10, 0], end: [nth * 10 + 9, 60] } }
      return [`Place of Many Letters ${nth}`, place(nth % 3 === 0 ? holder : 'c', nth % 3 === 0 ? since : '08:00', at)]
    }),
  )

describe('a page of the most that there can be', () => {
  const { served } = webWorld('server', async (world) => {
    for (const hour of [10, 11, 12, 13, 14, 15, 16]) {
      await syncGuild(world, guildBody('a', members(hour), { online: 40 }), `${hour}:00`)
      await syncGuild(world, guildBody('b', { 999: { rank: 'owner' } }, { online: 9 }), `${hour}:00`)
    }
    await world.sync(territories, map('a', '08:00'), '10:00')
    await world.sync(territories, map('b', '10:30'), '11:00')
    await world.sync(territories, map('a', '11:20'), '12:00')
  })

  test.each([
    `/guilds/${guildId('a')}`,
    `/guilds/${guildId('a')}?rival=${guildId('b')}&sort=name`,
    `/guilds/${guildId('b')}`,
    '/',
    '/map',
    '/territories',
    '/captures',
  ])('is small: %s', async (path) => {
    const { ask } = await served()
    const { status, text } = await ask(path)
    expect(status).toBe(200)
    expect(text.length).toBeLessThanOrEqual(MOST - (path.startsWith('/guilds/') ? WEEKS : 0))
  })

  test.each([
    ['moves', 'a', 60],
    ['lost', 'b', 100],
  ])('leaves nothing of %s of guild %s out without a link to all of it', async (id, letter, shown) => {
    const { ask } = await served()
    const { document } = parseHTML((await ask(`/guilds/${guildId(letter)}`)).text)
    expect(document.querySelectorAll(`#${id} tbody tr`).length).toBe(shown)
    const link = document.querySelector(`#${id} .note a[href^="/api/"]`)?.getAttribute('href') ?? ''
    const { status, text } = await ask(link)
    expect(status).toBe(200)
    expect(text.trim().split('\n').length).toBeGreaterThan(PLACES / 3)
  })
})
