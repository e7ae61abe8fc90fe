import { integer, text } from '../../db/columns.ts'
import { historyTable } from '../../db/history.ts'

/** API reference 3.6: all that the API says of quests is how many there are. */
export const questCount = historyTable(
  'quest_count',
  'Versions of the number of quests. The API names none of them.',
  { counted: text('Natural key: what is counted, quests.') },
  { quests: integer('How many there are.').notNull() },
  { document: true },
)

export const questCountHistory = { root: questCount, parts: {} }
