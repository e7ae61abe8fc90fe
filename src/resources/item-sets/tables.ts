import { bigint, integer, text } from '../../db/columns.ts'
import { historyTable, partTable } from '../../db/history.ts'

/** API reference 5.4. */
export const itemSet = historyTable(
  'item_set',
  'Versions of item sets. One row per interval without a change; valid_until = infinity is the current version.',
  { name: text('Natural key: the name under which the API lists the set, such as Morph; what items refer to.') },
  {
    internalName: text(
      'Name that the set carries within its record: often the same in lower case. NULL: the API did not send it.',
    ),
  },
  { document: true, comments: { document: 'The whole record in the shape of the API, its parts sorted.' } },
)

export const itemSetPart = partTable(
  itemSet,
  'item_set_part',
  'Items that belong to a version of a set.',
  { position: integer('Place in alphabetical order, from 0; the API gives them in no fixed order.') },
  { displayName: text('The item, by display_name of game.item: the API does not send the internal name.').notNull() },
)

export const itemSetBonus = partTable(
  itemSet,
  'item_set_bonus',
  'What wearing several parts of a version of a set adds. Its major ids are in the document of game.item_set.',
  {
    pieces: integer('Number of parts worn, 1 to 8.'),
    identification: text('What is added, named as in game.item_identification.'),
  },
  { value: bigint('How much is added; may be negative.').notNull() },
)

export const itemSetHistory = { root: itemSet, parts: { parts: itemSetPart, bonuses: itemSetBonus } }
