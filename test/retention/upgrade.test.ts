import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { migrateDatabase } from '../../src/app/app.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrations/migrate.ts'
import { growingTables } from '../../src/resources/index.ts'
import { maintain } from '../../src/sync/retention/maintain.ts'
import { kindsOfLongTests, temporaryFolder, testDatabase } from '../support/postgres.ts'
import { begin, live } from './year.ts'

const migrations = fileURLToPath(new URL('../../migrations', import.meta.url))
const [from, to] = [new Date('2024-01-20T00:00Z'), new Date('2024-03-05T00:00Z')]
const upkeep = { now: to, tables: growingTables, retention: new Map() }

/** Brings a database to where it was before tables were partitioned, with a view of that time. */
async function migrateAsBefore(db: Database): Promise<void> {
  const folder = await temporaryFolder()
  await cp(migrations, folder, { recursive: true })
  const path = join(folder, 'meta', '_journal.json')
  const journal = JSON.parse(await readFile(path, 'utf8')) as { entries: { tag: string }[] }
  const entries = journal.entries.slice(
    0,
    journal.entries.findIndex(({ tag }) => tag.endsWith('partitions')),
  )
  await writeFile(path, JSON.stringify({ ...journal, entries }))
  const view = join(folder, 'view.sql')
  await writeFile(
    view,
    `create schema if not exists analytics;
     create or replace view analytics.player_evidence as
       select told.player_uuid, told.observed_at, told.online, told.server as world, told.last_join, 'old'::text as told_by
         from game.member_presence told;`,
  )
  await migrate(db, {
    folder,
    repeatable: [{ name: 'src/questions/sql/12-player-evidence', path: view }],
    clock: systemClock,
  })
}

describe.each(kindsOfLongTests)('a %s database from before the tables were partitioned', (kind) => {
  test('keeps every row, and its indexes, and its views read the new tables', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await migrateAsBefore(db)
    await begin(db, from)
    await live(db, from, to)
    const tables = [
      'world_sample',
      'online_sample',
      'guild_sample',
      'member_counter',
      'member_presence',
      'territory_resource',
    ]
    const content = async () =>
      await db.values(
        `${tables
          .map(
            (table) =>
              `select '${table}', count(*)::int, md5(string_agg(one::text, ' ' order by one::text)) from game.${table} one`,
          )
          .join(' union all ')} order by 1`,
      )
    const before = await content()
    await migrateDatabase(db, { clock: systemClock })
    expect(await content()).toEqual(before)
    const evidence = async () => await db.values(`select count(*)::int, min(told_by) from analytics.player_evidence`)
    const told = await evidence()
    expect(told).toEqual([[expect.any(Number), 'guild']])
    const moved = before.reduce((sum, [, count]) => sum + Number(count), 0)
    expect(await maintain(db, upkeep)).toMatchObject({ moved })
    expect(await content()).toEqual(before)
    expect(await evidence()).toEqual(told)
    expect(await db.values('select count(*)::int from partitions.world_sample_rest')).toEqual([[0]])
    await expect(db.query('insert into game.world_sample select * from game.world_sample limit 1')).rejects.toThrow(
      /duplicate key/,
    )
    expect(
      await db.values(
        `select indexname from pg_indexes where schemaname = 'game' and tablename in ('member_presence', 'online_sample') order by 1`,
      ),
    ).toEqual([
      ['member_presence_login'],
      ['member_presence_pkey'],
      ['member_presence_player'],
      ['member_presence_time'],
      ['online_sample_nobody_hidden'],
      ['online_sample_pkey'],
    ])
  })

  test('is not changed while a view of somebody else reads what would be moved away from under it', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await migrateAsBefore(db)
    await db.query('create view public.mine as select * from game.world_sample')
    await expect(migrateDatabase(db, { clock: systemClock })).rejects.toThrow(/these views read .*: mine; drop them/)
    await db.query('drop view public.mine')
    await migrateDatabase(db, { clock: systemClock })
  })
})

describe.each(kindsOfLongTests)('looking for the latest sample on the %s database', (kind) => {
  test('asks the newest month first, and the others only when it has none', async () => {
    const db = await testDatabase(kind)
    await live(db, from, to)
    await maintain(db, upkeep)
    // The instant is learned when the statement runs, as in a function.
    const plan = await db.transaction(async (sql) => {
      await sql.query('set local plan_cache_mode = force_generic_plan')
      await sql.query(
        `prepare latest(timestamptz) as select incoming.world, latest.online from (values ('EU1'), ('NA2')) incoming(world)
           left join lateral (select * from game.world_sample sample where sample.world = incoming.world
                                 and sample.observed_at <= $1 order by sample.observed_at desc limit 1) latest on true`,
      )
      return await sql.values(`explain execute latest('${to.toISOString()}')`)
    })
    const text = plan.flat().join('\n')
    expect(text).toMatch(/Append[\s\S]*2024_03[\s\S]*2024_02[\s\S]*2024_01/)
    expect(text).not.toMatch(/Merge Append|Sort|_rest/)
  })
})
