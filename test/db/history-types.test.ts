import { getTableConfig, index, type PgTable } from 'drizzle-orm/pg-core'
import { expect, expectTypeOf, test } from 'vitest'
import { integer, jsonb, text, texts } from '../../src/db/columns.ts'
import { historyTable, partTable, type RowOf } from '../../src/db/history.ts'

const swords = historyTable(
  'swords',
  'Swords.',
  { smithId: text('Smith.'), ordinal: integer('Number.') },
  { displayName: text('Name.').notNull(), level2Xp: integer('Xp.'), seenBy: texts('Seen by.').notNull() },
  { indexes: (sword) => [index('swords_display_name').on(sword.displayName)] },
)
const gems = partTable(
  swords,
  'sword_gems',
  'Gems.',
  { slot: integer('Slot.') },
  { colour: text('Colour.').notNull(), facets: jsonb('Facets.') },
)

const shields = historyTable(
  'shields',
  'Shields.',
  { name: text('Name.') },
  { width: integer('Width.').notNull() },
  { document: true },
)

test('a row that normalize returns holds the key and the columns, and none that the engine fills', () => {
  expectTypeOf<RowOf<typeof swords>>().toEqualTypeOf<{
    smithId: string
    ordinal: number
    displayName: string
    level2Xp?: number | null | undefined
    seenBy: string[]
    extra?: unknown
  }>()
  expectTypeOf<RowOf<typeof gems>>().toEqualTypeOf<{ slot: number; colour: string; facets?: unknown }>()
  expectTypeOf<RowOf<typeof shields>['document']>().toEqualTypeOf<unknown>()
  expectTypeOf<(typeof swords)['$inferSelect']['validUntil']>().toEqualTypeOf<Date>()
  expectTypeOf<(typeof swords)['$inferSelect']['smithId']>().toEqualTypeOf<string>()
})

test('SQL names are the snake_case of the property names', () => {
  const namesOf = (table: PgTable) => getTableConfig(table).columns.map((one) => one.name)
  expect(namesOf(swords)).toEqual([
    'smith_id',
    'ordinal',
    'display_name',
    'level2_xp',
    'seen_by',
    'valid_from',
    'valid_until',
    'previous_until',
    'hash',
    'extra',
  ])
  expect(namesOf(gems)).toEqual(['smith_id', 'ordinal', 'valid_from', 'slot', 'colour', 'facets'])
  expect(namesOf(shields)).toContain('document')
})

test('key columns are not null without saying so', () => {
  const required = getTableConfig(gems).columns.filter((one) => one.notNull)
  expect(required.map((one) => one.name)).toEqual(['smith_id', 'ordinal', 'valid_from', 'slot', 'colour'])
})
