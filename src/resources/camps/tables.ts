import { historyTable, partTable } from '../../db/history.ts'
import {
  contentColumns,
  contentKey,
  placeColumns,
  requirementColumns,
  requirementKey,
  rewardColumns,
  rewardKey,
} from '../map-content.ts'

/** API reference 8. */
export const camp = historyTable(
  'camp',
  'Versions of camps: place, requirements and rewards.',
  contentKey(),
  { ...contentColumns(), ...placeColumns() },
  { document: true },
)

export const campReward = partTable(
  camp,
  'camp_reward',
  'Rewards of a version of a camp.',
  rewardKey(),
  rewardColumns(),
)

export const campRequirement = partTable(
  camp,
  'camp_requirement',
  'What a version of a camp requires of players.',
  requirementKey(),
  requirementColumns(),
)

export const campHistory = { root: camp, parts: { rewards: campReward, requirements: campRequirement } }
