import { describe, expect, test } from 'vitest'
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
})
