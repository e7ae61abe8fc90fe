import { historyTable, partTable } from '../../db/history.ts'
import { contentColumns, contentKey, rewardColumns, rewardKey } from '../map-content.ts'

/** API reference 8. */
export const lootPool = historyTable(
  'loot_pool',
  'Versions of loot pools: the rewards of a camp or raid, which change every week.',
  contentKey(),
  contentColumns(),
  { document: true },
)

export const lootPoolReward = partTable(
  lootPool,
  'loot_pool_reward',
  'Rewards of a version of a loot pool.',
  rewardKey(),
  rewardColumns(),
)

export const lootPoolHistory = { root: lootPool, parts: { rewards: lootPoolReward } }
