import { describe, expect, test } from 'vitest'
import { items } from '../../src/resources/items/index.ts'
import { guildId, playerId } from '../support/guild-answers.ts'
import { rowsRead } from '../support/plan.ts'
import { serve, webWorld } from '../support/web-world.ts'
import { liveWholeWorld } from '../support/whole-world.ts'
import { instantOf, item } from '../support/world.ts'

/** Statements that a page may make of the database, with those of the header, where nothing of it was made before: with one for each of its sessions. */
const most: Readonly<Record<string, number>> = {
  '/': 20,
  '/?to=2026-06-01T12:00Z': 19,
  '/map': 15,
  '/captures': 13,
  '/records': 7,
  '/territories': 13,
  '/territories/Oak': 16,
  '/guilds': 9,
  '/guilds?sort=won': 9,
  [`/guilds/${guildId('a')}`]: 29,
  // Of a period in which nobody gained any, six counters are tried.
  '/gained': 15,
  // With the switch of periods, and the choices of its form.
  '/items': 7,
  '/items/bow': 10,
  [`/players/${playerId(1)}`]: 14,
  '/patches': 7,
  '/patches/1': 12,
  '/worlds': 13,
  '/pools': 7,
  '/leaderboards': 8,
  '/leaderboards/guildLevel': 8,
  '/status': 10,
  '/runs': 6,
  // With the switch of periods.
  '/events': 6,
  '/quests': 6,
  '/search?q=script': 12,
}

describe('statements of a page', () => {
  const web = webWorld('server', liveWholeWorld)

  /** A server, and how many statements it made since the last time that was asked. */
  async function counting() {
    let statements = 0
    const { db } = web.world
    const transaction: typeof db.transaction = (work, options) =>
      db.transaction((sql) => {
        const query: typeof sql.query = (...given) => {
          statements++
          return sql.query(...given)
        }
        return work({ ...sql, query })
      }, options)
    const { ask } = await serve({ ...web.world, db: Object.assign(Object.create(db), { transaction }) })
    const made = async (path: string) => {
      statements = 0
      expect([path, (await ask(path)).status]).toEqual([path, 200])
      return statements
    }
    return made
  }

  test.each(Object.entries(most))('are few: %s makes at most %i', async (path, limit) => {
    const made = await counting()
    const statements = await made(path)
    expect(statements).toBeLessThanOrEqual(limit)
    // A limit far above them holds nothing.
    expect(statements).toBeGreaterThanOrEqual(limit - 2)
  })

  test('count patches anew only where a change has come or an article', async () => {
    const counted: boolean[] = []
    const { db } = web.world
    const transaction: typeof db.transaction = (work, options) =>
      db.transaction((sql) => {
        const query: typeof sql.query = async (text, values) => {
          const rows = await sql.query<{ patch?: unknown }>(text, values)
          if (/from analytics\.patch\b/.test(text)) {
            const plan = JSON.stringify(await sql.query(`explain (analyze, costs off) ${text}`, values))
            const isRead = !/CTE format[^>]*->[^>]*never executed/.test(plan)
            expect(rows.some(({ patch }) => patch !== null)).toBe(isRead)
            counted.push(isRead)
          }
          return rows as never
        }
        return work({ ...sql, query })
      }, options)
    const { ask } = await serve({ ...web.world, db: Object.assign(Object.create(db), { transaction }) })
    const titles: (string | undefined)[] = []
    for (const path of ['/patches?from=2026-05-01', '/patches/1', '/', '/feeds/patches.atom']) await ask(path)
    expect(counted).toEqual([true, false, false, false])
    const said = async () => /<h1[^>]*>(.*?)</.exec((await ask('/patches/2')).text)?.[1]
    titles.push(await said())
    await web.world.sync(items, [item('bow'), item('shield')], '22:30')
    await web.world.sync(items, [item('bow', { averageDps: 7 }), item('shield')], '23:30')
    titles.push(await said())
    expect(counted.slice(-2)).toEqual([false, true])
    expect(titles).toEqual(['There is no such page', expect.stringMatching(/^Patch 2: /)])
    await db.query(
      `insert into game.article (pk, title, document, hash, published_at, valid_from) values (1, 'A later article', '{}', '', $1, $1)`,
      [new Date(instantOf('23:40'))],
    )
    await ask('/patches/2?a')
    expect([(await ask('/feeds/patches.atom?x')).status, counted.at(-1)]).toEqual([200, true])
  })

  test('read the latest sample of each resource of a territory for the map, however many there are', async () => {
    const { db } = web.world
    await db.query(
      `insert into game.territory_resource (territory, resource, observed_at, generation, base_generation, stored, storage_limit)
       select place.territory, kind, $1::timestamptz - n * interval '1 minute', n, n, n, 1000
         from game.territory place, unnest('{EMERALD,ORE}'::text[]) kind, generate_series(1000, 1500) n
        where place.valid_until = 'infinity' on conflict do nothing`,
      [new Date(instantOf('12:00'))],
    )
    let [read, places] = [0, 0]
    const transaction: typeof db.transaction = (work, options) =>
      db.transaction((sql) => {
        const query: typeof sql.query = async (text, values) => {
          if (text.includes('territory_resource')) {
            read += await rowsRead(sql, /^territory_resource/, text, values)
            places = (await sql.query('select from analytics.territory')).length
          }
          return await sql.query(text, values)
        }
        return work({ ...sql, query })
      }, options)
    const { ask } = await serve({ ...web.world, db: Object.assign(Object.create(db), { transaction }) })
    expect((await ask('/map')).status).toBe(200)
    expect(places).toBeGreaterThan(1)
    expect(read).toBeLessThan(places * 12)
  })

  test('count captures of the list of guilds by the pairs of guilds that fought, however many there are', async () => {
    const { db } = web.world
    await db.query(
      `insert into game.territory_capture (territory, captured_at, held_from, observed_at, from_guild_uuid, to_guild_uuid)
       select 'Oak', at, at, at, $1::text::uuid, $2::text::uuid
         from generate_series($3::timestamptz - interval '500 seconds', $3, interval '1 second') at`,
      [guildId('a'), guildId('b'), new Date(instantOf('11:00'))],
    )
    const read: number[] = []
    const transaction: typeof db.transaction = (work, options) =>
      db.transaction((sql) => {
        const query: typeof sql.query = async (text, values) => {
          if (text.includes('territory_capture')) read.push(await rowsRead(sql, /^CTE Scan$/, text, values))
          return await sql.query(text, values)
        }
        return work({ ...sql, query })
      }, options)
    const { ask } = await serve({ ...web.world, db: Object.assign(Object.create(db), { transaction }) })
    expect((await ask('/guilds')).text).toContain('>502<')
    expect(read).toHaveLength(1)
    expect(read[0]).toBeLessThan(250)
  })

  test('look up names of guilds for what is shown, and not for every guild that is listed', async () => {
    const { db } = web.world
    await db.query(
      `insert into game.guild_listing (guild_uuid, name, prefix, valid_from, hash)
       select md5('listed ' || nth)::uuid, 'listed ' || nth, 'L' || nth, $1, '' from generate_series(1, 3000) nth`,
      [new Date(instantOf('10:00'))],
    )
    await db.query('analyze game.guild_listing')
    const read: string[] = []
    const transaction: typeof db.transaction = (work, options) =>
      db.transaction((sql) => {
        const query: typeof sql.query = async (text, values) => {
          if (/membership_event|'player' as kind/.test(text)) {
            const listings = await rowsRead(sql, /^guild_listing$/, text, values)
            if (listings > 1000) read.push(`${listings}: ${text}`)
          }
          return await sql.query(text, values)
        }
        return work({ ...sql, query })
      }, options)
    const { ask } = await serve({ ...web.world, db: Object.assign(Object.create(db), { transaction }) })
    for (const path of ['/', `/guilds/${guildId('a')}`, `/feeds/guilds/${guildId('a')}.atom`, '/search?q=guild'])
      expect([path, (await ask(path)).status]).toEqual([path, 200])
    expect(read).toEqual([])
    await db.query(`delete from game.guild_listing where name like 'listed %'`)
  })

  test('are made once for the parts of the first page that name no player', async () => {
    const made = await counting()
    await made('/')
    expect(await made('/')).toBeLessThanOrEqual(4)
  })
})
