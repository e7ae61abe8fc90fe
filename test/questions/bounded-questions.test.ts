import { describe, expect, test } from 'vitest'
import { nearest } from '../../src/base/text/nearest.ts'
import { sqlState } from '../../src/db/sql-errors.ts'
import { boundArguments, bounds, ownSteps } from '../../src/questions/asking/bounds.ts'
import { type Question, readQuestions } from '../../src/questions/questions.ts'
import { composeReport } from '../../src/report/report.ts'
import { guildId } from '../support/guild-answers.ts'
import { kindsAtNight } from '../support/postgres.ts'
import { webWorld } from '../support/web-world.ts'

/** What else functions are asked about. */
const given: Readonly<Record<string, string>> = {
  guild: guildId('a'),
  player: '00000000-0000-4000-8000-000000000001',
  territory: 'Oak',
  resource: 'items',
  kind: 'guild',
  counter: 'wars',
  entity_name: guildId('a'),
  type: 'guildLevel',
  entity: guildId('a'),
  step: '1 hour',
  origin: '2026-06-01T00:00Z',
  is_since_joining: 'true',
  internal_name: 'bow',
  since: '-infinity',
  at: '2026-06-01T12:00Z',
}

const shortSteps = ['0', '1 microsecond', '59 seconds', '-1 hour', '-1 day', '1 month -29 days', '1 day -23 hours']
const farPeriods = [
  ['-infinity', 'infinity'],
  ['1000-01-01', '2026-06-02'],
  ['2026-06-01', '9999-12-31'],
  ['1000-01-01', '9999-12-31'],
  ['infinity', 'infinity'],
  ['-infinity', '-infinity'],
  ['1500-01-01', '1600-01-01'],
] as const

/** A question, or a part of one, may take so long on a slow machine, ms; without a bound it takes minutes, or for ever. */
const LONGEST = 20_000

describe.each(kindsAtNight)('questions on the %s database', (kind) => {
  const lived = webWorld(kind)
  const { served } = lived
  const periodic = async (): Promise<Question[]> =>
    (await readQuestions(lived.world.db)).filter(({ parameters }) =>
      parameters.some(({ name }) => name === 'from_time'),
    )

  test.each(shortSteps)('refuse a step of %s, and name it', async (step) => {
    const { json } = await served()
    for (const path of ['guild_territory_count?', 'online_total?', 'territory_storage?territory=Oak&']) {
      const query = new URLSearchParams({ from_time: '2026-06-01T00:00Z', to_time: '2026-06-02T00:00Z', step })
      const problem = await json(`/api/v1/${path}${query}`)
      expect([path, problem.status, problem.argument]).toEqual([path, 400, 'step'])
      expect(problem.detail).toMatch(/step must be .*(1 hour|one minute)/)
    }
  })

  test('refuse more than the first 1,000, and name the argument', async () => {
    const { db } = lived.world
    const n = (value: string) => boundArguments(db, { name: 'top_gained' }, [{ name: 'n', type: 'integer', value }])
    await expect(n('1001')).rejects.toMatchObject({ message: 'n must be 1000 at most, got 1001', argument: 'n' })
    expect(await n('1000')).toHaveLength(1)
  })

  test('refuse more than 20,000 steps of what was observed, and say what to give', async () => {
    const { json } = await served()
    const { db } = lived.world
    await db.query(`insert into game.online_hour (hour, total_seconds, hidden_seconds) values ('2020-01-01Z', 0, 0)`)
    const ask = async (name: string, more: Record<string, string> = {}) =>
      await json(`/api/v1/${name}?${new URLSearchParams({ from_time: '2019-01-01', to_time: '2026-06-01', ...more })}`)
    const short = await ask('online_total', { step: '1 minute' })
    expect([short.status, short.argument]).toEqual([400, 'step'])
    expect(short.detail).toBe(
      'step is too short: the period has 3,373,920 steps of 1 minute, and 20,000 are answered; give a longer one, or a shorter period',
    )
    const hours = await ask('world_peak')
    expect([hours.status, hours.argument]).toEqual([400, 'from_time'])
    expect(hours.detail).toMatch(/^from_time is too early: the period has 56,232 steps of 1 hour/)
    expect((await ask('online_total', { step: '1 day' })).rows).toHaveLength(100)
    const wanted = { writtenAt: new Date(lived.world.clock.now()), version: 'test' }
    const report = composeReport(db, { ...wanted, from: new Date('1000-01-01'), to: new Date('2026-06-01') })
    await expect(report).rejects.toThrow('--from is too early: a report is about 20,000 hours at most, not 56,232')
    await db.query('delete from game.online_hour')
  })

  test('refuse a period that ends before it begins, and an instant without end', async () => {
    const { json } = await served()
    let refused = 0
    for (const { name, parameters } of await periodic()) {
      const asked = Object.entries(given).filter(([one]) => parameters.some((parameter) => parameter.name === one))
      const query = new URLSearchParams([...asked, ['from_time', '2026-06-02'], ['to_time', '2026-06-01']])
      const problem = await json(`/api/v1/${name}?${query}`)
      if (problem.status === 404) continue
      expect([name, problem.status, problem.argument]).toEqual([name, 400, 'from_time'])
      refused++
    }
    expect(refused).toBeGreaterThan(10)
    expect(await json('/api/v1/map_at?at=infinity')).toMatchObject({ status: 400, argument: 'at' })
  })

  test('refuse an instant after now, and after all that was observed, in the read API and in SQL', async () => {
    const { json } = await served()
    const { db } = lived.world
    const asked = (await readQuestions(db)).filter(({ parameters }) => parameters.some(({ name }) => name === 'at'))
    expect(asked.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'item_at',
        'leaderboard_at',
        'loot_pool_at',
        'map_at',
        'member_activity',
        'territory_owner_at',
      ]),
    )
    for (const { name, parameters } of asked) {
      const args = parameters.map((one) => (one.name === 'at' ? '2999-01-01T00:00Z' : (given[one.name] ?? '')))
      const query = new URLSearchParams(Object.fromEntries(parameters.map((one, nth) => [one.name, args[nth] ?? ''])))
      const problem = await json(`/api/v1/${name}?${query}`)
      // Part of other questions.
      if (problem.status === 404) continue
      expect([name, problem.status, problem.argument]).toEqual([name, 400, 'at'])
      expect(problem.detail).toContain('at must not be after now: nothing is known of 2999-01-01')
      const typed = parameters.map(({ type }, nth) => `$${nth + 1}::text::${type}`).join(', ')
      const code = await db.query(`select * from analytics.${name}(${typed})`, args).catch(sqlState)
      expect([name, code]).toEqual([name, '22023'])
    }
  })

  test('are cut to what was observed where the period is far longer, by the read API', async () => {
    const { json } = await served()
    const query = new URLSearchParams({ from_time: '1000-01-01', to_time: '9999-12-31', step: '1 day' })
    const { arguments: args, rows } = await json(`/api/v1/guild_territory_count?${query}`)
    expect(args.from_time).toBe('2026-06-01T00:00:00.000Z')
    const near = new URLSearchParams({ from_time: '2026-06-01', to_time: args.to_time, step: '1 day' })
    expect(rows).toEqual((await json(`/api/v1/guild_territory_count?${near}`)).rows)
    expect(rows.length).toBeGreaterThan(0)
  })

  test('never go through a far period step by step, in SQL either', async () => {
    const { db } = lived.world
    for (const { name, parameters } of await periodic())
      for (const [from, to] of farPeriods) {
        const values = parameters.map((one) => ({ from_time: from, to_time: to })[one.name] ?? given[one.name] ?? null)
        const casts = parameters.map(({ type }, index) => `$${index + 1}::text::${type}`)
        const begun = performance.now()
        await db
          .query(`select count(*) from analytics.${name}(${casts.join(', ')})`, values)
          .catch((error: unknown) => {
            throw new Error(`${name} ${from} ${to}: ${String(error)}`)
          })
        expect([name, from, to, performance.now() - begun < LONGEST]).toEqual([name, from, to, true])
      }
  })

  test('refuse a step below a minute in SQL, too', async () => {
    const { db } = lived.world
    for (const step of shortSteps)
      for (const asked of ['guild_territory_count(', 'online_total(', `territory_storage('Oak', `]) {
        const text = `select count(*) from analytics.${asked}'2026-06-01', '2026-06-02', '${step}')`
        const state = await db.query(text).then(() => 'answered', sqlState)
        expect([text, state]).toEqual([text, '22023'])
      }
  })

  test('have the same answers about a long period as about what was observed of it', async () => {
    const { db } = lived.world
    const rows = async (name: string, period: string) =>
      await db.values(`select to_jsonb(answer)::text from analytics.${name.replace('PERIOD', period)} answer`)
    const near = `'2026-05-31', '2026-06-03'`
    const far = `'1000-01-01', '9999-12-31'`
    for (const name of [`guild_territory_count(PERIOD, '1 hour')`, 'world_peak(PERIOD)']) {
      const long = await rows(name, far)
      for (const row of await rows(name, near)) expect(long).toContainEqual(row)
    }
    expect(await rows(`online_total(PERIOD, '1 month')`, far)).not.toEqual([])
  })

  test('take arguments of a bounded length and number', async () => {
    const { db } = lived.world
    const text = { name: 'territory', type: 'text', value: 'x'.repeat(bounds.characters + 1) }
    await expect(boundArguments(db, { name: 'map_at' }, [text])).rejects.toThrow('territory is longer')
    const { json } = await served()
    const many = Array.from({ length: bounds.arguments + 1 }, () => 'territory=Oak').join('&')
    expect(await json(`/api/v1/territory_capture?${many}`)).toMatchObject({ status: 400 })
  })

  test('of a report are refused, or cut to what was observed', async () => {
    const { db } = lived.world
    const wanted = { writtenAt: new Date(lived.world.clock.now()), version: 'test' }
    const [from, to] = [new Date('1000-01-01'), new Date('9999-12-31')]
    const report = await composeReport(db, { ...wanted, from, to })
    expect(report.from.getUTCFullYear()).toBe(2026)
    expect(report.to.getUTCFullYear()).toBeLessThan(2030)
  })
})

test('every question about a period goes through it by a step that is known, or by none', () => {
  expect(Object.keys(ownSteps).sort()).toEqual(['coverage', 'guild_online_heatmap', 'player_playtime', 'world_peak'])
})

test('a name as long as a book is like no other', () => {
  const begun = performance.now()
  expect(
    nearest(
      'a'.repeat(1_000_000),
      Array.from({ length: 5000 }, (_, index) => `name ${index}`),
    ),
  ).toEqual([])
  expect(performance.now() - begun).toBeLessThan(1000)
})
