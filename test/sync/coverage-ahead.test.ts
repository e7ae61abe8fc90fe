import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { together } from '../../src/db/typed.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { compactCoverage, materializeCoverage } from '../../src/sync/coverage/coverage.ts'
import { invalidation, setExpectedInterval } from '../../src/sync/ledger/gaps.ts'
import { replay } from '../../src/sync/replay/replay.ts'
import { openResponse } from '../../src/sync/respond/known-before.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { engineOn, guards } from '../support/archive.ts'
import { guildBody, guildId, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { headersOf, instantOf, worldOf } from '../support/world.ts'

const countedResources = [{ name: 'online-players' }, { name: 'guilds' }]

describe.each(kindsOfLongTests)('hours that are counted while the ledger is whole, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const at = (time: string) => new Date(instantOf(time))
  const expectEvery = (resource: string, everySeconds: number | null, when: string) =>
    setExpectedInterval(world.db, { resource, everySeconds, setBy: 'sync', at: at(when) })
  const syncOnlineAt = (when: string, players: readonly number[] = [1]) =>
    syncOnline(world, onlineBody({ EU1: players }), when)
  const respondOnline = (when: string) => {
    const headers = headersOf(instantOf(when), 30)
    world.sandbox.setAnswer('/player', () => ({ headers, body: onlineBody({ EU1: [1] }) }))
  }
  const materialize = (now = new Date(world.clock.now())) =>
    materializeCoverage(world.db, { now, resources: countedResources })
  const countedUntil = async (resource = 'online-players') =>
    (
      await world.rows(
        `select nullif(counted_until, '-infinity') from sync.coverage_reach where resource = '${resource}'`,
      )
    )[0]?.[0]
  /** What analytics.coverage returns for a whole day, for parts of hours, and for single hours. */
  const coverageNow = async () => {
    const rows: unknown[][] = []
    for (const { name } of countedResources)
      for (const interval of [
        ['00:00', '02 00:00'],
        ['10:20', '12:10'],
        ['11:00', '12:00'],
        ['12:40', '15:00'],
      ])
        rows.push(
          ...(await world.db.values(
            'select hour, expected, observed, unchanged, partial, stale, rejected, missed, coverage from analytics.coverage($1, $2, $3)',
            [name, ...interval.map(at)],
          )),
          [name, interval],
        )
    return rows
  }
  /** The same from the ledger alone: deletes the hours that were counted before. */
  const coverageOfLedger = async () => {
    await world.db.query(`update sync.coverage_reach set counted_until = coalesce(thinned_until, '-infinity')`)
    await world.db.query(
      'delete from sync.coverage_hour hour using sync.coverage_reach reach where hour.resource = reach.resource and hour.hour >= counted_until',
    )
    return await coverageNow()
  }
  /** Coverage is the same with counted hours and from the ledger alone. Leaves no hour counted. */
  const expectLedgerCoverage = async () => {
    const counted = await coverageNow()
    expect(counted).toEqual(await coverageOfLedger())
    return counted
  }

  /** Two hours and a half: copies, rejects, a gap over a full hour, and a time without an expectation. */
  async function syncTwoHours(): Promise<void> {
    await expectEvery('online-players', 600, '10:15')
    await expectEvery('guilds', 1200, '00:00')
    for (const when of ['10:00', '10:10', '10:20', '10:35']) await syncOnlineAt(when)
    for (const when of ['10:45', '10:55']) {
      await world.clock.advanceTo(instantOf(when))
      await syncOnlineAt('10:35')
    }
    await syncGuild(world, guildBody('a', { 1: {} }), '10:40')
    await syncOnline(world, {}, '10:58')
    await syncOnlineAt('11:40', [1, 2])
    await syncGuild(world, guildBody('b', { 2: {} }), '11:50')
    await expectEvery('online-players', null, '11:55')
    await expectEvery('online-players', 300, '12:20')
    for (const when of ['12:25', '12:31', '12:32', '12:40', '13:01']) await syncOnlineAt(when, [3])
    await syncGuild(world, guildBody('a', { 1: {} }), '13:02')
  }

  test('say what the ledger says, whenever they were counted, and are counted once', async () => {
    await expectEvery('online-players', 600, '00:00')
    await expectEvery('guilds', 1200, '00:00')
    const made = new Set<unknown>()
    for (const when of [
      '10:00',
      '10:10',
      '10:20',
      '10:55',
      '11:01',
      '12:25',
      '12:31',
      '13:59',
      '14:01',
      '14:16',
      '14:20',
    ]) {
      await syncOnlineAt(when, [when.length])
      await syncGuild(world, guildBody(when.endsWith('1') ? 'a' : 'b', { 1: {} }), when)
      if (when === '11:01') await syncOnline(world, {}, '11:02')
      await materialize()
      made.add(await countedUntil())
    }
    // Not before it is a while ago, and not what the next answer tells.
    expect([...made]).toEqual([undefined, '12:00', '13:00', '14:00'])
    const size = async () => (await world.rowCounts())['sync.coverage_hour']
    expect(await size()).toBe(2 * 4)
    const rows = () => world.rows('select xmin::text, ctid::text from sync.coverage_reach order by 1, 2')
    const written = await rows()
    expect([await materialize(), await materialize(at('09:00')), await rows()]).toEqual([0, 0, written])
    await expectLedgerCoverage()
    expect(
      await Promise.all([materialize(), materialize(), materialize()]).then((done) =>
        done.reduce((sum, one) => sum + one),
      ),
    ).toBe(8)
    await expectLedgerCoverage()
  })

  test('wait for the answer that ends a gap, and go on over it', async () => {
    await syncTwoHours()
    expect(await materialize(at('20:00'))).toBe(3 + 3)
    expect([await countedUntil(), await countedUntil('guilds')]).toEqual(['13:00', '13:00'])
    await expectLedgerCoverage()
    await materialize(at('20:00'))
    await syncOnlineAt('15:30', [4])
    expect(await materialize(at('20:00'))).toBe(2)
    await expectLedgerCoverage()
  })

  test('have the copies of an answer that lie after the next one', async () => {
    await expectEvery('online-players', 600, '00:00')
    await syncOnlineAt('10:50')
    await syncOnlineAt('11:40')
    for (const when of ['11:58', '12:06']) {
      await world.clock.advanceTo(instantOf(when))
      await syncOnlineAt('11:40')
    }
    await world.clock.advanceTo(instantOf('12:20'))
    await syncOnlineAt('11:59', [2])
    await syncOnlineAt('13:05', [3])
    await materialize(at('12:20'))
    expect(await countedUntil()).toBe('12:00')
    await expectLedgerCoverage()
  })

  const late = (when: string) => ({ ...world, clock: { ...world.clock, now: () => instantOf(when) } })
  /** An answer that speaks for that time and came then, but is taken in now; it is older than the last one. */
  const refused = async (when: string) => {
    respondOnline(when)
    return await runResource(onlinePlayers, { ...engineOn(late(when), world.db, false), isLate: true })
  }
  /** What is written down later than it was, and from when on that is counted again. */
  const latecomers: Record<string, [resource: string, until: unknown, come: () => Promise<unknown>]> = {
    'an answer that was recorded then and is refused': ['online-players', '11:00', () => refused('11:20')],
    'an answer that was recorded then about a key': [
      'guilds',
      '12:00',
      () => syncGuild(late('12:05'), guildBody('c', { 3: {} }), '12:05'),
    ],
    'one from before the first': [
      'guilds',
      '09:00',
      () => syncGuild(late('09:30'), guildBody('c', { 3: {} }), '09:30'),
    ],
    'another expectation': ['online-players', '10:00', () => expectEvery('online-players', 3600, '10:30')],
    'an expectation from before the first': [
      'online-players',
      null,
      () => expectEvery('online-players', 3600, '00:00'),
    ],
  }
  test.each(Object.keys(latecomers))('are counted again after %s', async (what) => {
    const [resource, again, come] = latecomers[what] ?? ['', '', async () => undefined]
    await syncTwoHours()
    await materialize(at('20:00'))
    const before = await coverageNow()
    await come()
    expect(await countedUntil(resource)).toBe(again)
    expect(await expectLedgerCoverage()).not.toEqual(before)
    expect(await materialize(at('20:00'))).toBeGreaterThanOrEqual(6)
    await expectLedgerCoverage()
  })

  test('wait for what is being written down', async () => {
    await syncTwoHours()
    let writing: Promise<void> | undefined
    await new Promise<void>((begun) => {
      writing = world.db.transaction(async (sql) => {
        await openResponse(sql, guilds, { key: guildId('c'), now: at('11:20').getTime(), archives: false })
        await together(sql, invalidation('guilds', at('11:20')))
        await sql.query(
          `insert into sync.observation (resource, key, run_id, received_at, status) values ('guilds', $1, $2, $3, 'ok')`,
          [guildId('c'), randomUUID(), at('11:20')],
        )
        begun()
        await setTimeout(500)
      })
    })
    await Promise.all([writing, materialize(at('20:00'))])
    expect(await countedUntil('guilds')).toBe('13:00')
    await expectLedgerCoverage()
  })

  test('stay as they are where the ledger is thinned out, and only there', async () => {
    await syncTwoHours()
    await materialize(at('20:00'))
    const whole = await coverageNow()
    const done = await compactCoverage(world.db, { before: at('12:30'), resources: countedResources })
    expect(done).toEqual({ hours: 0, runs: 2, observations: 0 })
    expect(await coverageNow()).toEqual(whole)
    await refused('11:20')
    expect(await countedUntil()).toBe('12:00')
    expect(await coverageNow()).toEqual(whole)
    await materialize(at('20:00'))
    expect(await coverageNow()).toEqual(whole)
    await refused('12:20')
    await materialize(at('20:00'))
    expect(await expectLedgerCoverage()).not.toEqual(whole)
  })

  test('are counted again after a replay, and do not keep one from being made', async () => {
    const keeping = { ...world, raw: true }
    await expectEvery('online-players', 600, '00:00')
    await world.clock.advanceTo(instantOf('12:00'))
    const send = async (when: string) => {
      respondOnline(when)
      return await world.syncNow(onlinePlayers, { raw: true })
    }
    await send('10:00')
    await world.clock.advanceTo(instantOf('13:30'))
    await send('13:30')
    await materialize()
    expect(await countedUntil()).toBe('13:00')
    const engine = { ...engineOn(keeping, world.db, false), guards }
    expect(await replay(engine, { resources: [onlinePlayers], swap: true })).toMatchObject({ swapped: true, lost: [] })
    expect(await countedUntil()).toBeNull()
    await materialize()
    expect(await countedUntil()).toBe('13:00')
    await expectLedgerCoverage()
  })
})
