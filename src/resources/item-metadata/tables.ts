import { integer, text } from '../../db/columns.ts'
import { historyTable } from '../../db/history.ts'

/** API reference 5.5. */
export const enumeration = historyTable(
  'enumeration',
  'Versions of the members of the enumerations that the API describes items with. One row per interval without a change; valid_until = infinity is the current version.',
  { path: text('Natural key: list and member, such as filters/tier/weapon/mythic.') },
  {
    list: text('The list it is a member of, such as filters/tier/weapon or static/identifications.').notNull(),
    member: text('The member itself, such as mythic; min or max in filters/levelRange.').notNull(),
    number: integer(
      'The number that the game encodes it with, in the lists under static; the bound itself in filters/levelRange. NULL in all other lists.',
    ),
  },
  { document: true },
)

export const enumerationHistory = { root: enumeration, parts: {} }
