import type { GrowingTable } from '../sync/resource.ts'
import { guildGrowth } from './guilds/growth.ts'
import { onlineGrowth } from './online-players/growth.ts'
import { playerGrowth } from './players/growth.ts'
import { territoryGrowth } from './territories/growth.ts'

/** Every table that is partitioned by month. The others of samples grow with what there is, not with time. */
export const growingTables: readonly GrowingTable[] = [
  ...territoryGrowth,
  ...onlineGrowth,
  ...guildGrowth,
  ...playerGrowth,
]
