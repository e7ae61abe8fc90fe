import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { guildBody, guildId, place, syncGuild } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'

const ore = { type: 'ORE', generation: 3600, baseGeneration: 3600, stored: 120, limit: 300 }
const emeralds = { type: 'EMERALD', generation: 9000, baseGeneration: 9000, stored: 50, limit: 3000 }

describe('the page of a guild, for who leads it', () => {
  const web = webWorld('server', async (world) => {
    const members = {
      1: { rank: 'owner', lastJoin: '2026-06-01T09:00:00Z' },
      2: { lastJoin: '2026-05-12T10:00:00Z' },
      3: { restrictions: { onlineStatus: true } },
    }
    const profiles = async (at: string, [own, other]: readonly [number, number]) => {
      await syncGuild(world, guildBody('a', members, { online: own }), at)
      await syncGuild(world, guildBody('b', { 4: { rank: 'owner' } }, { online: other }), at)
    }
    const map = async (at: string, oak: object, elm: object, fir: object) => {
      const ash = place('a', '08:00', { hq: true, treasury: 'HIGH', defences: 'LOW', resources: [ore, emeralds] })
      await world.sync(territories, { Ash: ash, Oak: oak, Elm: elm, Fir: fir }, at)
    }
    const own = place('a', '08:00')
    await profiles('10:00', [4, 9])
    await map('10:00', own, own, own)
    await profiles('11:00', [5, 3])
    await map('11:00', place('b', '10:30'), place('b', '10:40'), own)
    await map('12:00', place('c', '11:20'), place('a', '11:30'), own)
  })
  const page = async (query = '') => {
    const { ask } = await web.served()
    const { document } = parseHTML((await ask(`/guilds/${guildId('a')}${query}`)).text)
    const rows = (id: string) =>
      [...document.querySelectorAll(`#${id} tbody tr`)].map((row) => [...row.children].map((cell) => cell.textContent))
    return { document, rows, text: (selector: string) => document.querySelector(selector)?.textContent ?? '' }
  }

  test('says what it lost and to whom, who has it now, and from when it can be attacked', async () => {
    const { rows, text } = await page()
    expect(text('#lost h3')).toBe('1 of 2 lost territories is not won back')
    expect(rows('lost')).toEqual([['Oak', '2026-06-01 10:30', 'Guild b', 'Guild c', '2026-06-01 11:30']])
    const early = await page('?to=2026-06-01T10:20Z')
    expect(early.text('#rivals h3')).toMatch(/^No territory is known to be won or lost, /)
  })

  test('says what it produces and stores, where its headquarters are, and how each place is defended', async () => {
    const { rows, text } = await page()
    expect(text('#production h3')).toBe('It produces 9,000 emeralds and 3,600 ore an hour')
    expect(rows('production').map((cells) => cells.slice(0, 4))).toEqual([
      ['emeralds', '9,000', '50', '3,000'],
      ['ore', '3,600', '120', '300'],
    ])
    const ash = rows('standing').find(([name]) => name?.startsWith('Ash'))
    expect(ash?.slice(2)).toEqual(['high', 'low', 'headquarters'])
  })

  test('by a prefix is that of who has it where another once had it, and leads nowhere by one that several have', async () => {
    const { ask } = await web.served()
    const had = `insert into game.guild_listing (guild_uuid, name, prefix, valid_from, valid_until, hash)
                 values ($1, $2, $3, '2026-01-01Z', $4, '\\x00')`
    await web.world.db.query(had, [guildId('e'), 'Once', 'bbb', '2026-02-01Z'])
    await web.world.db.query(had, [guildId('f'), 'Twin', 'aaa', 'infinity'])
    const { status, text } = await ask('/guilds/bbb')
    expect([status, parseHTML(text).document.querySelector('h1')?.textContent]).toEqual([
      200,
      expect.stringContaining('Guild b'),
    ])
    expect((await ask('/guilds/aaa')).status).toBe(409)
    const own = await ask(`/guilds/${guildId('a')}`)
    expect([own.status, own.text.match(/(?:href|action)="\/guilds\/aaa(?!a)[^"]*"/g)]).toEqual([200, null])
    await web.world.db.query('delete from game.guild_listing where guild_uuid = any($1)', [
      [guildId('e'), guildId('f')],
    ])
  })

  test('does not say what is produced while the API does not send it', async () => {
    const { db } = web.world
    await db.query(
      `insert into sync.unsent (resource, field, last_sent_at, from_at, received_from, had, out_of, run_id, columns)
       select resource, '/resources/*/generation', observed_at, observed_at, observed_at, 1, 1, run_id, '{territory_resource.generation}'
         from sync.run where resource = 'territories' order by observed_at desc limit 1`,
    )
    expect((await page()).text('#production h3')).toBe('What its territories produce is not known')
    await db.query('delete from sync.unsent')
    expect((await page()).text('#production h3')).toMatch(/^It produces 9,000 emeralds/)
  })

  test('names who was on lately and who was silent for two weeks; who hides is neither', async () => {
    const { document } = await page()
    const names = (id: string) => [...document.querySelectorAll(`#${id} a`)].map((one) => one.textContent)
    expect([names('on-lately'), names('silent')]).toEqual([['Player1'], ['Player2']])
  })

  test('sets the hours of the day beside those of its first rival, without a choice', async () => {
    const { rows, text } = await page()
    expect(text('#rival-hours h3')).toMatch(/^Guild b: fewest online at 11:00 UTC, 3 on average$/)
    expect(rows('rival-hours').filter(([, own]) => own !== '?')).toEqual([
      ['10:00', '4', '9'],
      ['11:00', '5', '3'],
    ])
    expect((await page(`?rival=${guildId('b')}`)).text('#rival-week h3')).toMatch(/^Guild b: Busiest on /)
  })

  test('says how many of those who joined stayed, and has that and what else is asked of guilds as CSV', async () => {
    await syncGuild(web.world, guildBody('a', { 1: { rank: 'owner' }, 5: { joined: '12:10' } }), '12:30')
    const { rows, text, document } = await page()
    expect(text('#retention h3')).toBe('Whether the 1 member who joined stayed for 30 days is not known yet')
    expect(rows('retention')).toEqual([['2026-06', '1', '?', '1', '?', '1']])
    const { ask } = await web.served()
    const addresses = [...document.querySelectorAll('a[href*="format=csv"]')].map(
      (one) => one.getAttribute('href') ?? '',
    )
    const questions = addresses.map((one) => one.replace(/^\/api\/v1\/(\w+)\?.*$/, '$1'))
    expect(questions).toEqual(
      expect.arrayContaining(['member_activity', 'member_contribution', 'member_retention', 'guild_history']),
    )
    for (const address of addresses) expect([address, (await ask(address)).status]).toEqual([address, 200])
  })
})
