import { integer, pgSchema, text, timestamp } from 'drizzle-orm/pg-core'
import { expect, test } from 'vitest'
import { rowsTable } from '../../src/sync/declare/written-tables.ts'

const game = pgSchema('game')
const at = (name: string) => timestamp(name, { withTimezone: true })
const of = { resource: 'somethings', isKeyed: false, isAverage: false, isFollowing: false }

test('an event table is imported by the instant that it has, whatever that is called', () => {
  const table = game.table('something_happened', {
    key: text().notNull(),
    doneAt: at('done_at'),
    seenAt: at('seen_at').notNull(),
  })
  expect(rowsTable(of, table, undefined)).toMatchObject({ table: 'game.something_happened', time: 'seen_at' })
})

test('the instant of the response comes before others', () => {
  const table = game.table('something_moved', {
    startsAt: at('starts_at').notNull(),
    observedAt: at('observed_at').notNull(),
  })
  expect(rowsTable(of, table, undefined).time).toBe('observed_at')
})

test('a table that does not say when is refused, not left out', () => {
  const table = game.table('something_counted', { amount: integer().notNull(), at: at('at') })
  expect(() => rowsTable(of, table, undefined)).toThrow('game.something_counted has no column that says when')
})
