import { randomUUID } from 'node:crypto'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { admitReaders, migrateDatabase } from '../../src/app/app.ts'
import { systemClock } from '../../src/base/clock.ts'
import type { Database, Sql } from '../../src/db/database.ts'
import { openServer } from '../../src/db/server/server.ts'
import { readQuestions } from '../../src/questions/questions.ts'
import { kindsAtNight, testDatabase, testDatabaseUrl } from '../support/postgres.ts'

/** What questions are made of; nobody asks these. */
const parts = new Set(
  ['watch', 'expected_every', 'unobserved', 'watched', 'watched_share', 'online_known'].concat(
    'members_between',
    'member_rise',
    'members_gained',
    'counter_border',
    'counter_unsent',
    'counter_steps',
    'counter_source',
    'counter_series',
    'counter_lacking',
    'counter_risen',
    'counter_covered',
    'counter_cells',
    'counter_likely',
    'counter_first',
    'counter_soonest',
  ),
)

/** A value for each type of argument. */
const values: Readonly<Record<string, string>> = {
  text: 'wars',
  uuid: '00000000-0000-4000-8000-000000000001',
  'timestamp with time zone': '2026-06-01T00:00:00Z',
  interval: '1 hour',
  integer: '1',
  numeric: '1',
  jsonb: '1',
  boolean: 'true',
  'double precision': '1',
  'double precision[]': '{1,2}',
  'text[]': '{/guild}',
  'timestamp with time zone[]': '{2026-06-01T00:00:00Z,2026-06-02T00:00:00Z}',
  tstzmultirange: '{[2026-06-01T00:00:00Z,2026-06-02T00:00:00Z)}',
}

/** By name, where one of its type will not do. */
const named: Readonly<Record<string, string>> = {
  kind: 'guild',
  what: 'guild',
  entity: '00000000-0000-4000-8000-000000000001',
  entity_name: '00000000-0000-4000-8000-000000000001',
  name: '00000000-0000-4000-8000-000000000001',
}

/** What went wrong with each question. */
async function refusals(owner: Sql, reader: Sql): Promise<string[]> {
  const refused: string[] = []
  for (const { name, kind, parameters } of await readQuestions(owner)) {
    if (parts.has(name)) continue
    const given = parameters.map((one) => `'${named[one.name] ?? values[one.type]}'::${one.type}`).join(', ')
    const asked = kind === 'view' ? `analytics.${name}` : `analytics.${name}(${given})`
    await reader
      .query(`select * from ${asked}`)
      .catch((error: Error) => refused.push(`${asked}: ${error.message.replace(/\n.*/s, '')}`))
  }
  return refused
}

/** Statements that nobody who only asks may run. */
async function forbidden(owner: Sql): Promise<string[]> {
  const tables = await owner.values(
    `select schemaname || '.' || tablename from pg_tables where schemaname in ('game', 'sync')`,
  )
  return [
    ...tables.map(([table]) => `select * from ${table}`),
    `select * from analytics.watch('territories')`,
    `insert into game.world (world, valid_from, hash) values ('EU1', now(), '\\x00')`,
    'delete from analytics.territory_hold',
    'create table analytics.mine (id int)',
    'create table public.mine (id int)',
    'drop view analytics.patch',
    'create schema mine',
    `select table_to_xml('game.world', true, false, '')`,
  ]
}

async function permitted(owner: Sql, reader: Sql): Promise<string[]> {
  const let_through: string[] = []
  for (const statement of await forbidden(owner)) {
    const done = await reader.query(statement).then(
      () => true,
      () => false,
    )
    if (done) let_through.push(statement)
  }
  return let_through
}

/** A connection of somebody who was let in as a reader. */
async function logIn(owner: Database, url: string): Promise<Database> {
  const name = `asker_${randomUUID().replaceAll('-', '')}`
  await owner.query(`create role ${name} login password 'of the asker' in role wynnsync_reader`)
  const own = new URL(url)
  own.username = name
  own.password = 'of the asker'
  const reader = await openServer(own.href)
  onTestFinished(async () => {
    await reader.close()
    const admin = await openServer(inject('serverUrl'))
    await admin.query(`drop role ${name}`)
    await admin.close()
  })
  return reader
}

describe('somebody with the role wynnsync_reader, on a server,', () => {
  test('may ask every question and see nothing else, also after everything was installed anew', async () => {
    const url = await testDatabaseUrl()
    const owner = await openServer(url)
    onTestFinished(() => owner.close())
    const reader = await logIn(owner, url)
    expect(await refusals(owner, reader)).toEqual([])
    expect(await permitted(owner, reader)).toEqual([])
    await owner.query(`update sync.installed_sql set sha256 = 'old' where name like '%00-watch'`)
    await owner.query('drop view analytics.patch')
    await migrateDatabase(owner, { clock: systemClock })
    expect(await refusals(owner, reader)).toEqual([])
    expect(await permitted(owner, reader)).toEqual([])
  })

  test('is let in by a migration of its own when the role came later', async () => {
    const url = await testDatabaseUrl()
    const owner = await openServer(url)
    onTestFinished(() => owner.close())
    // As a server has it on which somebody without the right to create roles installed everything.
    await owner.query('revoke all on schema analytics from wynnsync_reader')
    const reader = await logIn(owner, url)
    expect((await refusals(owner, reader)).length).toBeGreaterThan(20)
    await admitReaders(owner)
    expect(await refusals(owner, reader)).toEqual([])
  })
})

describe.each(kindsAtNight)('on the %s database', (kind) => {
  test("views and functions of the user's own keep owner, grants and definition in every migration", async () => {
    const db = await testDatabase(kind)
    const role = `user_${randomUUID().replaceAll('-', '')}`
    await db.query(`create role ${role}; grant create, usage on schema analytics to ${role};
      create view analytics.my_items as select internal_name from analytics.item;
      grant select on analytics.my_items to ${role};
      create materialized view analytics.my_counts as select count(*) from game.item;
      create function analytics.my_count() returns bigint language sql stable begin atomic select count(*) from game.item; end;
      create function analytics.my_open(name text) returns text language sql set work_mem = '8MB' return upper(name);
      grant execute on function analytics.my_count() to ${role} with grant option;
      -- Named as one of the program's, with other arguments.
      create function analytics.item_at(name boolean) returns text language sql return name::text;
      create function analytics.watch(name boolean) returns text language sql return name::text;
      create function analytics.theirs() returns int language sql return 1;
      alter function analytics.theirs() owner to ${role}`)
    const own = `'my_items', 'my_counts', 'my_count', 'my_open', 'theirs'`
    const read = async () => [
      ...(await db.values(`select relname, relowner::regrole::text, relacl::text, pg_get_viewdef(oid) from pg_class
        where relname in (${own}) order by 1`)),
      ...(await db.values(`select proname, proowner::regrole::text, proacl::text, pg_get_functiondef(oid) from pg_proc
        where proname in (${own}) or pg_get_function_identity_arguments(oid) = 'name boolean' order by 1`)),
    ]
    const before = await read()
    expect(before.length).toBe(7)
    await admitReaders(db)
    for (const script of ['99-reader', '05-item', '00-watch']) {
      await db.query(`update sync.installed_sql set sha256 = 'old', makes = null where name like '%${script}'`)
      await db.query(`update sync.installed_program set sql_hash = 'old'`)
      await migrateDatabase(db, { clock: systemClock })
      expect(await read()).toEqual(before)
    }
    const [readable] =
      await db.values(`select count(*) > 20, bool_and(has_table_privilege('wynnsync_reader', oid, 'select'))
       from pg_class where relnamespace = 'analytics'::regnamespace and relkind = 'v' and relname <> 'my_items'`)
    expect(readable).toEqual([true, true])
    const [mine] = await db.values(`select has_table_privilege('wynnsync_reader', 'analytics.my_items', 'select')`)
    expect(mine).toEqual([false])
    await db.query(`drop owned by ${role}`)
    await db.query(`drop role ${role}`)
  })

  test('the role has no right outside of analytics, and what borrows rights cannot be led astray', async () => {
    const db = await testDatabase(kind)
    const [elsewhere] = await db.values(
      `select count(*)::int from pg_class where relnamespace::regnamespace::text in ('game', 'sync', 'partitions')
         and relkind in ('r', 'p', 'v') and has_table_privilege('wynnsync_reader', oid, 'select, insert, update, delete')`,
    )
    expect(elsewhere).toEqual([0])
    const unpinned = await db.values(
      `select proname from pg_proc where pronamespace = 'analytics'::regnamespace and prosecdef
         and (proconfig is null or not 'search_path=pg_catalog, pg_temp' = any(proconfig))`,
    )
    expect(unpinned).toEqual([])
    const open = await db.values(
      `select proname from pg_proc where pronamespace = 'analytics'::regnamespace and has_function_privilege('public', oid, 'execute')`,
    )
    expect(open).toEqual([])
  })
})

test('the embedded database answers its reader every question, and nothing else', async () => {
  const db = await testDatabase('embedded')
  const reader: Sql = {
    ...db,
    query: (text) =>
      db.transaction(async (sql) => {
        await sql.query('set local role wynnsync_reader')
        return await sql.query(text)
      }),
  }
  expect(await refusals(db, reader)).toEqual([])
  expect(await permitted(db, reader)).toEqual([])
})
