import { describe, expect, test } from 'vitest'
import type { Database, Sql } from '../../src/db/database.ts'
import { guilds } from '../../src/resources/guilds/index.ts'
import { items } from '../../src/resources/items/index.ts'
import { players } from '../../src/resources/players/index.ts'
import { territories } from '../../src/resources/territories/index.ts'
import { type Notification, namesInResponses, pruneOutbox } from '../../src/sync/outbox/outbox.ts'
import { runResource } from '../../src/sync/run/run-resource.ts'
import { guildId, place } from '../support/guild-answers.ts'
import { notify } from '../support/notify.ts'
import { kindsOfPart, testDatabase } from '../support/postgres.ts'
import { headersOf, instantOf, worldOf } from '../support/world.ts'

const at = new Date(instantOf('10:00'))
const change = (key: string, given: Partial<Notification> = {}): Notification => ({
  resource: 'r',
  runId: '1',
  key,
  status: 'ok',
  at,
  observedAt: at,
  changed: 1,
  people: 'none',
  ...given,
})
const changesOf = async (db: Database) =>
  (
    await db.query<{ number: number; change: Record<string, unknown> }>(
      'select number, change from sync.outbox order by number',
    )
  ).map((row) => [row.number, row.change.key])

/** The same database; counts its statements. */
function counting(db: Database): { readonly db: Database; count(): number } {
  let count = 0
  const one = <T>(result: T) => {
    count++
    return result
  }
  const counted = (sql: Sql): Sql => ({
    query: (...given) => one(sql.query(...given)),
    values: (...given) => one(sql.values(...given)),
    copy: (...given) => one(sql.copy(...given)),
    copyCsv: (...given) => one(sql.copyCsv(...given)),
  })
  const transaction: Database['transaction'] = (work) => db.transaction((sql) => work(counted(sql)))
  return { db: { ...db, ...counted(db), transaction }, count: () => count }
}

describe.each(kindsOfPart)('the outbox on the %s database', (kind) => {
  const world = worldOf(kind)
  const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

  test('names what a response touched, in order, and nothing for one that changed nothing', async () => {
    const { sync, db } = world
    const notifies = { notifies: true }
    await sync(territories, { Oak: place('a', '09:00'), Elm: place('b', '09:00') }, '10:00', notifies)
    await sync(territories, { Oak: place('b', '10:30'), Elm: place('b', '09:00') }, '11:00', notifies)
    await sync(territories, { Oak: place('b', '10:30'), Elm: place('b', '09:00') }, '11:01', notifies)
    const rows = await db.query<{ change: object }>('select change from sync.outbox order by number')
    expect(rows).toHaveLength(2)
    expect(rows[0]?.change).toMatchObject({ event: 'change', resource: 'territories', inserted: 2 })
    expect(rows[0]?.change).not.toHaveProperty('keys')
    expect(rows[1]?.change).toMatchObject({ keys: ['Oak'], touched: 1, observedAt: '2026-06-01T11:00:00.000Z' })
    expect(rows[1]?.change).toMatchObject({ concerns: expect.arrayContaining([guildId('a'), guildId('b')]) })
    expect(rows[1]?.change).not.toHaveProperty('late')
  })

  test('names the place of a hold that is withdrawn, who never had it, and who has it again', async () => {
    const { sync, db } = world
    const notifies = { notifies: true }
    await sync(territories, { Oak: place('a', '09:00'), Elm: place('c', '09:00') }, '10:00', notifies)
    await sync(territories, { Oak: place('b', '09:59'), Elm: place('c', '09:00') }, '10:00:10', notifies)
    for (const at of ['10:00:20', '10:00:30'])
      await sync(territories, { Oak: place('a', '09:00'), Elm: place('c', '09:00') }, at, notifies)
    const [last] = await db.query<{ change: object }>(
      "select change from sync.outbox where change->>'event' = 'change' order by number desc limit 1",
    )
    expect(last?.change).toMatchObject({ keys: ['Oak'], touched: 1, observedAt: '2026-06-01T10:00:30.000Z' })
    expect(last?.change).toMatchObject({ concerns: [guildId('b'), guildId('a')] })
  })

  test('costs no statement of its own, whether a response changed something or not', async () => {
    const { sandbox, clock, api } = world
    const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25 }
    const statementsOf = async (time: string, owner: string, notifies: boolean) => {
      await clock.advanceTo(instantOf(time))
      const headers = headersOf(instantOf(time), 60)
      sandbox.setAnswer('/guild/list/territory', () => ({
        headers,
        body: { Oak: place(owner, `${time.slice(0, 4)}0`) },
      }))
      const { db, count } = counting(world.db)
      await runResource(territories, { db, api, clock, guards, program: 'test', log: quiet, notifies })
      return count()
    }
    for (const [time, owner] of [
      ['10:00', 'a'],
      ['10:10', 'b'],
      ['10:20', 'a'],
    ] as const)
      await statementsOf(time, owner, true)
    const [changed, alsoChanged] = [await statementsOf('10:30', 'b', false), await statementsOf('10:40', 'a', true)]
    expect(alsoChanged).toBe(changed)
    // The first one that repeats it confirms the hold.
    await statementsOf('10:41', 'a', true)
    const [unchanged, alsoUnchanged] = [await statementsOf('10:42', 'a', false), await statementsOf('10:43', 'a', true)]
    expect(alsoUnchanged).toBe(unchanged)
  })

  test('has no number for what was rolled back', async () => {
    const { db } = world
    await db.transaction((sql) => notify(sql, change('first')))
    const failing = db.transaction(async (sql) => {
      await notify(sql, change('lost'))
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    await db.transaction((sql) => notify(sql, change('second')))
    expect(await changesOf(db)).toEqual([
      [1, 'first'],
      [2, 'second'],
    ])
  })

  test('names no player', async () => {
    const { db } = world
    const named: Partial<Notification> = {
      error: 'Somebody is not found',
      guarded: [{ guard: 'absence', action: 'pending', reason: 'Somebody is missing', key: 'guild/Somebody' }],
      drift: [{ kind: 'unknown_field', path: '/members/Somebody', member: 'Somebody' }],
    }
    const textOf = async (given: Partial<Notification>) => {
      await db.transaction((sql) => notify(sql, change('the key', { ...named, ...given })))
      const rows = await db.values('select change::text from sync.outbox order by number desc limit 4')
      return rows.join('\n')
    }
    expect(await textOf({ people: 'none' })).toMatch(/Somebody is not found[\s\S]*the key/)
    const ofGuilds = await textOf({ people: namesInResponses(guilds) })
    expect(ofGuilds).toMatch(/the key/)
    expect(ofGuilds).not.toMatch(/Somebody/)
    const ofPlayers = await textOf({ people: namesInResponses(players) })
    expect(ofPlayers).toMatch(/"event": "failure"/)
    expect(ofPlayers).not.toMatch(/Somebody|the key/)
    expect(namesInResponses(items)).toBe('none')
  })

  test('marks what is no news, and keeps a day of the latest', async () => {
    const { db } = world
    const old = new Date(at.getTime() - 3 * 86_400_000)
    const ahead = new Date(at.getTime() + 300 * 86_400_000)
    const given = [change('old', { at: old }), change('ahead', { at: ahead, observedAt: ahead }), change('kept')]
    // One whose clock was behind is not removed from between the others.
    for (const one of [...given, change('behind', { at: old }), change('late', { observedAt: old })])
      await db.transaction((sql) => notify(sql, one))
    await db.transaction((sql) => notify(sql, change('recorded', { isLate: true })))
    const late = await db.values(
      `select change->>'key' from sync.outbox where change @> '{"late": true}' order by number`,
    )
    expect(late.flat()).toEqual(['late', 'recorded'])
    expect(await pruneOutbox(db, at)).toBe(2)
    expect((await changesOf(db)).map(([, key]) => key)).toEqual(['kept', 'behind', 'late', 'recorded'])
    expect(await pruneOutbox(db, new Date(at.getTime() + 2 * 86_400_000))).toBe(4)
    await db.transaction((sql) => notify(sql, change('next')))
    expect(await changesOf(db)).toEqual([[7, 'next']])
  })
})

test('no number is committed after a higher one', async () => {
  const db = await testDatabase('server')
  const [open, wrote] = [later(), later()]
  const first = db.transaction(async (sql) => {
    await notify(sql, change('first'))
    wrote.resolve()
    await open.promise
  })
  await wrote.promise
  const ended = db.transaction((sql) => notify(sql, change('second'))).then(() => true)
  expect(await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 300, false))])).toBe(false)
  expect(await changesOf(db)).toEqual([])
  open.resolve()
  await Promise.all([first, ended])
  expect(await changesOf(db)).toEqual([
    [1, 'first'],
    [2, 'second'],
  ])
})

function later() {
  let resolve = () => {}
  const promise = new Promise<void>((given) => {
    resolve = given
  })
  return { promise, resolve }
}
