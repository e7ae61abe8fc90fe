import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../src/base/clock.ts'
import { growingTables } from '../../src/resources/index.ts'
import { onlinePlayers } from '../../src/resources/online-players/index.ts'
import { replay } from '../../src/sync/replay/replay.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { engineOn, guards } from '../support/archive.ts'
import { onlineBody, syncOnline } from '../support/player-answers.ts'
import { kindsOfLongTests } from '../support/postgres.ts'
import { headersOf, instantOf, worldOf } from '../support/world.ts'

/** Cells of whole hours, and others. */
const steps = ['1 hour', '2 hours', '30 minutes', '90 minutes']
/** Whole hours, and such as begin and end anywhere. */
const intervals = [
  ['10:00', '14:00'],
  ['09:30', '12:15'],
  ['11:20', '13:40'],
  ['11:05', '11:50'],
  ['11:30', '12:30'],
  ['12:00', '13:00'],
] as const

describe.each(kindsOfLongTests)('averages that are made ahead, on the %s database,', (kind) => {
  const world = worldOf(kind)
  const upkeep = () =>
    maintain(world.db, { now: new Date(world.clock.now()), tables: growingTables, retention: new Map() })
  const until = async (table = 'world_sample') =>
    (await world.rows(`select averaged_until from sync.tier where sample_table = 'game.${table}'`))[0]?.[0]
  const totals = async (interval: readonly string[], step: string) =>
    await world.db.values(
      `select at, round(total_avg::numeric, 9)::text, total_max, round(hidden_avg::numeric, 9)::text, coverage
         from analytics.online_total($1, $2, $3::text::interval)`,
      [...interval.map((at) => new Date(instantOf(at))), step],
    )
  const asked = async () => {
    const answers: unknown[][] = []
    for (const interval of intervals) {
      const rows = await world.db.values(
        `select world, hour, round(online_avg::numeric, 9)::text, online_max, coverage from analytics.world_peak($1, $2)`,
        interval.map((at) => new Date(instantOf(at))),
      )
      answers.push([...interval, ...rows])
      for (const step of steps) answers.push([...interval, step, ...(await totals(interval, step))])
    }
    return answers
  }
  /** What the samples alone say. */
  const sampled = async () => {
    await world.db.query('update sync.tier set averaged_until = null')
    return await asked()
  }

  test('say what the samples say, whenever they were made and whatever came of the answers', async () => {
    const random = seededRandom(5)
    const made: unknown[] = []
    const listed = () =>
      Object.fromEntries(
        ['EU1', 'EU2', 'NA1'].flatMap((name, nth) => {
          const players = [1, 2, 3, 4].filter(() => random() < 0.4).map((one) => nth * 10 + one)
          return players.length > 0 ? [[name, players]] : []
        }),
      )
    let answers = 0
    for (let minute = 0; minute < 230; minute += random() < 0.1 ? 25 : 1 + Math.floor(random() * 6)) {
      const at = `${10 + Math.floor(minute / 60)}:${String(minute % 60).padStart(2, '0')}`
      const body = onlineBody({ ...listed(), AS1: [99] }, Math.floor(random() * 4))
      // The service does not always count.
      await syncOnline(world, random() < 0.2 ? { ...body, total: null } : body, at)
      if (answers++ % 4 === 0) {
        await upkeep()
        made.push(await until())
      }
    }
    expect(await syncOnline(world, onlineBody({ EU1: [7, 8, 9] }), '10:40')).toMatchObject({ status: 'stale' })
    await upkeep()
    expect(new Set(made).size).toBeGreaterThan(2)
    expect([await until(), await until('online_sample')]).toEqual(['13:00', '13:00'])
    const ahead = await asked()
    expect(ahead.map((one) => one.length).filter((length) => length < 4)).toEqual([])
    // They are read, but only what is said to be there.
    await world.db.query(`update game.world_hour set online_max = online_max + 100 where hour >= $1`, [
      new Date(instantOf('12:00')),
    ])
    await world.db.query('update game.online_hour set total_max = total_max + 100')
    const wrong = await asked()
    const differing = wrong.flatMap((one, nth) =>
      isDeepStrictEqual(one, ahead[nth]) ? [] : [one.slice(0, 3).join(' ')],
    )
    expect(differing.filter((one) => /minutes|hour/.test(one))).toEqual([
      '10:00 14:00 1 hour',
      '10:00 14:00 2 hours',
      '12:00 13:00 1 hour',
      '12:00 13:00 2 hours',
    ])
    expect(differing.length).toBeGreaterThan(4)
    expect(await sampled()).toEqual(ahead)
    await upkeep()
    expect(await asked()).toEqual(ahead)
  })
  test('wait for a world of which nobody knows yet whether it is down, and go when a replay makes other samples', async () => {
    const keeping = { ...world, raw: true }
    const full = onlineBody({ EU1: [1, 2], EU2: [3], EU3: [4] })
    await syncOnline(keeping, full, '10:55')
    for (const minute of ['57', '58', '59']) await syncOnline(keeping, full, `11:${minute}`)
    const lacking = async (at: string) => {
      await world.clock.advanceTo(instantOf(at))
      const headers = headersOf(instantOf(at), 30)
      world.sandbox.setAnswer('/player', () => ({ headers, body: onlineBody({ EU1: [1, 2], EU3: [4] }) }))
      return await world.syncNow(onlinePlayers, { raw: true, absences: 3 })
    }
    for (const at of ['11:59:30', '12:00:30']) expect(await lacking(at)).toMatchObject({ closed: 0 })
    await upkeep()
    expect(await until()).toBe('11:00')
    expect(await lacking('12:01')).toMatchObject({ closed: 1 })
    await upkeep()
    expect(await until()).toBe('12:00')
    const ahead = await asked()
    expect(await sampled()).toEqual(ahead)
    await upkeep()

    const engine = { ...engineOn(world, world.db, false), guards: { ...guards, absences: 3 } }
    expect(await replay(engine, { resources: [onlinePlayers], swap: true })).toMatchObject({ swapped: true, lost: [] })
    expect([await until(), await until('online_sample')]).toEqual([null, null])
    await upkeep()
    expect([await until(), await asked()]).toEqual(['12:00', ahead])
  })
})
