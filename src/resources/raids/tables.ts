import { contentTable, placeColumns, requirementTable, rewardTable } from '../map-content.ts'

/** API reference 8. */
export const raid = contentTable('raid', 'Versions of raids: place, requirements and rewards.', placeColumns())
export const raidReward = rewardTable(raid, 'raid_reward', 'Rewards of a version of a raid.')
export const raidRequirement = requirementTable(
  raid,
  'raid_requirement',
  'What a version of a raid requires of players.',
)

export const raidHistory = { root: raid, parts: { rewards: raidReward, requirements: raidRequirement } }
