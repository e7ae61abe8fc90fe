import { integer, text } from 'drizzle-orm/pg-core'
import { historyTable } from '../../db/history.ts'

/** One member of one of the enumerations that the item database is described with (API reference 5.5). */
export const enumeration = historyTable(
  'enumeration',
  { path: text() },
  {
    /** The list it is a member of, such as `filters/tier/weapon` or `static/identifications`. */
    list: text().notNull(),
    member: text().notNull(),
    /** The game's own number for it in `static` lists; the bound itself in `filters/levelRange`. */
    number: integer(),
  },
  { document: true },
)

export const enumerationHistory = { root: enumeration, parts: {} }
