import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { compactCoverage } from '../../src/sync/coverage/compact.ts'
import { materializeCoverage } from '../../src/sync/coverage/count.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/coverage/coverage.ts'
import { appendObservation } from '../../src/sync/record/ledger.ts'
import { replay } from '../../src/sync/replay/replay.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { engineOn, guards } from '../support/archive.ts'
import { guildBody, guildId, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { headersOf, instantOf, worldOf } from '../support/world.ts'

const watched = [{ name: 'online-players' }, { name: 'guilds' }]

describe.each(kindsOfLongTests)('hours that are counted while the ledger is whole, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const at = (time: string) => new Date(instantOf(time))
  const tell = (resource: string, everySeconds: number | null, when: string) =>
    expectEvery(world.db, { resource, everySeconds, setBy: 'sync', at: at(when) })
  const online = (when: string, players: readonly number[] = [1]) =>
    syncOnline(world, onlineBody({ EU1: players }), when)
  const answerOnline = (when: string) => {
    const headers = headersOf(instantOf(when), 30)
    world.sandbox.setAnswer('/player', () => ({ headers, body: onlineBody({ EU1: [1] }) }))
  }
  const upkeep = (now = new Date(world.clock.now())) => materializeCoverage(world.db, { now, resources: watched })
  const until = async (resource = 'online-players') =>
    (
      await world.rows(
        `select nullif(counted_until, '-infinity') from sync.coverage_reach where resource = '${resource}'`,
      )
    )[0]?.[0]
  /** Everything, hours that a question cuts, and what came before and after. */
  const asked = async () => {
    const rows: unknown[][] = []
    for (const { name } of watched)
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
  /** What the ledger alone says: nothing is counted any more. */
  const ledger = async () => {
    await world.db.query(`update sync.coverage_reach set counted_until = coalesce(thinned_until, '-infinity')`)
    await world.db.query(
      'delete from sync.coverage_hour hour using sync.coverage_reach reach where hour.resource = reach.resource and hour.hour >= counted_until',
    )
    return await asked()
  }
  /** What is asked now is what the ledger says. Leaves nothing counted. */
  const isTrue = async () => {
    const counted = await asked()
    expect(counted).toEqual(await ledger())
    return counted
  }

  /** Two hours and a half: copies, refusals, a gap over a full hour, a time when nobody was to look. */
  async function live(): Promise<void> {
    await tell('online-players', 600, '10:15')
    await tell('guilds', 1200, '00:00')
    for (const when of ['10:00', '10:10', '10:20', '10:35']) await online(when)
    for (const when of ['10:45', '10:55']) {
      await world.clock.advanceTo(instantOf(when))
      await online('10:35')
    }
    await syncGuild(world, guildBody('a', { 1: {} }), '10:40')
    await syncOnline(world, {}, '10:58')
    await online('11:40', [1, 2])
    await syncGuild(world, guildBody('b', { 2: {} }), '11:50')
    await tell('online-players', null, '11:55')
    await tell('online-players', 300, '12:20')
    for (const when of ['12:25', '12:31', '12:32', '12:40', '13:01']) await online(when, [3])
    await syncGuild(world, guildBody('a', { 1: {} }), '13:02')
  }

  test('say what the ledger says, whenever they were counted, and are counted once', async () => {
    await tell('online-players', 600, '00:00')
    await tell('guilds', 1200, '00:00')
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
      await online(when, [when.length])
      await syncGuild(world, guildBody(when.endsWith('1') ? 'a' : 'b', { 1: {} }), when)
      if (when === '11:01') await syncOnline(world, {}, '11:02')
      await upkeep()
      made.add(await until())
    }
    // Not before it is a while ago, and not what the next answer tells.
    expect([...made]).toEqual([undefined, '12:00', '13:00', '14:00'])
    const size = async () => (await world.rowCounts())['sync.coverage_hour']
    expect(await size()).toBe(2 * 4)
    const rows = () => world.rows('select xmin::text, ctid::text from sync.coverage_reach order by 1, 2')
    const written = await rows()
    expect([await upkeep(), await upkeep(at('09:00')), await rows()]).toEqual([0, 0, written])
    await isTrue()
    expect(await Promise.all([upkeep(), upkeep(), upkeep()]).then((done) => done.reduce((sum, one) => sum + one))).toBe(
      8,
    )
    await isTrue()
  })

  test('wait for the answer that ends a gap, and go on over it', async () => {
    await live()
    expect(await upkeep(at('20:00'))).toBe(3 + 3)
    expect([await until(), await until('guilds')]).toEqual(['13:00', '13:00'])
    await isTrue()
    await upkeep(at('20:00'))
    await online('15:30', [4])
    expect(await upkeep(at('20:00'))).toBe(2)
    await isTrue()
  })

  test('have the copies of an answer that lie after the next one', async () => {
    await tell('online-players', 600, '00:00')
    await online('10:50')
    await online('11:40')
    for (const when of ['11:58', '12:06']) {
      await world.clock.advanceTo(instantOf(when))
      await online('11:40')
    }
    await world.clock.advanceTo(instantOf('12:20'))
    await online('11:59', [2])
    await online('13:05', [3])
    await upkeep(at('12:20'))
    expect(await until()).toBe('12:00')
    await isTrue()
  })

  const late = (when: string) => ({ ...world, clock: { ...world.clock, now: () => instantOf(when) } })
  /** An answer that speaks for that time and came then, but is taken in now; it is older than the last one. */
  const refused = async (when: string) => {
    answerOnline(when)
    return await runResource(onlinePlayers, engineOn(late(when), world.db, false))
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
    'another expectation': ['online-players', '10:00', () => tell('online-players', 3600, '10:30')],
    'an expectation from before the first': ['online-players', null, () => tell('online-players', 3600, '00:00')],
  }
  test.each(Object.keys(latecomers))('are counted again after %s', async (what) => {
    const [resource, again, come] = latecomers[what] ?? ['', '', async () => undefined]
    await live()
    await upkeep(at('20:00'))
    const before = await asked()
    await come()
    expect(await until(resource)).toBe(again)
    expect(await isTrue()).not.toEqual(before)
    expect(await upkeep(at('20:00'))).toBeGreaterThanOrEqual(6)
    await isTrue()
  })

  test('wait for what is being written down', async () => {
    await live()
    const answer = { resource: 'guilds', key: guildId('c'), runId: randomUUID(), receivedAt: at('11:20'), status: 'ok' }
    let writing: Promise<void> | undefined
    await new Promise<void>((begun) => {
      writing = world.db.transaction(async (sql) => {
        await appendObservation(sql, answer)
        begun()
        await setTimeout(500)
      })
    })
    await Promise.all([writing, upkeep(at('20:00'))])
    expect(await until('guilds')).toBe('13:00')
    await isTrue()
  })

  test('stay as they are where the ledger is thinned out, and only there', async () => {
    await live()
    await upkeep(at('20:00'))
    const whole = await asked()
    const done = await compactCoverage(world.db, { before: at('12:30'), resources: watched })
    expect(done).toEqual({ hours: 0, runs: 2, observations: 0 })
    expect(await asked()).toEqual(whole)
    await refused('11:20')
    expect(await until()).toBe('12:00')
    expect(await asked()).toEqual(whole)
    await upkeep(at('20:00'))
    expect(await asked()).toEqual(whole)
    await refused('12:20')
    await upkeep(at('20:00'))
    expect(await isTrue()).not.toEqual(whole)
  })

  test('are counted again after a replay, and do not keep one from being made', async () => {
    const keeping = { ...world, raw: true }
    await tell('online-players', 600, '00:00')
    await world.clock.advanceTo(instantOf('12:00'))
    const send = async (when: string) => {
      answerOnline(when)
      return await world.syncNow(onlinePlayers, { raw: true })
    }
    await send('10:00')
    await world.clock.advanceTo(instantOf('13:30'))
    await send('13:30')
    await upkeep()
    expect(await until()).toBe('13:00')
    const engine = { ...engineOn(keeping, world.db, false), guards }
    expect(await replay(engine, { resources: [onlinePlayers], swap: true })).toMatchObject({ swapped: true, lost: [] })
    expect(await until()).toBeNull()
    await upkeep()
    expect(await until()).toBe('13:00')
    await isTrue()
  })
})
