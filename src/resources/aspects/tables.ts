import { integer, text } from '../../db/columns.ts'
import { historyTable, partTable } from '../../db/history.ts'

/** API reference 8. */
export const aspect = historyTable(
  'aspect',
  'Versions of aspects: what changes an ability of a class.',
  { internalName: text('Natural key: eight hexadecimal digits. Names change.') },
  {
    name: text('Name as players see it.'),
    rarity: text('Rarity in lower case, such as mythic; in loot pools it is in upper case.'),
    requiredClass: text('The class that can use it, in lower case.'),
  },
  { document: true },
)

export const aspectTier = partTable(
  aspect,
  'aspect_tier',
  'Tiers of a version of an aspect.',
  { tier: integer('The tier, from 1.') },
  {
    threshold: integer('How many pieces a player needs for it.'),
    descriptionHtml: text('What it does, as the API sends it: HTML, its lines joined by line ends.'),
    description: text('The same as plain text.'),
  },
)

export const aspectHistory = { root: aspect, parts: { tiers: aspectTier } }
