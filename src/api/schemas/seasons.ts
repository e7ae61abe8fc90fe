import * as z from 'zod'
import { known, number, text } from './form/field-meta.ts'
import { recordParser } from './form/record.ts'

/** The names the service has used so far (API reference 6.4); others are still accepted. */
export const seasonVocabulary = {
  conditionType: ['SR', 'LEADERBOARD_POSITION'],
  rewardType: [
    'BADGE',
    'EFFECT',
    'COSMETIC',
    'EMERALD',
    'PRIVATE_BANK_SLOT',
    'PUBLIC_BANK_SLOT',
    'GUILD_TOME',
    'STRUCTURE',
  ],
} as const

const rewards = z
  .array(
    z.looseObject({
      condition: z.looseObject({ type: known(seasonVocabulary.conditionType).nullish(), value: number }).nullish(),
      type: known(seasonVocabulary.rewardType).nullish(),
      /** An amount, or the name of what is given. */
      value: z.union([z.number(), z.string()]).nullish(),
      expires: text,
    }),
  )
  .nullish()

/** One guild season, as the value in the answer of `/guild/seasons`: its number is the key there. */
export const seasonSchema = z.looseObject({
  territoryHoldingSrPerHour: number,
  srPerWar: number,
  ratingRewards: rewards,
  leaderboardRewards: rewards,
  /** The beginning, under the name of the documentation. */
  initDate: text,
  /** The beginning, under the name that clients read from the service. */
  startDate: text,
  endDate: text,
})

export type Season = z.output<typeof seasonSchema>

/** @throws RecordError with the JSON pointer of the first thing that is no season */
export const parseSeason: (record: unknown) => Season = recordParser('season', seasonSchema)
