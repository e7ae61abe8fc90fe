import type { RetainedTable } from '../../sync/resource.ts'
import { characterCounter, characterProfession, playerCounter, playerRanking, playerStatus } from './tables.ts'

/** A day is often enough for what is long ago. A quest is done once, so their table grows no more than there are quests. */
export const playerGrowth: readonly RetainedTable[] = [
  { table: playerStatus, key: ['playerUuid'], cell: 'day', last: ['online', 'last_join is not null'] },
  { table: playerCounter, key: ['playerUuid', 'counter'], cell: 'day' },
  { table: playerRanking, key: ['playerUuid', 'board'], cell: 'day' },
  { table: characterCounter, key: ['playerUuid', 'characterUuid', 'counter'], cell: 'day' },
  { table: characterProfession, key: ['playerUuid', 'characterUuid', 'profession'], cell: 'day' },
]
