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
export const raid = historyTable(
  'raid',
  'Versions of raids: place, requirements and rewards.',
  contentKey(),
  { ...contentColumns(), ...placeColumns() },
  { document: true },
)

export const raidReward = partTable(
  raid,
  'raid_reward',
  'Rewards of a version of a raid.',
  rewardKey(),
  rewardColumns(),
)

export const raidRequirement = partTable(
  raid,
  'raid_requirement',
  'What a version of a raid requires of players.',
  requirementKey(),
  requirementColumns(),
)

export const raidHistory = { root: raid, parts: { rewards: raidReward, requirements: raidRequirement } }
