import { bigint, integer, text } from 'drizzle-orm/pg-core'
import { textInstant } from '../../db/columns.ts'
import { historyTable, partTable } from '../../db/history.ts'

/** One version of a season's definition (API reference 6.4). */
export const season = historyTable(
  'season',
  { season: integer() },
  {
    startedAt: textInstant(),
    endsAt: textInstant(),
    /** Season rating for holding a territory, per hour. */
    territoryHoldingSrPerHour: bigint({ mode: 'number' }),
    /** Season rating for a war won. */
    srPerWar: bigint({ mode: 'number' }),
  },
)

/** What a season gives for a rating reached or a place on the leaderboard. */
export const seasonReward = partTable(
  season,
  'season_reward',
  { list: text(), position: integer() },
  {
    conditionType: text(),
    conditionValue: bigint({ mode: 'number' }),
    rewardType: text(),
    /** A number, or the name of what is given, as text. */
    rewardValue: text(),
    expiresAt: textInstant(),
  },
)

export const seasonHistory = { root: season, parts: { rewards: seasonReward } }
