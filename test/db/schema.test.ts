import { getTableName } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import { migrateDatabase } from '../../src/app/app.ts'
import { systemClock } from '../../src/base/clock.ts'
import { resources } from '../../src/resources/index.ts'
import { bothKinds, testDatabase } from '../support/postgres.ts'

describe.each(bothKinds)('the migrated schema on the %s database', (kind) => {
  test('defers every chain of versions to the end of the transaction', async () => {
    const db = await testDatabase(kind)
    const chains = await db.query(
      `select conrelid::regclass::text as table, condeferrable and condeferred as deferred
       from pg_constraint where contype = 'f' and conname like '%\\_chain' order by 1`,
    )
    expect(chains.length).toBeGreaterThan(0)
    expect(chains.filter((one) => one.deferred !== true)).toEqual([])
  })

  test('chains every table that has versions', async () => {
    const db = await testDatabase(kind)
    const unchained = await db.query(
      `select attrelid::regclass::text as table from pg_attribute join pg_class on pg_class.oid = attrelid
       where attname = 'previous_until' and relkind = 'r' and not exists (
         select from pg_constraint where conrelid = attrelid and conname = relname || '_chain')`,
    )
    expect(unchained).toEqual([])
  })

  test('has no foreign key but those of chains, and of parts to the root of their resource, with which they go', async () => {
    const db = await testDatabase(kind)
    const owned = resources.flatMap(({ history, relatedHistories = {} }) =>
      [history, ...Object.values(relatedHistories)].flatMap(({ root, parts }) =>
        Object.values(parts).map((part) => [`game.${getTableName(part)}`, `game.${getTableName(root)}`, 'c']),
      ),
    )
    const keys = await db.values(
      `select conrelid::regclass::text, confrelid::regclass::text, confdeltype::text
       from pg_constraint where contype = 'f' and (conrelid <> confrelid or conname not like '%\\_chain')`,
    )
    expect(owned.length).toBeGreaterThan(10)
    expect(keys.sort()).toEqual(owned.sort())
  })

  test('tells Postgres not to compile plans, unless somebody told it otherwise', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const told = () =>
      db.values(
        `select setconfig from pg_db_role_setting join pg_database on pg_database.oid = setdatabase
          where datname = current_database()`,
      )
    await migrateDatabase(db, { clock: systemClock })
    expect(await told()).toEqual([[['jit=off']]])
    await db.query(`do $$ begin execute format('alter database %I set jit = on', current_database()); end $$`)
    await db.query('delete from sync.installed_sql')
    await migrateDatabase(db, { clock: systemClock })
    expect(await told()).toEqual([[['jit=on']]])
  })
})
