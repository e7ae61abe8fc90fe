import { eq } from 'drizzle-orm'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import { describe, expect, test } from 'vitest'
import { FatalError } from '../../src/base/errors.ts'
import { anyOf, typed } from '../../src/db/typed.ts'
import { bothKinds, testDatabase } from '../support/postgres.ts'

const number = pgTable('number', { value: integer('value').primaryKey() })

describe.each(bothKinds)('typed queries on the %s database', (kind) => {
  test('reject with the error of the database, without their parameters', async () => {
    const db = await testDatabase(kind, { migrated: false })
    const missing = typed(db).select().from(number).where(eq(number.value, 4711))
    await expect(missing).rejects.toBeInstanceOf(FatalError)
    await expect(missing).rejects.toMatchObject({ context: { sqlState: '42P01' } })
    await expect(missing).rejects.not.toThrow('4711')
  })

  test('look for more values than a statement takes parameters, and for none', async () => {
    const db = await testDatabase(kind, { migrated: false })
    await db.query('create table number as select generate_series(1, 70000) as value')
    const all = Array.from({ length: 70_000 }, (_, nth) => nth + 2)
    expect(await typed(db).$count(number, anyOf(number.value, all))).toBe(69_999)
    expect(await typed(db).$count(number, anyOf(number.value, []))).toBe(0)
  })
})
