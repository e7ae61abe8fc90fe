import { contentTable, placeColumns, requirementTable, rewardTable } from '../map-content.ts'

/** API reference 8. */
export const camp = contentTable('camp', 'Versions of camps: place, requirements and rewards.', placeColumns())
export const campReward = rewardTable(camp, 'camp_reward', 'Rewards of a version of a camp.')
export const campRequirement = requirementTable(
  camp,
  'camp_requirement',
  'What a version of a camp requires of players.',
)

export const campHistory = { root: camp, parts: { rewards: campReward, requirements: campRequirement } }
