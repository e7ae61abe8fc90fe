import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { HttpExchange } from '../../src/api/http/http-exchange.ts'
import { together } from '../../src/db/typed.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { inProfiles } from '../../src/resources/personal.ts'
import { players } from '../../src/resources/players/index.ts'
import { archivedRows } from '../../src/sync/archive/archive.ts'
import { expireRaw, rawDays } from '../../src/sync/archive/archive-retention.ts'
import { eraseRaw, isUnkeepable } from '../../src/sync/archive/erase-archived.ts'
import { openResponse } from '../../src/sync/respond/known-before.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { engineOn, guards } from '../support/archive.ts'
import { guildBody, guildId, playerId } from '../support/guild-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { instantOf, item, worldOf } from '../support/world.ts'

const kept = { raw: true, ...guards }

describe.each(kindsOfPart)('raw answers on the %s database', (kind) => {
  const world = worldOf(kind)
  const { sync } = world
  const counts = async () =>
    (await world.rows('select (select count(*) from sync.raw_answer), (select count(*) from sync.raw_body)'))[0]
  const bodies = async () =>
    (await world.db.query<{ body: Uint8Array }>('select body from sync.raw_body')).map(({ body }) =>
      brotliDecompressSync(body).toString('utf8'),
    )
  const keep = (resource: typeof guilds, keys: string[]) =>
    runResource(resource, engineOn(world, world.db, true), { keys, concurrency: 1 })

  test('are what the API sent, to the letter, each distinct body once', async () => {
    const elm = [item('Elm', { lore: 'Grün 🌲', novelty: { b: 1, a: [1.0, null] } })]
    await sync(items, elm, '10:00', kept)
    await sync(items, elm, '11:00', kept)
    await sync(items, [item('Elm')], '12:00', kept)
    await sync(items, elm, '13:00', kept)
    expect(await counts()).toEqual([4, 2])
    expect((await bodies()).sort()).toEqual([JSON.stringify([item('Elm')]), JSON.stringify(elm)].sort())
    const asked = await world.rows(
      `select resource, key, request, http_status, credential, observed_at, taken_at, status,
              headers ? 'expires', (select count(*) from sync.run where run_id = raw.run_id)
         from sync.raw_answer raw order by answer_id limit 2`,
    )
    expect(asked).toEqual([
      ['items', null, 'GET /item/database?fullResult', 200, 'guest', '10:00', '10:00', 'ok', true, 1],
      ['items', null, 'GET /item/database?fullResult', 200, 'guest', '11:00', '11:00', 'unchanged', true, 1],
    ])
  })

  test('are not kept again for the same copy, nor when they are stale, nor when that is off', async () => {
    await sync(items, [item('Elm')], '10:00', kept)
    await sync(items, [item('Elm')], '10:00', kept)
    await sync(items, [item('Oak')], '09:00', kept)
    expect(await counts()).toEqual([1, 1])
    await sync(items, [item('Elm'), item('Oak')], '11:00')
    expect(await counts()).toEqual([1, 1])
  })

  test('are kept of what is refused as implausible and of what cannot be read', async () => {
    await sync(items, [item('Elm'), item('Oak'), item('Ash')], '10:00', kept)
    await sync(items, [item('Elm')], '11:00', kept)
    await sync(items, 'another shape', '12:00', kept)
    await sync(items, [item('Elm')], '13:00', { ...kept, accept: true })
    expect(await world.rows('select status, accepted, observed_at from sync.raw_answer order by answer_id')).toEqual([
      ['ok', false, '10:00'],
      ['rejected', false, '11:00'],
      ['failed', false, null],
      ['unchanged', true, '13:00'],
    ])
  })

  test('are kept byte for byte where they are not UTF-8, and told apart from what they would be read as', async () => {
    const bytes = Buffer.from(JSON.stringify([item('Gr\xfcn')]), 'latin1')
    expect(await sync(items, bytes, '10:00', kept)).toMatchObject({ status: 'failed', temporary: true })
    const [row] = await world.db.query<{ body: Uint8Array }>('select body from sync.raw_body')
    expect(brotliDecompressSync(row?.body ?? new Uint8Array())).toEqual(bytes)
    expect(await world.rowCounts()).not.toHaveProperty('game.item')
  })

  test('are locked before anything is read: a response that waits for the archive sees what was done with it', async () => {
    await sync(items, [item('Elm')], '10:00', kept)
    const { db } = world
    const asked = { key: undefined, now: instantOf('11:00'), archives: true }
    const open = () => db.transaction((sql) => openResponse(sql, items, asked))
    expect((await open()).last?.reload).toBe(false)
    let locking: Promise<void> | undefined
    await new Promise<void>((locked) => {
      locking = db.transaction(async (sql) => {
        await sql.query('lock table sync.raw_answer in access exclusive mode')
        locked()
        await setTimeout(300)
        await sql.query('update sync.run set reload = true')
      })
    })
    const [opened] = await Promise.all([open(), locking])
    expect(opened.last?.reload).toBe(true)
  })

  test('go when they are older than their retention, and bodies with the last answer that has them', async () => {
    await sync(items, [item('Elm')], '10:00', kept)
    await sync(items, [item('Oak'), item('Elm')], '02 10:00', kept)
    await sync(items, [item('Elm'), item('Oak')], '03 09:00', kept)
    await sync(items, [item('Oak'), item('Elm')], '03 10:00', kept)
    expect(await counts()).toEqual([4, 3])
    const now = instantOf('03 10:30')
    expect(await expireRaw(world.db, { days: rawDays([items], {}), now })).toBe(0)
    expect(await expireRaw(world.db, { days: { items: Number.POSITIVE_INFINITY }, now })).toBe(0)
    expect(await expireRaw(world.db, { days: rawDays([items], { items: 1 }), now })).toBe(2)
    expect(await counts()).toEqual([2, 2])
    expect(() => rawDays([items], { itmes: 1 })).toThrow('no resource is called itmes')
  })

  test('that were refused or of an unknown shape are looked into too, whomever the tables know', async () => {
    const [a, guild] = [playerId(1), guildId('z')]
    const said = async (resource: string, key: string | undefined, status: string, text: string) => {
      const outcome = { status: 200, headers: new Headers(), body: JSON.parse(text) as unknown, receivedAt: 0 }
      const heard = { request: { method: 'GET', path: '/' }, outcome, credential: 'guest' } as unknown as HttpExchange
      const personal = inProfiles
      const taken = { resource, personal, runId: randomUUID(), takenAt: new Date(0), observedAt: null, status }
      await together(world.db, await archivedRows(world.db, [heard], key === undefined ? taken : { ...taken, key }))
    }
    await world.db.query(
      `insert into game.guild_member (guild_uuid, player_uuid, username, rank, joined, valid_from, hash)
       values ($1, $2, 'Somebody', 'recruit', $3, $3, '\\x00')`,
      [guildId('a'), a, new Date(0)],
    )
    const member = { globalData: { wars: 7700 } }
    await said('guilds', guild, 'rejected', JSON.stringify(guildBody('z', { 1: member, 2: member })))
    await said('guilds', guild, 'failed', JSON.stringify([{ [a.toUpperCase()]: { wars: 7701 } }]))
    await said('guilds', guild, 'failed', JSON.stringify({ Members: { Somebody: { wars: 7702 } } }))
    await said('online-players', undefined, 'rejected', JSON.stringify({ total: 9, players: { [a]: 'EU7703' } }))
    await said('players', a, 'failed', JSON.stringify(['7704']))
    await said('guilds', guild, 'failed', JSON.stringify([{ [playerId(2)]: { wars: 7705 } }]))
    expect(await counts()).toEqual([6, 6])
    const all = ['mainAccess', 'onlineStatus'].map((fieldGroup) => ({ playerUuid: a, fieldGroup }))
    await world.db.transaction((sql) => eraseRaw(sql, inProfiles, all))
    const left = (await bodies()).join(' ')
    expect([...left.matchAll(/770\d/g)].map(([text]) => text).sort()).toEqual(['7700', '7703', '7705'])
    // That somebody was on the world is counted; who it was is gone.
    expect((await bodies()).filter((text) => text.includes('7703') && text.includes(a))).toEqual([])
    expect(await counts()).toEqual([3, 3])
    // Who hides something is not shown by what nobody can take apart; nor is anybody by what is no JSON.
    await world.db.query(
      `insert into sync.privacy_restriction (player_uuid, field_group, told_by, since) values ($1, 'mainAccess', 'players/x', $2)`,
      [a, new Date(0)],
    )
    await said('guilds', guild, 'failed', JSON.stringify([{ [a]: { wars: 7706 } }]))
    expect((await bodies()).join(' ')).not.toContain('7706')
  })

  test('that are no JSON are kept where they cannot tell of people', async () => {
    const text = Buffer.from('{"Elm": {"a')
    await world.db.transaction(async (sql) => {
      expect(await isUnkeepable(sql, items.personal, text)).toBe(false)
      expect(await isUnkeepable(sql, guilds.personal, text)).toBe(true)
      expect(await isUnkeepable(sql, guilds.personal, Buffer.from('{"name": "\xfc"}', 'latin1'))).toBe(true)
    })
  })

  test('that are damaged go whole where a player hides something, and keep nobody from that', async () => {
    const [one, other, sound] = [playerId(1), playerId(2), playerId(3)]
    await world.clock.advanceTo(instantOf('10:00'))
    for (const uuid of [one, other, sound]) {
      const body = { uuid, username: `Some${uuid.slice(-1)}`, playtime: 1, globalData: { wars: 1 }, characters: {} }
      world.sandbox.setAnswer(`/player/${uuid}`, () => ({ body }))
      await keep(players, [uuid])
    }
    expect(await counts()).toEqual([3, 3])
    const damage = (uuid: string, body: string) =>
      world.db.query(
        `update sync.raw_body set body = ${body} where hash = (select hash from sync.raw_answer where key = $1)`,
        [uuid],
      )
    await damage(one, `'\\x00'`)
    // It unpacks to another text.
    await damage(other, `(select body from sync.raw_answer join sync.raw_body using (hash) where key = '${sound}')`)
    const targets = [one, other].map((playerUuid) => ({ playerUuid, fieldGroup: 'mainAccess' }))
    const erased = await world.db.transaction((sql) => eraseRaw(sql, inProfiles, targets))
    expect(erased).toEqual(targets.map((target) => ({ ...target, table: 'sync.raw_body', rows: 1 })))
    expect(await world.rows('select key::text from sync.raw_answer')).toEqual([[sound]])
    expect(await counts()).toEqual([1, 1])
  })

  test('lose what a player hides, and all of a player who is purged', async () => {
    const [a, b] = [playerId(1), playerId(2)]
    const at = (hour: string) => ({
      'Cache-Control': 'max-age=60',
      Expires: new Date(instantOf(hour) + 60_000).toUTCString(),
    })
    const profile = { uuid: a, username: 'Somebody', playtime: 4242, globalData: { wars: 77 }, characters: {} }
    await world.clock.advanceTo(instantOf('10:00'))
    world.sandbox.setAnswer(`/player/${a}`, () => ({ headers: at('10:00'), body: profile }))
    world.sandbox.setAnswer('/player', () => ({
      headers: at('10:00'),
      body: { total: 2, players: { [a]: 'WC1', [b]: 'WC1' } },
    }))
    const members = {
      1: { lastJoin: '2026-05-31T20:00:00Z', globalData: { wars: 77 } },
      2: { globalData: { wars: 5 } },
    }
    world.sandbox.setAnswer(`/guild/uuid/${guildId('a')}`, () => ({
      headers: at('10:00'),
      body: guildBody('a', members),
    }))
    await keep(players, [a])
    await keep(guilds, [guildId('a')])
    await runResource(onlinePlayers, engineOn(world, world.db, true))
    expect(await counts()).toEqual([3, 3])
    expect((await bodies()).filter((text) => text.includes('77'))).toHaveLength(2)

    const erase = (fieldGroup: string, until?: string) =>
      world.db.transaction((sql) =>
        eraseRaw(sql, inProfiles, [
          { playerUuid: a, fieldGroup, ...(until ? { until: new Date(instantOf(until)) } : {}) },
        ]),
      )
    expect(await erase('mainAccess', '09:59')).toEqual([])
    expect(await erase('mainAccess')).toEqual([
      { playerUuid: a, fieldGroup: 'mainAccess', table: 'sync.raw_body', rows: 2 },
    ])
    expect(await erase('mainAccess')).toEqual([])
    expect((await bodies()).filter((text) => /77|4242/.test(text))).toEqual([])
    expect(await counts()).toEqual([3, 3])

    expect(await erase('everything')).toMatchObject([{ rows: 3 }])
    expect(await counts()).toEqual([2, 2])
    expect((await bodies()).filter((text) => text.includes(a))).toEqual([])
    expect((await bodies()).filter((text) => text.includes(b))).toHaveLength(2)
    const [guild] = (await bodies()).map((text) => JSON.parse(text)).filter((body) => body.members)
    expect(guild.members.total).toBe(1)
  })
})
