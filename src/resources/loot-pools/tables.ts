import { contentTable, rewardTable } from '../map-content.ts'

/** API reference 8. */
export const lootPool = contentTable(
  'loot_pool',
  'Versions of loot pools: the rewards of a camp or raid, which change every week.',
  {},
)
export const lootPoolReward = rewardTable(lootPool, 'loot_pool_reward', 'Rewards of a version of a loot pool.')

export const lootPoolHistory = { root: lootPool, parts: { rewards: lootPoolReward } }
