import { parseSeason, type Season, seasonSchema } from '../../api/schemas/seasons.ts'
import { RecordError } from '../../app/errors.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { defineResource, type Normalized } from '../../sync/resource.ts'
import { fieldOf, knownBy, oneAnswer, textField } from '../record.ts'
import { seasonHistory } from './tables.ts'

/** Definitions of the guild seasons: `GET /guild/seasons`, an object by season number (API reference 6.4). */
export const seasons = defineResource({
  name: 'seasons',
  schedule: '32 * * * *',
  lane: 'refresh',
  cacheSeconds: 600,
  route: '/guild/seasons',
  rawCost: 'a few kB a response',
  changeLog: false,
  history: seasonHistory,
  extract: async (api, { signal, lane }) => {
    const answer = await api.guilds.seasons({ signal, lane })
    const records = Object.entries(answer.body).map(([season, record]) => ({ season, record }))
    return { records, ...oneAnswer(answer) }
  },
  keyOf: (record) => textField(record, 'season')?.replace(/^0+(?=\d)/, ''),
  bodyOf: (record) => fieldOf(record, 'record'),
  normalize: normalizeSeason,
  ...knownBy(seasonSchema),
})

export function normalizeSeason(numbered: unknown): Normalized<typeof seasonHistory> {
  const { season, record } = numbered as { readonly season: string; readonly record: unknown }
  if (!/^\d{1,6}$/.test(season)) throw new RecordError(`season ${season} is no number`, { context: { path: '' } })
  const parsed = parseSeason(record)
  return {
    key: season,
    document: parsed as Json,
    root: {
      season: Number(season),
      // The service has been seen with either spelling.
      startedAt: parsed.initDate ?? parsed.startDate,
      endsAt: parsed.endDate,
      territoryHoldingSrPerHour: parsed.territoryHoldingSrPerHour,
      srPerWar: parsed.srPerWar,
    },
    parts: {
      rewards: [...rewardRows('rating', parsed.ratingRewards), ...rewardRows('leaderboard', parsed.leaderboardRewards)],
    },
  }
}

function rewardRows(list: string, rewards: Season['ratingRewards']) {
  return (rewards ?? []).map(({ condition, type, value, expires }, position) => ({
    list,
    position,
    conditionType: condition?.type,
    conditionValue: condition?.value,
    rewardType: type,
    rewardValue: value === null || value === undefined ? null : String(value),
    expiresAt: expires,
  }))
}
