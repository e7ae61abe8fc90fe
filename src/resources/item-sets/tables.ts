import { bigint, integer, text } from 'drizzle-orm/pg-core'
import { historyTable, partTable } from '../../db/history.ts'

/** One version of an item set (API reference 5.4); `name` is what an item's `sets` refers to. */
export const itemSet = historyTable('item_set', { name: text() }, { internalName: text() }, { document: true })

/** Display names of the items that belong to a set. */
export const itemSetPart = partTable(
  itemSet,
  'item_set_part',
  { position: integer() },
  { displayName: text().notNull() },
)

/** What wearing that many parts of a set adds. */
export const itemSetBonus = partTable(
  itemSet,
  'item_set_bonus',
  { pieces: integer(), identification: text() },
  { value: bigint({ mode: 'number' }).notNull() },
)

export const itemSetHistory = { root: itemSet, parts: { parts: itemSetPart, bonuses: itemSetBonus } }
