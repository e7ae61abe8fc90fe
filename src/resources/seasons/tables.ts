import { bigint, integer, text, textInstant } from '../../db/columns.ts'
import { historyTable, partTable } from '../../db/history.ts'

/** API reference 6.4. */
export const season = historyTable(
  'season',
  'Versions of the definitions of guild seasons.',
  { season: integer('Natural key: the number.') },
  {
    startedAt: textInstant('Beginning; the API has named it initDate and startDate. NULL: it did not send it.'),
    endsAt: textInstant('End.'),
    territoryHoldingSrPerHour: bigint('Season rating for holding a territory for an hour.'),
    srPerWar: bigint('Season rating for a war won.'),
  },
)

export const seasonReward = partTable(
  season,
  'season_reward',
  'Rewards of a version of a season.',
  {
    list: text('rating (for a rating reached) or leaderboard (for a place).'),
    position: integer('Place in that list, from 0.'),
  },
  {
    conditionType: text('SR or LEADERBOARD_POSITION.'),
    conditionValue: bigint('The rating or place that earns it.'),
    rewardType: text(
      'BADGE, EFFECT, COSMETIC, EMERALD, PRIVATE_BANK_SLOT, PUBLIC_BANK_SLOT, GUILD_TOME, STRUCTURE, or what else the API sends.',
    ),
    rewardValue: text('How much, or the name of what is given, as text. NULL: none.'),
    expiresAt: textInstant('When it expires. NULL: never.'),
  },
)

export const seasonHistory = { root: season, parts: { rewards: seasonReward } }
