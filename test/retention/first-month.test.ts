import { expect, onTestFinished, test } from 'vitest'
import { virtualClock } from '../../src/base/clock.ts'
import { openServer } from '../../src/db/server/server.ts'
import { runInside } from '../support/cli-inside.ts'
import { testDatabaseUrl } from '../support/postgres.ts'
import { servedApi } from '../support/served.ts'

test('the first rows of a resource go into the month that they are of, and none moves when a sync ends', async () => {
  const url = await testDatabaseUrl()
  const api = await servedApi({ clock: virtualClock(Date.now()), game: { guilds: 20, players: 300 } })
  const environment = { DATABASE_URL: url, WYNNSYNC_BASE_URL: api.url }
  const db = await openServer(url)
  onTestFinished(() => db.close())
  // Maintenance, which would move them, is not due.
  await db.query(`insert into sync.tier (sample_table, checked_at)
    select distinct inhparent::regclass::text, now() from pg_inherits where inhparent::regclass::text like 'game.%'`)
  const synced = await runInside(['sync', 'online-players', 'territories'], environment)
  expect([synced.code, synced.err]).toEqual([0, expect.not.stringContaining('partitions created')])
  const [samples] = await db.values('select count(*)::int from game.world_sample')
  expect(samples?.[0]).toBeGreaterThan(0)
  for (const table of ['world_sample', 'territory_resource'])
    expect([table, ...(await db.values(`select count(*)::int from partitions.${table}_rest`))]).toEqual([table, [0]])
  // What is not synced has no partitions yet.
  expect(
    await db.values(
      `select inhrelid::regclass::text from pg_inherits where inhparent = 'game.leaderboard_place'::regclass`,
    ),
  ).toEqual([['partitions.leaderboard_place_rest']])
})
