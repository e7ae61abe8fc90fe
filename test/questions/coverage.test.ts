import { describe, expect, test } from 'vitest'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { guildBody, syncGuild } from '../support/guild-answers.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { kindsOfPart } from '../support/postgres.ts'
import { instantOf, worldOf } from '../support/world.ts'

const at = (time: string) => `timestamptz '2026-06-01T${time}Z'`

describe.each(kindsOfPart)('15: how complete and fresh it is, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const { rows } = world
  const tell = (resource: string, everySeconds: number | null, when = '00:00') =>
    expectEvery(world.db, { resource, everySeconds, setBy: 'sync', at: new Date(instantOf(when)) })
  const online = (when: string, players: readonly number[] = [1]) =>
    syncOnline(world, onlineBody({ EU1: players }), when)
  const coverage = (resource: string, from: string, to: string) =>
    rows(
      `select hour, expected, observed, unchanged, rejected, missed, round(coverage::numeric, 2)
         from analytics.coverage('${resource}', ${at(from)}, ${at(to)})`,
    )

  test('each hour has what was made and what was missed of what was expected', async () => {
    await tell('online-players', 600)
    // Two answers before eleven; then one is rejected, two are missed, and three more come; then nobody looks.
    for (const [when, players] of [
      ['10:40', [1]],
      ['10:50', [1, 2]],
      ['11:00', [1, 2]],
    ] as const)
      await online(when, players)
    await syncOnline(world, {}, '11:10')
    for (const when of ['11:30', '11:40', '11:50']) await online(when, [1])
    await online('13:20', [1, 2])
    expect(await coverage('online-players', '09:00', '14:00')).toEqual([
      ['10:00', 2, 2, 0, 0, 0, 1],
      ['11:00', 6, 4, 3, 1, 2, 0.67],
      ['12:00', 6, 0, 0, 0, 6, 0],
      ['13:00', 6, 1, 0, 0, 5, 0.17],
    ])
    // Full hours, whichever part of them is asked for; the end is not part of it.
    expect(await coverage('online-players', '11:20', '12:00')).toEqual([['11:00', 6, 4, 3, 1, 2, 0.67]])
    expect(await coverage('online-players', '12:00', '12:00')).toEqual([])
    expect(
      await rows(`select count(*), sum(missed) from analytics.coverage('online-players', '-infinity', ${at('15:00')})`),
    ).toEqual([[5, 2 + 6 + 5 + 6]])
  })

  test('a poll that is a little slow is complete, and asking more often does not make up for a gap', async () => {
    await tell('online-players', 600)
    for (const when of ['10:00', '10:11', '10:22', '10:33', '10:44', '10:55', '11:06']) await online(when)
    expect(await coverage('online-players', '10:00', '11:00')).toEqual([['10:00', 6, 6, 5, 0, 0, 1]])
    for (let minute = 7; minute <= 30; minute++) await online(`11:${String(minute).padStart(2, '0')}`)
    await online('12:00')
    expect(await coverage('online-players', '11:00', '12:00')).toEqual([['11:00', 5, 25, 25, 0, 2, 0.6]])
  })

  test('an hour that is switched off expects nothing, and before the first answer there is nothing', async () => {
    await tell('online-players', 600)
    await tell('online-players', null, '11:00')
    await tell('online-players', 600, '13:00')
    for (const when of ['10:00', '10:10', '10:20', '10:30', '10:40', '10:50', '13:00', '13:10']) await online(when)
    const hours = await coverage('online-players', '08:00', '13:00')
    expect(hours).toEqual([
      ['10:00', 6, 6, 5, 0, 0, 1],
      ['11:00', 0, 0, 0, 0, 0, null],
      ['12:00', 0, 0, 0, 0, 0, null],
    ])
  })

  test('nobody told how often: what was observed, and no share', async () => {
    await online('10:00')
    await online('11:30', [1, 2])
    expect(await coverage('online-players', '10:00', '12:00')).toEqual([
      ['10:00', null, 1, 0, 0, 0, null],
      ['11:00', null, 1, 0, 0, 0, null],
    ])
    expect(await rows(`select analytics.watched_share('online-players', ${at('10:00')}, ${at('11:00')})`)).toEqual([
      [null],
    ])
  })

  test('an identical copy counts when it was asked for', async () => {
    await tell('online-players', 600)
    await online('10:50')
    for (const asked of ['11:00', '11:10', '11:20']) {
      await world.clock.advanceTo(instantOf(asked))
      await online('10:50')
    }
    await online('11:30', [2])
    expect(await coverage('online-players', '10:00', '11:20')).toEqual([
      ['10:00', 1, 1, 0, 0, 0, 1],
      ['11:00', 4 + 2, 4, 3, 0, 2, 0.67],
    ])
  })

  test('of a worklist, an answer about any key is an observation of the hour', async () => {
    await tell('guilds', 1200)
    for (const [letter, when] of [
      ['a', '10:00'],
      ['b', '10:01'],
      ['a', '10:20'],
      ['b', '10:21'],
      ['a', '11:20'],
    ] as const)
      await syncGuild(world, guildBody(letter, { [letter === 'a' ? 1 : 2]: {} }), when)
    const [first, second] = await coverage('guilds', '10:00', '12:00')
    expect(first).toEqual(['10:00', 3, 4, 2, 0, 1, 0.67])
    expect(second?.slice(0, 2)).toEqual(['11:00', expect.any(Number)])
  })

  test('rollups measure the same: a part of a cell is as well watched as observations speak for it', async () => {
    await tell('online-players', 60)
    for (let minute = 0; minute < 30; minute++) await online(`10:${String(minute).padStart(2, '0')}`)
    await online('11:00')
    const share = async (from: string, to: string) =>
      (await rows(`select analytics.watched_share('online-players', ${at(from)}, ${at(to)})`))[0]?.[0]
    expect(await share('10:00', '11:00')).toBe(0.5)
    expect(await share('10:00', '10:30')).toBe(1)
    expect(await share('10:15', '10:45')).toBe(0.5)
    expect(await share('09:00', '10:30')).toBeCloseTo(1 / 3)
    expect(await share('10:30', '11:00')).toBe(0)
    expect(await share('10:00', '10:00')).toBe(null)
    const total = await rows(
      `select at, coverage from analytics.online_total(${at('10:00')}, ${at('11:00')}, interval '20 minutes')`,
    )
    expect(total).toEqual([
      ['10:00', 1],
      ['10:20', 0.5],
      ['10:40', 0],
    ])
    expect(await rows(`select world, coverage from analytics.world_peak(${at('10:00')}, ${at('11:00')})`)).toEqual([
      ['EU1', 0.5],
    ])
  })

  test('what is fresh and what is late', async () => {
    const freshness = () =>
      rows(
        `select resource, last_observed_at, last_changed_at, last_status, extract(epoch from expected_every)::int,
                is_late, age = now() - last_observed_at from analytics.freshness order by 1`,
      )
    expect(await freshness()).toEqual([])
    await tell('items', 3600)
    await online('10:00')
    await online('10:10')
    await syncOnline(world, {}, '10:20')
    await syncGuild(world, guildBody('a', { 1: {} }), '10:30')
    await syncGuild(world, guildBody('a', { 1: {} }), '10:40')
    const told = [
      ['guilds', '10:40', '10:30', 'unchanged'],
      ['items', null, null, null, 3600, true, null],
      ['online-players', '10:10', '10:00', 'rejected'],
    ]
    const [guilds, items, players] = told
    expect(await freshness()).toEqual([
      [...(guilds ?? []), null, false, true],
      items,
      [...(players ?? []), null, false, true],
    ])
    await tell('online-players', 60)
    expect((await freshness())[2]?.[5]).toBe(true)
    await world.db.query(
      `update sync.run set observed_at = now() - interval '40 seconds', finished_at = now() - interval '20 seconds'
        where resource = $1 and status = 'unchanged'`,
      [onlinePlayers.name],
    )
    expect((await freshness())[2]?.[5]).toBe(false)
    // By a clock that was set back since.
    await world.db.query(
      `update sync.run set finished_at = now() + interval '2 hours' where resource = $1 and status = 'unchanged'`,
      [onlinePlayers.name],
    )
    expect((await freshness())[2]?.[5]).toBe(true)
  })
})
