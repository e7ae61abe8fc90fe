import { describe, expect, test } from 'vitest'
import { RecordError } from '../../src/base/errors.ts'
import type { Database } from '../../src/db/database.ts'
import { aspects } from '../../src/resources/aspects/index.ts'
import { guildList } from '../../src/resources/guild-list/index.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { resources as all, growingTables } from '../../src/resources/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { normalizeItem } from '../../src/resources/items/normalize.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import type { AnswerHook } from '../../src/sandbox/index.ts'
import { compressed } from '../../src/sync/archive/bodies.ts'
import { compactCoverage } from '../../src/sync/coverage/coverage.ts'
import { isWorklist, type Resource, type Worklist } from '../../src/sync/declare/resource.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { replay } from '../../src/sync/replay/replay.ts'
import { tablesOf } from '../../src/sync/replay/replayed-tables.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { readRetention } from '../../src/sync/retention/retention.ts'
import { bulkTable } from '../../src/sync/sql/history-sql.ts'
import { engineOn, guards, syncOn } from '../support/archive.ts'
import { guildBody, guildId, place, syncGuild } from '../support/guild-answers.ts'
import { kindsOfLongTests, testDatabase } from '../support/postgres.ts'
import { contentOf, instantOf, item, openWorld, worldOf } from '../support/world.ts'

const kept = { raw: true, ...guards }

/** The same resource with a normalizer that sees more in each record. */
function changed<R extends Resource | Worklist>(resource: R, see: (record: unknown) => object): R {
  const normalize: R['normalize'] = (record) => {
    const entity = resource.normalize(record)
    return { ...entity, document: { ...Object(entity.document), ...see(record) } }
  }
  return { ...resource, normalize }
}

const field = (record: unknown, name: string) => (Reflect.get(Object(record), name) ?? null) as never

describe.each(kindsOfLongTests)('a replay on the %s database', (kind) => {
  const world = worldOf(kind)
  const replayed = (resources: readonly (Resource | Worklist)[], options = {}) =>
    replay(engineOn(world, world.db, false), { resources, swap: true, ...options })

  test('after a change in a normalizer makes what a fresh sync with that normalizer makes', async () => {
    const fresh = await testDatabase(kind)
    const start = Date.parse('2026-06-01T12:00:00Z')
    const game = await openWorld(world.db, { game: { guilds: 90, players: 300 }, seed: 3, dialect: 'live' }, start)
    const before = [territories, guildList, onlinePlayers, guilds, players]
    const after = [
      changed(territories, (record) => ({ hq: field(field(record, 'record'), 'hq') })),
      changed(guildList, (record) => ({ tag: `${field(record, 'prefix')}!` })),
      changed(onlinePlayers, () => ({ seen: true })),
      // In a guild's document level and wars make further versions.
      changed(guilds, (record) => ({ level: field(record, 'level'), wars: field(record, 'wars') })),
      changed(players, (record) => ({ playtime: field(record, 'playtime') })),
    ]
    try {
      for (let step = 0; step < 4; step++) {
        await game.clock.advanceTo(start + step * 300_000)
        for (const [nth, resource] of before.entries()) {
          const told = await syncOn(engineOn(game, world.db, true), resource)
          await syncOn(engineOn(game, fresh, false), after[nth] ?? resource)
          expect([resource.name, told.status, told.error]).toEqual([
            resource.name,
            expect.stringMatching(/^(ok|unchanged)$/),
            undefined,
          ])
        }
      }
    } finally {
      await game.api.close()
      await game.sandbox.close()
    }
    expect(await contentOf(world.db)).not.toEqual(await contentOf(fresh))

    const { lost, swapped, resources, tables } = await replayed(after)
    expect({ lost, swapped, left: resources.filter((one) => !one.isReplayed) }).toEqual({
      lost: [],
      swapped: true,
      left: [],
    })
    expect(tables.find((one) => one.table === 'game.guild')?.onlyAfter).toBeGreaterThan(0)
    expect(await contentOf(world.db)).toEqual(await contentOf(fresh))
  })

  test('of responses whose parts failed, whichever way, makes the same again', async () => {
    const aspect = (name: string, of: string) => ({ internalName: name, name, requiredClass: of, rarity: 'rare' })
    const names = ['archer', 'mage', 'warrior']
    const answer = (name: string, hook: AnswerHook) => world.sandbox.setAnswer(`/aspects/${name}`, hook)
    world.sandbox.setAnswer('/classes', () => ({ body: Object.fromEntries(names.map((name) => [name, { name }])) }))
    const syncAt = async (at: string, rarity: string) => {
      await world.clock.advanceTo(instantOf(at))
      answer('archer', () => ({ body: [{ ...aspect('a1', 'archer'), rarity }, aspect('a2', 'archer')] }))
      answer('warrior', () => ({ body: [aspect('w1', 'warrior')] }))
      return await world.syncNow(aspects, kept)
    }
    const odd: AnswerHook[] = [
      () => ({ status: 503, body: '<html>no</html>', headers: { 'content-type': 'text/html' } }),
      () => ({ status: 404, body: { error: 'NotFound', detail: 'no such class' } }),
      () => ({ body: '<html>maintenance</html>' }),
      () => ({ body: new Uint8Array([0xff, 0xfe, 0x00]) }),
    ]
    answer('mage', () => ({ body: [aspect('m1', 'mage')] }))
    await syncAt('08:00', 'rare')
    for (const [nth, hook] of odd.entries()) {
      answer('mage', hook)
      expect(await syncAt(`${String(10 + 2 * nth).padStart(2, '0')}:00`, `rarity ${nth}`)).toMatchObject({
        status: 'partial',
        changed: 1,
      })
    }
    answer('mage', () => ({ body: [aspect('m1', 'mage')] }))
    for (const name of ['assassin', 'shaman']) answer(name, () => ({ body: [] }))
    // Without the list, the classes that are known are asked for.
    for (const [nth, hook] of odd.entries()) {
      world.sandbox.setAnswer('/classes', hook)
      await world.clock.advanceTo(instantOf(`${18 + nth}:00`))
      answer('warrior', () => ({ body: [{ ...aspect('w1', 'warrior'), rarity: `rarity ${nth}` }] }))
      expect(await world.syncNow(aspects, kept)).toMatchObject({ status: 'partial', closed: 0 })
    }
    world.sandbox.setAnswer('/classes', () => ({ body: Object.fromEntries(names.map((name) => [name, { name }])) }))
    await syncAt('22:00', 'rare')
    // Of one that failed without a response, nothing is archived.
    await world.db.query(`delete from sync.raw_answer where request like '%/aspects/mage%' and http_status = 404`)
    const before = await contentOf(world.db)
    const { lost, tables } = await replayed([aspects])
    expect(lost).toEqual([])
    expect(tables.filter((one) => one.onlyBefore + one.onlyAfter > 0)).toEqual([])
    expect(await contentOf(world.db)).toEqual(before)
  })

  test('without a change finds nothing that differs, and later syncs go on from what it made', async () => {
    await world.sync(items, [item('Elm', { tier: 'rare' }), item('Oak')], '10:00', kept)
    await world.sync(items, [item('Elm', { tier: 'set' }), item('Oak')], '11:00', kept)
    await world.sync(items, [item('Elm', { tier: 'rare' })], '12:00', kept)
    const before = await contentOf(world.db)
    const { tables, answers } = await replayed([items])
    expect(answers).toBe(3)
    expect(tables.filter((one) => one.onlyBefore + one.onlyAfter > 0)).toEqual([])
    expect(await contentOf(world.db)).toEqual(before)
    // Oak is missing for the second time, and so it is known to be gone since noon.
    expect(await world.sync(items, [item('Elm', { tier: 'rare' })], '13:00', kept)).toMatchObject({ closed: 1 })
    expect(await world.versions()).toEqual([
      ['Elm', '10:00', '11:00'],
      ['Elm', '11:00', '12:00'],
      ['Elm', '12:00', 'infinity'],
      ['Oak', '10:00', '12:00'],
    ])
  })

  test('puts a field that nobody knew where it belongs once a normalizer knows it', async () => {
    await world.sync(items, [item('Elm', { saga: 'Old.' }), item('Oak')], '10:00', kept)
    await world.sync(items, [item('Elm'), item('Oak')], '11:00', kept)
    await world.sync(items, [item('Elm', { saga: 'Back.' }), item('Oak')], '12:00', kept)
    const rows = () => world.rows('select lore, extra from game.item order by internal_name, valid_from')
    expect(await rows()).toEqual([
      [null, { saga: 'Old.' }],
      [null, null],
      [null, { saga: 'Back.' }],
      [null, null],
    ])
    const knowing: Resource = {
      ...items,
      normalize: (record) => {
        const entity = normalizeItem(record)
        return { ...entity, root: { ...entity.root, lore: field(record, 'saga') } }
      },
      unknownFields: (document) => items.unknownFields(document).filter(({ path }) => path !== '/saga'),
    }
    await replayed([knowing])
    expect(await rows()).toEqual([
      ['Old.', null],
      [null, null],
      ['Back.', null],
      [null, null],
    ])
    expect(await world.rows('select * from sync.drift')).toEqual([])
  })

  test('brings back what was in quarantine, and what could not be read at all', async () => {
    const strict: Resource = {
      ...items,
      normalize: (record) => {
        if (field(record, 'internalName') === 'Oak') throw new RecordError('no Oak')
        return normalizeItem(record)
      },
    }
    await world.sync(strict, [item('Elm'), item('Oak')], '10:00', kept)
    await world.sync(strict, 'another shape', '11:00', kept)
    expect(await world.rows('select status from sync.run order by started_at')).toEqual([['partial'], ['failed']])
    const understanding: Resource = {
      ...items,
      extract: async (api, options) => {
        const walk = await api.items.all(options).catch(() => undefined)
        const at = Date.parse('2026-06-01T11:00:00Z')
        const records = [item('Elm'), item('Oak'), item('Ash')]
        return walk ?? { records, complete: true, observedFrom: at, observedAt: at, pages: 1 }
      },
    }
    await replayed([understanding])
    expect(await world.versions()).toEqual([
      ['Ash', '11:00', 'infinity'],
      ['Elm', '10:00', 'infinity'],
      ['Oak', '10:00', 'infinity'],
    ])
    expect(await world.rows('select status, quarantined, living from sync.run order by started_at')).toEqual([
      ['ok', 0, 2],
      ['ok', 0, 3],
    ])
    expect(await world.rows('select * from sync.quarantine')).toEqual([])
  })

  test('that ends in the middle leaves everything as it was, and can be begun again', async () => {
    for (const hour of ['10:00', '11:00', '12:00']) await world.sync(items, [item('Elm', { lore: hour })], hour, kept)
    const before = await contentOf(world.db)
    const other = [changed(items, () => ({ more: 1 }))]
    const killed = replayed(other, {
      onProgress: (done: number) => {
        if (done === 2) throw new Error('killed')
      },
    })
    await expect(killed).rejects.toThrow('killed')
    expect(await contentOf(world.db)).toEqual(before)
    expect(await replayed(other, { swap: false })).toMatchObject({ answers: 3, swapped: false })
    expect(await contentOf(world.db)).toEqual(before)
    expect(await replayed(other)).toMatchObject({ answers: 3, swapped: true })
    expect(await world.rows('select document from game.item limit 1')).toEqual([[expect.objectContaining({ more: 1 })]])
  })

  test('takes in what a sync brings meanwhile', async () => {
    for (const hour of ['10:00', '11:00']) await world.sync(items, [item('Elm', { lore: hour })], hour, kept)
    let meanwhile: Promise<unknown> | undefined
    const signal = {
      throwIfAborted() {
        meanwhile ??= world.sync(items, [item('Elm', { lore: 'new' })], '12:00', kept)
      },
    } as AbortSignal
    const { answers } = await replayed([items], { signal })
    await meanwhile
    expect([2, 3]).toContain(answers)
    expect((await world.versions()).at(-1)).toEqual(['Elm', '12:00', 'infinity'])
  })

  test('leaves a resource alone that holds more than its raw answers tell', async () => {
    await world.sync(items, [item('Elm')], '10:00')
    await world.sync(items, [item('Elm'), item('Oak')], '11:00', kept)
    const { resources, tables } = await replayed([items])
    expect(tables).toEqual([])
    expect(resources).toEqual([
      {
        resource: 'items',
        isReplayed: false,
        from: new Date('2026-06-01T11:00Z'),
        missing: new Date('2026-06-01T10:00Z'),
      },
    ])
  })

  test('leaves a resource alone whose samples retention has thinned out, and says since when they are whole', async () => {
    const map = (stored: number) => ({ Oak: place('a', '08:00', { resources: [{ type: 'ORE', stored }] }) })
    for (const minute of ['10:00', '10:01', '10:02'])
      await world.sync(territories, map(Number(minute.slice(-1))), minute, kept)
    expect((await replayed([territories], { swap: false })).resources).toMatchObject([{ isReplayed: true }])
    const retention = readRetention('territory_resource=30d', ['territory_resource'])
    await maintain(world.db, { now: new Date('2026-09-01Z'), tables: growingTables, retention })
    const before = await contentOf(world.db)
    expect((await replayed([territories])).resources).toEqual([
      {
        resource: 'territories',
        isReplayed: false,
        from: expect.any(Date),
        missing: new Date('2026-08-01Z'),
      },
    ])
    expect(await contentOf(world.db)).toEqual(before)
  })

  test('leaves a resource alone of which an answer was not kept that the ledger does not know any more either', async () => {
    await expectEvery(world.db, { resource: 'items', everySeconds: 3600, setBy: 'sync', at: new Date(0) })
    await world.sync(items, [item('Elm')], '10:00', kept)
    await world.sync(items, [item('Elm', { lore: 'unkept' })], '11:00')
    for (const at of ['12:00', '13:00', '14:00']) await world.sync(items, [item('Elm', { lore: at })], at, kept)
    await compactCoverage(world.db, { before: new Date(instantOf('14:00')), resources: [items] })
    expect(await world.rows(`select observed_at from sync.run where observed_at = '2026-06-01 11:00Z'`)).toEqual([])
    const { resources } = await replayed([items])
    expect(resources).toMatchObject([{ isReplayed: false, missing: new Date(instantOf('11:00')) }])
  })

  test('keeps what answers showed to be missing or of another shape, also those that cannot be read', async () => {
    const map = { Oak: place('a', '08:00'), Elm: place('b', '08:00') }
    await world.sync(territories, map, '10:00', kept)
    await world.sync(territories, Object.values(map), '11:00', kept)
    await world.sync(territories, { ...map, Ash: place('a', '08:00') }, '12:00', kept)
    await syncGuild({ ...world, raw: true }, guildBody('a', { 1: {} }), '12:30')
    // What is counted over answers about many keys is not to be found in one of them.
    await world.db.query(
      `insert into sync.drift (resource, kind, path, member, key, first_seen_at, run_id)
       values ('guilds', 'missing_field', '/over/many', '', $1, $2, gen_random_uuid())`,
      [guildId('a'), new Date(instantOf('13:00'))],
    )
    const drift = () => world.rows('select kind, path, member, key, first_seen_at from sync.drift order by 1, 2, 3')
    const before = await drift()
    expect(before.map(([kind, path]) => `${kind} ${path}`)).toEqual([
      'missing_field /over/many',
      'returned_field ',
      'retyped_field ',
    ])
    const { tables, swapped } = await replayed([territories, guilds])
    expect(tables.filter((one) => one.onlyBefore + one.onlyAfter > 0)).toEqual([])
    expect(swapped).toBe(true)
    expect(await drift()).toEqual(before)
  })

  test('swaps nothing when it cannot read what was read before', async () => {
    await world.sync(items, [item('Elm')], '10:00', kept)
    const before = await contentOf(world.db)
    const blind: Resource = { ...items, extract: async () => Promise.reject(new RecordError('blind')) }
    const { lost, swapped } = await replayed([blind])
    expect({ lost, swapped }).toEqual({ lost: [expect.stringContaining('blind')], swapped: false })
    expect(await contentOf(world.db)).toEqual(before)
    const bytes = await compressed(Buffer.from(JSON.stringify([item('Gr\xfcn')]), 'latin1'))
    await world.db.query('update sync.raw_body set body = $1', [bytes])
    const second = await replayed([items])
    expect(second).toMatchObject({ lost: [expect.stringContaining('not UTF-8')], swapped: false })
    expect(await contentOf(world.db)).toEqual(before)
  })

  test('swaps nothing when a body is not the one that was archived, whatever it unpacks to', async () => {
    await world.sync(items, [item('Elm')], '10:00', kept)
    const before = await contentOf(world.db)
    const [stored] = await world.db.query<{ body: Uint8Array }>('select body from sync.raw_body')
    const whole = Buffer.from(stored?.body ?? [])
    // A flipped bit of what brotli packed may give another text, which is JSON.
    for (const bytes of [await compressed(Buffer.from(JSON.stringify([item('Elk')]))), whole.subarray(0, -3)]) {
      await world.db.query('update sync.raw_body set body = $1', [bytes])
      const { lost, swapped } = await replayed([items])
      expect({ lost, swapped }).toEqual({
        lost: [expect.stringMatching(/body [0-9a-f]{12} is damaged/)],
        swapped: false,
      })
      expect(await world.rows('select internal_name from game.item')).toEqual([['Elm']])
    }
    await world.db.query('update sync.raw_body set body = $1', [whole])
    expect((await replayed([items])).swapped).toBe(true)
    expect(await contentOf(world.db)).toEqual(before)
  })

  test('has a resource for every table of schema game, but those that sum up what samples say', async () => {
    const sums = growingTables.flatMap(({ averages }) => (averages ? [bulkTable(averages.table).name] : []))
    const tables = (await tablesIn(world.db)).filter((name) => !sums.includes(name))
    const declared = new Set([...all.flatMap((one) => tablesOf(one)), 'game.field_change'])
    expect(tables.filter((name) => !declared.has(name))).toEqual([])
    expect(all.filter((one) => one.derive && !isWorklist(one) && !one.derived)).toEqual([])
  })
})

async function tablesIn(db: Database): Promise<string[]> {
  const rows = await db.query<{ name: string }>(
    `select 'game.' || relname as name from pg_class
      where relnamespace = 'game'::regnamespace and relkind in ('r', 'p') and not relispartition`,
  )
  return rows.map(({ name }) => name)
}
