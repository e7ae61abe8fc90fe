import { parseHTML } from 'linkedom'
import { describe, expect, test } from 'vitest'
import { territories } from '../../src/resources/territories/index.ts'
import { setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { crawl } from '../support/crawl.ts'
import { guildBody, guildId, place, syncGuild } from '../support/guild-answers.ts'
import { webWorld } from '../support/web-world.ts'
import type { World } from '../support/world.ts'

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
        username: `Sixteen_Letters${nth}`.slice(-16),
        rank: nth === 0 ? 'owner' : 'recruit',
        joined: nth < 90 || hour < 15 ? '10:30' : '14:30',
        contributed: hour * 123_456,
        lastJoin: '2026-06-01T08:00:00Z',
        globalData: { wars: nth * hour, guildRaids: { total: hour } },
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
    ['moves', 'a', 40],
    ['lost', 'b', 40],
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

/** Guilds of a busy week. */
const GUILDS = 400

/** A name as long as those of the game are. */
const longName = (nth: number) => `Ancient Quarry of Northern Hope ${nth}`
const levelsOf = ['VERY_LOW', 'LOW', 'MEDIUM', 'HIGH', 'VERY_HIGH']

/** Everything that the API sends of a territory, with numbers of the usual length. */
const fullPlace = (nth: number) => {
  const [x, z] = [(nth % 21) * 120 - 1300, Math.floor(nth / 21) * 90 - 3300]
  const near = [nth - 1, nth + 1, nth - 21, nth + 21].filter((one) => one >= 0 && one < PLACES).map(longName)
  return place('c', '08:00', {
    location: { start: [x, z], end: [x + 110, z + 80] },
    hq: nth % 40 === 0,
    treasury: levelsOf[nth % 5],
    defences: levelsOf[(nth * 3) % 5],
    links: near,
    resources: ['EMERALD', 'ORE', 'CROP', 'FISH', 'WOOD'].map((type, place) => ({
      type,
      generation: 9000 + nth + place,
      baseGeneration: 9000,
      stored: 1200 + nth * 3,
      limit: 300_000,
    })),
  })
}

/** The guild of the most that is recorded of one: it takes part in the wars, has members who come and go, and is asked for every five minutes. */
const busy = '00000000-0000-4000-9000-000000000000'

/** What holds, members, numbers and stores of a busy week leave, as responses would have it. */
async function liveBusily(world: World): Promise<void> {
  const { db } = world
  await db.query(
    `insert into game.territory_capture (territory, captured_at, held_from, observed_at, from_guild_uuid, from_guild_name, to_guild_uuid, to_guild_name)
     select territory, valid_from, valid_from, valid_from, lag(guild_uuid) over past, lag(guild_name) over past, guild_uuid, guild_name
       from game.territory_hold where guild_uuid is not null window past as (partition by territory order by valid_from)`,
  )
  const profile = { uuid: busy, name: 'Keepers of the Northern Hope 0', prefix: 'KNHA', online: 40 }
  for (const [hour, at] of [
    [13, '02 10:00'],
    [16, '08 10:00'],
  ] as const)
    await syncGuild(world, guildBody('a', members(hour), profile), at)
  const every = (minutes: number) =>
    `generate_series(timestamptz '2026-06-01T10:00Z', '2026-06-08T10:00Z', interval '${minutes} minutes') at`
  await db.query(
    `insert into sync.observation (resource, key, status, observed_at, received_at, run_id)
     select 'guilds', '${busy}', 'ok', at, at, gen_random_uuid() from ${every(5)}`,
  )
  await db.query(
    `insert into game.guild_sample (guild_uuid, observed_at, level, members, online, wars)
     select '${busy}', at, 100, 150, 20 + (extract(epoch from at)::bigint / 300) % 37, extract(epoch from at)::bigint / 1000 from ${every(5)} on conflict do nothing`,
  )
  await db.query(
    `insert into game.member_counter (guild_uuid, player_uuid, counter, observed_at, value)
     select '${busy}', member.player_uuid, counter, at, extract(epoch from at)::bigint / 100 + extract(hour from at)
       from ${every(60)} cross join (select distinct player_uuid from game.guild_member where guild_uuid = '${busy}') member
      cross join unnest('{wars,contributed,guildRaids.total}'::text[]) counter on conflict do nothing`,
  )
  await db.query(
    `insert into game.territory_resource (territory, resource, observed_at, generation, base_generation, stored, storage_limit)
     select '${longName(0)}', resource, at, 9000 + extract(minute from at), 9000, (extract(epoch from at)::bigint / 300) % 30000, 30000
       from ${every(5)} cross join unnest('{EMERALD,ORE,CROP,FISH,WOOD}'::text[]) resource on conflict do nothing`,
  )
}

/** How often each territory changes hands, minutes, and how many moments of the week the map has room for. */
describe.each([
  ['a capture in each minute', 440, 40],
  ['eight captures in each minute', 50, 5],
] as const)('a week of a whole map with %s', (_, every, moments) => {
  const { served } = webWorld('server', async (world) => {
    const all = Object.fromEntries(Array.from({ length: PLACES }, (_, nth) => [longName(nth), fullPlace(nth)]))
    await world.sync(territories, all, '10:00')
    await world.sync(territories, all, '08 10:00')
    // A quarter of the fourth day was not observed.
    await setExpectedInterval(world.db, {
      resource: 'territories',
      everySeconds: 60,
      setBy: 'sync',
      at: new Date('2026-06-01T10:00Z'),
    })
    await world.db.query(
      `insert into sync.run (run_id, resource, status, complete, observed_at, started_at, finished_at, program)
       select gen_random_uuid(), 'territories', 'unchanged', true, at, at, at, 'test'
         from generate_series(timestamptz '2026-06-01T10:00Z', '2026-06-08T10:00Z', interval '1 minute') at where at not between '2026-06-04T00:00Z' and '2026-06-04T06:00Z'`,
    )
    await world.db.query(`delete from game.territory_hold`)
    await world.db.query(
      `insert into game.territory_hold (territory, guild_uuid, guild_name, guild_prefix, valid_from, valid_until, previous_until, observed_at, document, hash)
       select place.territory, ('00000000-0000-4000-9000-' || lpad(holder::text, 12, '0'))::uuid, 'Keepers of the Northern Hope ' || holder, 'KNH' || chr(65 + holder % 26),
              at, case when nth < last then at + make_interval(mins => ${every}) else 'infinity' end, case when nth > 0 then at end, at, '{}', '\\x00'
         from (select territory, row_number() over (order by territory)::int as number from game.territory where valid_until = 'infinity') place
        cross join (select 7 * 1440 / ${every} as last) many
        cross join lateral generate_series(0, last) nth
        cross join lateral (select timestamptz '2026-06-01T10:00Z' + make_interval(mins => nth * ${every} + number % ${every}) as at,
                                   (nth * nth * 7 + number * 13) % ${GUILDS} as holder) moment`,
    )
    await liveBusily(world)
    await world.db.query('analyze')
  })
  const bytesOf = (text: string) => Buffer.byteLength(text)

  test.each([
    ['/captures', '#latest tbody tr'],
    ['/captures?page=2', '#latest tbody tr'],
    [`/guilds/${busy}?rival=00000000-0000-4000-9000-000000000001`, '#members-list tbody tr'],
    [`/territories/${encodeURIComponent(longName(0))}`, '#hold-list tbody tr'],
    [`/territories/${encodeURIComponent(longName(0))}?table=storage`, '#storage tbody tr'],
  ])('has all that a page shows in 300 kB: %s', async (path, rows) => {
    const { ask } = await served()
    const { status, text } = await ask(path)
    expect(status).toBe(200)
    const { document } = parseHTML(text)
    const parts = [...document.querySelectorAll('figure')].map(
      (one) => `${one.id} ${Math.round(bytesOf(one.outerHTML) / 1000)} kB`,
    )
    expect(document.querySelectorAll(rows).length).toBeGreaterThan(20)
    expect([bytesOf(text) <= MOST, bytesOf(text), parts]).toEqual([true, bytesOf(text), parts])
  })

  test('has a map of as many steps as there is room for, the last moment among them', async () => {
    const { ask } = await served()
    const { document } = parseHTML((await ask('/map')).text)
    const { times, names, changes } = JSON.parse(String(document.querySelector('#map-states')?.textContent))
    expect(times.length).toBeGreaterThan(moments)
    expect([changes.length, names.length <= GUILDS]).toEqual([PLACES, true])
    const shown = String(document.querySelector('#map-time')?.textContent)
    const last = Number(document.querySelector('#map-slider')?.getAttribute('max'))
    expect([last, shown]).toEqual([times.length - 1, '2026-06-08 10:00 UTC'])
    // Who holds a place last, and what the legend counts, are the same as without a past.
    const held = new Map<number, number>()
    for (const [, list] of changes) held.set(list.at(-1)[1], (held.get(list.at(-1)[1]) ?? 0) + 1)
    for (const item of document.querySelectorAll('#map-legend [data-guild]'))
      expect(Number(item.querySelector('b')?.textContent)).toBe(held.get(Number(item.getAttribute('data-guild'))) ?? 0)
    const { blind } = JSON.parse(String(document.querySelector('#map-places')?.textContent))
    expect(blind.length).toBeGreaterThan(0)
    expect(Math.max(...blind)).toBeLessThan(times.length)
    // The list that has no room has a place of its own.
    const list = document.querySelector('#map .note a[href^="/api/v1/map_at"]')?.getAttribute('href') ?? ''
    expect(document.querySelectorAll('#map table').length).toBe(0)
    expect((await ask(list)).text.trim().split('\n').length).toBe(PLACES + 1)
  })

  test('has no page of more than 300 kB, six links from the first', { timeout: 600_000 }, async () => {
    const { url, ask } = await served()
    const wide: string[] = []
    let pages = 0
    for await (const { path, status, text, isPage } of crawl(url, ask, { depth: 6, ofEach: 3 })) {
      if (isPage && bytesOf(text) > MOST) wide.push(`${path}: ${bytesOf(text)} bytes`)
      if (status >= 400) wide.push(`${path}: ${status}`)
      if (isPage) pages++
    }
    expect(wide).toEqual([])
    expect(pages).toBeGreaterThan(30)
  })
})
