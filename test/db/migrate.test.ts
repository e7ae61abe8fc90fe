import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock, virtualClock } from '../../src/base/clock.ts'
import { FatalError } from '../../src/base/errors.ts'
import type { Database } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrations/migrate.ts'
import type { RepeatableSql } from '../../src/db/migrations/scripts.ts'
import { openServer } from '../../src/db/server/server.ts'
import { bothKinds, migrateAll, temporaryFolder, testDatabase, testDatabaseUrl } from '../support/postgres.ts'
import { describeSchema } from './releases/schema.ts'

const clock = virtualClock(Date.UTC(2026, 5, 1))

const FIRST = `create schema game;\n--> statement-breakpoint\ncreate table game.swords (name text primary key);`
const SECOND = `alter table game.swords add column level int;`
const BROKEN = `alter table game.swords add column sharp bool;\n--> statement-breakpoint\nalter table game.axes add column x int;`
const VIEW = 'create or replace view game.names as select name from game.swords;'
const COMMENTS = `comment on table game.swords is 'Swords; they cut.';\ncomment on view game.names is 'Names.';`

/** Writes a migrations folder as drizzle-kit does, and repeatable files beside it. */
async function project(
  migrations: string[],
  repeatable: string[] = [],
  times = migrations.map((_, index) => index + 1),
) {
  const folder = await temporaryFolder()
  await mkdir(join(folder, 'meta'))
  const entries = migrations.map((_, idx) => ({
    idx,
    version: '7',
    when: times[idx],
    tag: `000${idx}_step`,
    breakpoints: true,
  }))
  await writeFile(
    join(folder, 'meta', '_journal.json'),
    JSON.stringify({ version: '7', dialect: 'postgresql', entries }),
  )
  for (const [index, sql] of migrations.entries()) await writeFile(join(folder, `000${index}_step.sql`), sql)
  const files: RepeatableSql[] = repeatable.map((_, index) => ({
    name: `r${index}`,
    path: join(folder, `r${index}.sql`),
  }))
  for (const [index, sql] of repeatable.entries()) await writeFile(join(folder, `r${index}.sql`), sql)
  return { folder, repeatable: files, clock }
}

async function everything(db: Database): Promise<unknown> {
  return db.values(`select table_schema::text, table_name::text, column_name::text from information_schema.columns
    where table_schema in ('game', 'sync', 'drizzle') order by 1, 2, 3`)
}

describe.each(bothKinds)('migrating the %s database', (kind) => {
  test('applies migrations and repeatable SQL once, and then has nothing to do', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const options = await project([FIRST, SECOND], [VIEW, COMMENTS])
    expect(await migrate(db, options)).toEqual({ applied: ['0000_step.sql', '0001_step.sql', 'r0', 'r1'] })
    expect(await db.query('select name, installed_at from sync.installed_sql order by name')).toEqual([
      { name: 'r0', installed_at: new Date(clock.now()) },
      { name: 'r1', installed_at: new Date(clock.now()) },
    ])
    expect(await migrate(db, options)).toEqual({ applied: [] })
  })

  test('costs two statements and no transaction when there is nothing to do', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const options = await project([FIRST], [VIEW])
    await migrate(db, options)
    let statements = 0
    const counting: Database = {
      ...db,
      query: (text, params) => {
        statements++
        return db.query(text, params)
      },
      transaction: () => Promise.reject(new Error('a transaction for nothing')),
    }
    await migrate(counting, options)
    expect(statements).toBe(2)
  })

  test('applies what is new later: a migration, and repeatable SQL from the first changed file on', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const before = await project([FIRST], [VIEW, COMMENTS, 'select 1'])
    await migrate(db, before)
    const after = await project([FIRST, SECOND], [VIEW, `${COMMENTS}\n`, 'select 1'])
    expect(await migrate(db, after)).toEqual({ applied: ['0001_step.sql', 'r1', 'r2'] })
  })

  test('that fails names the migration and the reason, and leaves the database as it was', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await migrate(db, await project([FIRST]))
    const before = await everything(db)
    const failed = migrate(db, await project([FIRST, SECOND, BROKEN], [VIEW]))
    await expect(failed).rejects.toThrow(FatalError)
    await expect(failed).rejects.toThrow(/0002_step\.sql failed.*"game\.axes" does not exist/)
    expect(await everything(db)).toEqual(before)
    expect(await migrate(db, await project([FIRST, SECOND]))).toEqual({ applied: ['0001_step.sql'] })
  })

  test('that fails in repeatable SQL names the file, and takes the migrations back with it', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const failed = migrate(db, await project([FIRST], [VIEW, 'create view game.bad as select nothing']))
    await expect(failed).rejects.toThrow(/r1\.sql failed/)
    expect(await everything(db)).toEqual([])
  })

  test('refuses a journal whose times do not rise, because drizzle would skip the later migration', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await expect(migrate(db, await project([FIRST, SECOND], [], [5, 5]))).rejects.toThrow(/0001_step .* is not after/)
    expect(await everything(db)).toEqual([])
  })

  test('adds what an earlier edition of a migration lacked, once, and goes on from there', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await migrate(db, await project([FIRST], [], [5]))
    const present = await project(
      [`${FIRST}\n--> statement-breakpoint\n${SECOND}`, SECOND.replace('level', 'sharp')],
      [],
      [7, 8],
    )
    await mkdir(join(present.folder, 'earlier'))
    await writeFile(join(present.folder, 'earlier', '5_0000_step.sql'), SECOND)
    expect(await migrate(db, present)).toEqual({ applied: ['earlier/5_0000_step.sql', '0001_step.sql'] })
    expect(await migrate(db, present)).toEqual({ applied: [] })
    const fresh = await testDatabase(kind, { migrated: false })
    await migrate(fresh, present)
    expect(await everything(db)).toEqual(await everything(fresh))
    const applied = 'select created_at, hash from drizzle.__drizzle_migrations order by 1'
    expect(await db.values(applied)).toEqual(await fresh.values(applied))
  })

  test('refuses a database that a newer program has migrated', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await migrate(db, await project([FIRST, SECOND]))
    await expect(migrate(db, await project([FIRST]))).rejects.toThrow('newer version')
  })
})

describe.each(bothKinds)('two versions of the program on one %s database', (kind) => {
  const LATER = `${VIEW}\ncomment on view game.names is 'Later.';`
  const isLater = async (db: Database) =>
    (await db.values(`select obj_description('game.names'::regclass) = 'Later.'`)).flat()[0]

  test.each([
    ['of different versions', '0.9.0', '0.10.0'],
    ['of one version, which came one after the other', '0.1.0', '0.1.0'],
  ])('%s do not replace each other: the views of the newer one stay', async (_, older, newer) => {
    const db = await testDatabase(kind, { migrated: false })
    const first = { ...(await project([FIRST], [`${VIEW}\ncomment on view game.names is null;`])), version: older }
    const second = { ...(await project([FIRST], [LATER])), version: newer }
    expect((await migrate(db, first)).applied).toEqual(['0000_step.sql', 'r0'])
    expect((await migrate(db, second)).applied).toEqual(['r0'])
    for (let start = 0; start < 3; start++) {
      expect(await migrate(db, first)).toMatchObject({ applied: [], newer: { version: newer } })
      expect(await migrate(db, second)).toEqual({ applied: [] })
    }
    expect(await isLater(db)).toBe(true)
    // A person may put back what is of the same version.
    expect(await migrate(db, { ...first, again: true })).toMatchObject(
      older === newer ? { applied: ['r0'] } : { applied: [], newer: { version: newer } },
    )
    expect(await isLater(db)).toBe(older === newer ? null : true)
  })

  test('a newer version replaces the views also when it was installed first by hand', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const second = { ...(await project([FIRST], [LATER])), version: '0.2.0' }
    await migrate(db, second)
    const third = { ...(await project([FIRST, SECOND], [VIEW])), version: '0.1.0' }
    // It has a migration that the database lacks: that counts more than the number.
    expect((await migrate(db, third)).applied).toEqual(['0001_step.sql', 'r0'])
  })
})

describe('behind a long query of a dashboard', () => {
  /** A query that does not end, in a session named `grafana`. */
  async function lookAt(url: string, relation: string) {
    const dashboard = await openServer(url, { applicationName: 'grafana' })
    let end = () => {}
    const looking = new Promise<number>((resolve) => {
      void dashboard.transaction(async (sql) => {
        await sql.query(`select from ${relation}`)
        const [session] = await sql.query<{ pid: number }>('select pg_backend_pid() as pid')
        resolve(session?.pid ?? 0)
        await new Promise<void>((ended) => {
          end = ended
        })
      })
    })
    const pid = await looking
    onTestFinished(() => dashboard.close())
    return { pid, end: () => end() }
  }

  test('a migration gives up within seconds and names it, lets writers through, and succeeds when it is over', async () => {
    const url = await testDatabaseUrl({ migrated: false })
    const [db, writer] = await Promise.all([openServer(url), openServer(url)])
    onTestFinished(async () => void (await Promise.all([db.close(), writer.close()])))
    await migrate(db, await project([FIRST], [VIEW]))
    const query = await lookAt(url, 'game.swords')
    const later = { ...(await project([FIRST, SECOND], [VIEW])), clock: virtualClock(0, { auto: true }) }
    const failed = expect(migrate(db, later)).rejects.toThrow(
      new RegExp(`the migration waited 3 s for a lock that pid ${query.pid} \\(grafana, user \\w+, since .*\\) holds`),
    )
    let longest = 0
    let over = false
    const writing = (async () => {
      for (let sword = 0; !over; sword++) {
        const began = performance.now()
        await writer.query('insert into game.swords (name) values ($1)', [`sword ${sword}`])
        longest = Math.max(longest, performance.now() - began)
        await systemClock.sleep(20)
      }
    })()
    await failed
    over = true
    await writing
    expect(longest).toBeLessThan(4500)
    query.end()
    expect((await migrate(db, later)).applied).toEqual(['0001_step.sql'])
  })

  test('new views wait, and what only needs the tables goes on', async () => {
    const url = await testDatabaseUrl({ migrated: false })
    const db = await openServer(url)
    onTestFinished(() => db.close())
    await migrate(db, await project([FIRST], [VIEW]))
    const query = await lookAt(url, 'game.names')
    const later = {
      ...(await project([FIRST], [`drop view game.names;\n${VIEW}`])),
      clock: virtualClock(0, { auto: true }),
    }
    expect(await migrate(db, later)).toEqual({ applied: [], postponed: expect.stringContaining('grafana') })
    query.end()
    expect(await migrate(db, later)).toEqual({ applied: ['r0'] })
  })
})

test.each(bothKinds)(
  'a view of the user needs a function of the %s database that changes: both stay, tables are migrated',
  async (kind) => {
    const db = await testDatabase(kind, { migrated: false })
    const NUMBERS = 'create or replace function game.number() returns int language sql return 1;'
    await migrate(db, await project([FIRST], [NUMBERS, VIEW]))
    await db.query('create view public.mine as select game.number() as number')
    const TEXTS = `drop function if exists game.number();\ncreate function game.number() returns text language sql return 'one';`
    const later = await project([FIRST, SECOND], [TEXTS, VIEW])
    expect(await migrate(db, later)).toEqual({
      applied: ['0001_step.sql'],
      postponed: expect.stringMatching(/^r0\.sql .*view mine depends on function game\.number\(\).*wynnsync migrate/),
    })
    expect(
      await db.query('select number, null::int = (select max(level) from game.swords) as level from public.mine'),
    ).toEqual([{ number: 1, level: null }])
    expect((await migrate(db, later)).postponed).toContain('view mine')
    await db.query('drop view public.mine')
    expect(await migrate(db, later)).toEqual({ applied: ['r0', 'r1'] })
    expect(await db.query('select game.number() as number')).toEqual([{ number: 'one' }])
  },
)

const NUMBERS = `create or replace function game.number() returns int language sql return 1;
  comment on function game.number() is 'One.';`
const TEXTS = `drop function if exists game.number();
  create function game.number() returns text language sql return 'one'; comment on function game.number() is 'One.';`
const LATER = 'create or replace view game.lettered as select game.number() as number from game.names;'

describe.each(bothKinds)('repeatable SQL in the %s database', (kind) => {
  test('is made anew where a later file needs what an earlier one changes, beside what a user has made', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await migrate(db, await project([FIRST], [VIEW, NUMBERS, LATER]))
    const role = `looker_${Math.random().toString(36).slice(2)}`
    await db.query(`create role ${role}; grant select on game.lettered to ${role} with grant option;
      create view public.mine as select name from game.names;
      create function game.number(more int) returns int language sql return more;
      create view public.ours as select game.number(2) as number`)
    try {
      const later = await project([FIRST], [VIEW, TEXTS, LATER])
      expect(await migrate(db, later)).toEqual({ applied: ['r0', 'r1', 'r2'] })
      expect(await migrate(db, later)).toEqual({ applied: [] })
      expect(await db.values('select game.number(), game.number(3), count(*)::int from public.mine')).toEqual([
        ['one', 3, 0],
      ])
      expect(await db.values('select number from public.ours')).toEqual([[2]])
      const rights = `has_table_privilege('${role}', 'game.lettered', 'select with grant option')`
      expect(await db.values(`select ${rights}`)).toEqual([[true]])
    } finally {
      await db.query(`drop owned by ${role}; drop role ${role}`)
    }
  })

  test("names as the user's own only what no file has made, also where the installed version made what this one lacks", async () => {
    const db = await testDatabase(kind, { migrated: false })
    await migrate(
      db,
      await project([FIRST], [VIEW, NUMBERS, 'create view game.gone as select game.number() as number']),
    )
    await db.query('create view public.mine as select game.number() as number')
    const { postponed } = await migrate(db, await project([FIRST], [VIEW, TEXTS, LATER]))
    expect(postponed).toContain('(view mine depends on function game.number())')
    expect(await db.values('select number from game.gone')).toEqual([[1]])
    await db.query('drop view public.mine')
    expect(await migrate(db, await project([FIRST], [VIEW, TEXTS, LATER]))).toEqual({ applied: ['r0', 'r1', 'r2'] })
  })

  test('is installed again where something of it is missing', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const options = await project([FIRST], [VIEW, NUMBERS, LATER])
    await migrate(db, options)
    await db.query('drop view game.lettered')
    expect(await migrate(db, options)).toEqual({ applied: ['r2'] })
    await db.query('drop function game.number() cascade')
    expect(await migrate(db, options)).toEqual({ applied: ['r1', 'r2'] })
    expect(await migrate(db, options)).toEqual({ applied: [] })
  })
})

test('everything that people ask comes back after its schema, or one function of it, was dropped', async () => {
  const db = await testDatabase('server')
  const present = await describeSchema(db)
  await db.query('drop schema analytics cascade')
  await migrateAll(db)
  expect(await describeSchema(db)).toEqual(present)
  await db.query('drop function analytics.coverage cascade')
  await migrateAll(db)
  expect(await describeSchema(db)).toEqual(present)
})

test('twenty processes may migrate one server at once, and each step is applied by one of them', async () => {
  const url = await testDatabaseUrl({ migrated: false })
  const options = await project([FIRST, SECOND], [VIEW, COMMENTS])
  const databases = await Promise.all(Array.from({ length: 20 }, () => openServer(url)))
  try {
    const outcomes = await Promise.all(databases.map((db) => migrate(db, options)))
    expect(outcomes.flatMap(({ applied }) => applied).sort()).toEqual(['0000_step.sql', '0001_step.sql', 'r0', 'r1'])
  } finally {
    await Promise.all(databases.map((db) => db.close()))
  }
})

test('an installation without its migrations says so', async () => {
  const db = await testDatabase('server', { migrated: false })
  const folder = await temporaryFolder()
  await expect(migrate(db, { folder, repeatable: [], clock })).rejects.toThrow('the installation is incomplete')
  // A file that is there and cannot be read, as where a process has too many open.
  await mkdir(join(folder, 'meta', '_journal.json'), { recursive: true })
  await expect(migrate(db, { folder, repeatable: [], clock })).rejects.toThrow(/_journal\.json cannot be read; EISDIR/)
})
