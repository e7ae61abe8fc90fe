import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { growingTables, resources } from '../../src/resources/index.ts'
import { compactCoverage } from '../../src/sync/coverage/coverage.ts'
import { setExpectedInterval as expectEvery } from '../../src/sync/ledger/gaps.ts'
import { isMaintenanceDue, maintain, makeMonths } from '../../src/sync/retention/maintain.ts'
import { monthOf, namesOf, partsOf } from '../../src/sync/retention/partitions.ts'
import { daysBefore, readRetention } from '../../src/sync/retention/retention.ts'
import { kindsOfLongTests, testDatabase, testDatabaseUrl } from '../support/postgres.ts'
import { asked, begin, contributions, guild, live } from './year.ts'

const names = growingTables.map((growing) => namesOf(growing).table.replace('game.', ''))
const start = new Date('2024-01-01T00:00Z')
const first = { now: new Date('2024-02-10T12:00Z'), tables: growingTables, retention: new Map() }

describe.each(kindsOfLongTests)('the tables that grow, on the %s database', (kind) => {
  async function partsNamed(db: Awaited<ReturnType<typeof testDatabase>>, table: string): Promise<string[]> {
    return (await partsOf(db, `game.${table}`)).map(({ name }) => name.replace(`partitions.${table}_`, ''))
  }

  test('live through a year on a small disk: months come and go by themselves, and every question is answered as before', async () => {
    const db = await testDatabase(kind)
    const retention = readRetention('all=90d; world_sample=60d/300d', names)
    await begin(db, start)
    // Months of which there will be: no averages of worlds any more; the coarser tier; for worlds that, else all; all.
    const told = new Map<number, Awaited<ReturnType<typeof asked>>>([0, 6, 10, 11, 13].map((month) => [month, {}]))
    const contributed = new Map<number, unknown[][]>()
    for (let month = 0; month < 14; month++) {
      const [from, to] = [monthOf(start, month), monthOf(start, month + 1)]
      await live(db, from, to)
      if (told.has(month)) {
        told.set(month, await asked(db, from, to))
        contributed.set(month, await db.values(contributions, [from, to]))
      }
      const now = new Date(to.getTime() - 3_600_000)
      await maintain(db, { now, tables: growingTables, retention })
      // The ledger, which many of them rest on, sooner than the samples. The gaps of this year are in no table, so that
      // questions are not to know of what was expected.
      for (const resource of ['online-players', 'guilds'])
        await expectEvery(db, { resource, everySeconds: 3600, setBy: 'sync', at: start })
      await compactCoverage(db, { before: daysBefore(now, 30), resources })
      await db.query('truncate sync.expectation')
    }
    expect(Object.entries(told.get(6) ?? {}).filter(([, rows]) => rows.length === 0)).toEqual([])
    // The end of February 2025: what is older than 90 days went by whole months, and there are two months to come.
    const months = ['before', '2024_12', '2025_01', '2025_02', '2025_03', '2025_04', 'rest']
    expect(await partsNamed(db, 'territory_resource')).toEqual(['before', '2024_11', ...months.slice(1)])
    expect(await partsNamed(db, 'world_sample')).toEqual(['before', '2024_12', ...months.slice(2)])
    // Eleven samples a day, of two hours: two of them stay, and the first of a month.
    expect(await db.values('select count(*)::int from game.territory_resource')).toEqual([[120 * 11 + 305 * 2 + 10]])
    // Two worlds, the first and the last of five months; and before that one of each.
    expect(
      await db.values(`select count(*)::int from partitions.world_sample_before where observed_at < '2024-10-01Z'`),
    ).toEqual([[20]])
    for (const [month, answers] of told) {
      const now = await asked(db, monthOf(start, month), monthOf(start, month + 1))
      for (const [question, rows] of Object.entries(answers)) {
        const isGone = question.includes('world_peak') && month === 0
        expect([month, question, now[question]]).toEqual([month, question, isGone ? [] : rows])
      }
    }
    expect(contributed.get(6)).toHaveLength(3)
    for (const [month, before] of contributed) {
      const now = await db.values(contributions, [monthOf(start, month), monthOf(start, month + 1)])
      // Bounds of the same number overlap.
      const overlaps = now.map(([least, most], nth) => {
        const [leastBefore, mostBefore] = before[nth] ?? []
        return Number(least) <= Number(mostBefore ?? Infinity) && Number(leastBefore) <= Number(most ?? Infinity)
      })
      expect([month, now, before, overlaps]).toEqual([month, now, before, before.map(() => true)])
    }
    // Of ten months and more: a span a day, and of the guild the first and the last of eight answers.
    const old = `date_trunc('month', $1::timestamptz, 'UTC')`
    expect(
      await db.values(
        `select (select count(*)::int from sync.answer_span where began_at < ${old}),
                (select count(*)::int from sync.run where resource = 'online-players' and observed_at < ${old}),
                (select count(*)::int from sync.observation where resource = 'guilds' and observed_at < ${old})`,
        [monthOf(start, 10)],
      ),
    ).toEqual([[305, 1, 305 * 2]])
    const [world] = await db.query(
      `select fine_since, coarse_since from sync.tier where sample_table = 'game.world_sample'`,
    )
    expect(world).toEqual({ fine_since: new Date('2024-12-01Z'), coarse_since: new Date('2024-05-04Z') })
  })

  test('get the months that somebody dropped or detached back before their next row, with what they had', async () => {
    const db = await testDatabase(kind)
    const insert = (at: string) =>
      db.query(`insert into game.world_sample (world, observed_at, online) values ('EU1', $1, 1)`, [new Date(at)])
    const rows = async () =>
      (await db.query<{ at: Date }>('select observed_at as at from game.world_sample order by 1')).map(({ at }) =>
        at.toISOString().slice(0, 10),
      )
    await insert('2024-02-09T00:00Z')
    expect(await maintain(db, first)).toMatchObject({ moved: 1 })
    expect(await maintain(db, first)).toEqual({ created: [], moved: 0, rolledUp: [], removed: 0 })
    await insert('2024-02-10T00:00Z')
    await db.query('drop table partitions.world_sample_2024_03')
    await db.query('alter table game.world_sample detach partition partitions.world_sample_2024_02')
    for (const at of ['2024-08-01Z', '2022-12-31Z']) await insert(at)
    // A sync looks before its first row.
    await expect(insert('2024-02-11Z')).rejects.toThrow(/no partition/)
    await makeMonths(db, first)
    for (const at of ['2024-02-11Z', '2024-03-11Z']) await insert(at)
    expect(await maintain(db, first)).toMatchObject({ moved: 0 })
    expect(await rows()).toEqual(['2022-12-31', '2024-02-09', '2024-02-10', '2024-02-11', '2024-03-11', '2024-08-01'])
    // What is older than all months gets its own while nothing was thinned out; what is far ahead waits.
    const parts = await partsNamed(db, 'world_sample')
    expect([parts.length, ...parts.slice(0, 3), ...parts.slice(-2)]).toEqual([
      19,
      'before',
      '2022_12',
      '2023_01',
      '2024_04',
      'rest',
    ])
    expect(await db.values('select count(*)::int from partitions.world_sample_rest')).toEqual([[1]])
    await db.query('drop table partitions.world_sample_before, partitions.world_sample_rest')
    expect((await maintain(db, first))?.created.map((name) => name.replace(/^.*sample_/, '')).sort()).toEqual([
      'before',
      'rest',
    ])
  })

  test('take rows of months that are far ahead, which move when these months come near', async () => {
    const db = await testDatabase(kind)
    const insert = (at: string) =>
      db.query(`insert into game.world_sample (world, observed_at, online) values ('EU1', $1, 1)`, [new Date(at)])
    await insert('2024-02-09Z')
    await maintain(db, first)
    for (const at of ['2024-05-01Z', '2024-06-30Z', '2031-01-01Z']) await insert(at)
    expect(await maintain(db, { ...first, now: new Date('2024-04-02Z') })).toMatchObject({ moved: 2 })
    const parts = await partsOf(db, 'game.world_sample')
    expect(parts.slice(-2).map(({ name, from, to }) => [name.slice(-7), from, to])).toEqual([
      ['2024_06', new Date('2024-06-01Z'), new Date('2024-07-01Z')],
      ['le_rest', new Date('2024-07-01Z'), null],
    ])
    expect(await db.values('select count(*)::int from partitions.world_sample_rest')).toEqual([[1]])
  })

  test('are left alone while they are empty, and looked after once a day', async () => {
    const db = await testDatabase(kind)
    expect(await isMaintenanceDue(db, first)).toBe(true)
    expect(await maintain(db, first)).toEqual({ created: [], moved: 0, rolledUp: [], removed: 0 })
    expect(await isMaintenanceDue(db, first)).toBe(false)
    expect(await isMaintenanceDue(db, { ...first, now: new Date('2024-02-11T12:00Z') })).toBe(true)
    const lock = await db.tryLock('wynnsync maintain')
    expect(await maintain(db, first)).toBeNull()
    await lock?.release()
  })

  test.runIf(kind === 'server')(
    'behind a long query are left for later within seconds, and the others are not',
    async () => {
      const url = await testDatabaseUrl()
      const open = async (applicationName: string) => {
        const db = await openServer(url, { applicationName })
        onTestFinished(() => db.close())
        return db
      }
      const [db, dashboard, writer] = [await open('wynnsync'), await open('grafana'), await open('wynnsync')]
      const at = [new Date('2024-02-09Z')]
      await db.query(`insert into game.world_sample (world, observed_at, online) values ('EU1', $1, 1)`, at)
      await db.query('insert into game.online_sample (observed_at, total, listed) values ($1, 1, 1)', at)
      let end = () => {}
      const pid = await new Promise<number>((resolve) => {
        void dashboard.transaction(async (sql) => {
          const [session] = await sql.query<{ pid: number }>('select pg_backend_pid() as pid from game.world_sample')
          resolve(session?.pid ?? 0)
          await new Promise<void>((ended) => {
            end = ended
          })
        })
      })
      const began = performance.now()
      const failed = expect(maintain(db, first)).rejects.toThrow(
        new RegExp(
          `maintenance of game.world_sample waited 3 s for a lock that pid ${pid} \\(grafana, user \\w+, since .*holds`,
        ),
      )
      await systemClock.sleep(500)
      const insert = `insert into game.world_sample (world, observed_at, online) values ('EU2', $1, 1)`
      await writer.query(insert, at)
      expect(performance.now() - began).toBeLessThan(6000)
      await failed
      expect(await partsNamed(db, 'online_sample')).toContain('2024_02')
      expect(await isMaintenanceDue(db, first)).toBe(true)
      end()
      expect(await maintain(db, first)).toMatchObject({ moved: 2 })
      expect(await isMaintenanceDue(db, first)).toBe(false)
    },
  )

  test('keep what is needed of presence: the last time online of a day, until when, and the last login told', async () => {
    const db = await testDatabase(kind)
    const samples: [string, boolean | null, string | null][] = [
      ['01T08:00', false, '01T06:00'],
      ['02T07:00', true, '02T06:50'],
      ['02T08:00', true, '02T07:50'],
      ['02T08:10', true, '02T08:05'],
      ['02T08:20', false, '02T08:05'],
      ['02T09:00', false, '02T08:55'],
      ['02T10:00', null, null],
      ['02T11:00', false, null],
      ['03T08:00', null, null],
    ]
    for (const [at, online, login] of samples) {
      await db.query(
        `insert into game.member_presence (guild_uuid, player_uuid, observed_at, online, last_join)
         values ('${guild}', '${guild}', $1, $2, $3)`,
        [new Date(`2024-01-${at}Z`), online, login && new Date(`2024-01-${login}Z`)],
      )
    }
    await maintain(db, {
      ...first,
      now: new Date('2024-05-01Z'),
      retention: readRetention('member_presence=30d', names),
    })
    const kept = await db.query<{ at: Date }>('select observed_at as at from game.member_presence order by 1')
    expect(kept.map(({ at }) => at.toISOString().slice(8, 16))).toEqual(
      samples.flatMap(([at]) => (at === '02T08:00' ? [] : [at])),
    )
  })
})

test('a retention that cannot be read names each part that is wrong', () => {
  expect(
    readRetention('all=1y; world_sample=off; ledger=6w; online_sample=10d / 2m', [
      'world_sample',
      'online_sample',
      'a',
    ]),
  ).toEqual(
    new Map([
      ['online_sample', { fine: 10, coarse: 60 }],
      ['a', { fine: 365 }],
      ['ledger', { fine: 42 }],
    ]),
  )
  expect(readRetention(undefined, ['a']).size).toBe(0)
  // What has no coarser tier is not meant by the time of the finer one.
  expect(readRetention('all=60d', ['a'], ['p'])).toEqual(new Map([['a', { fine: 60 }]]))
  expect(readRetention('all=60d/1y; ledger=30d/1y', [], ['p', 'q']).get('q')).toEqual({ fine: 365 })
  expect(readRetention('p=60d; ledger=30d/1y', [], ['p'])).toEqual(
    new Map([
      ['p', { fine: 60 }],
      ['ledger', { fine: 30, coarse: 365 }],
    ]),
  )
  expect(() => readRetention('b=1y; a=soon; a=9d/3d; p=1d/2d; a', ['a'], ['p'])).toThrow(
    /b=1y: there are all, ledger, a, p\n.*a=soon: .*\n.*a=9d\/3d: .*\n.*p=1d\/2d: must look like p=90d\n.*a: /,
  )
})
