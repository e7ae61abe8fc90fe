import type { ExpiringTable, RetainedTable } from '../sync/resource.ts'
import { guildGrowth } from './guilds/growth.ts'
import { onlineGrowth, onlinePassing } from './online-players/growth.ts'
import { playerGrowth } from './players/growth.ts'
import { territoryGrowth } from './territories/growth.ts'

/** Every table that is partitioned by month. The others of samples grow with what there is, not with time. */
export const growingTables: readonly RetainedTable[] = [
  ...territoryGrowth,
  ...onlineGrowth,
  ...guildGrowth,
  ...playerGrowth,
]

/** Every table of events that people cause day by day, and of which nothing coarser is known. */
export const passingTables: readonly ExpiringTable[] = onlinePassing
