import { parseSeason, type Season, seasonSchema } from '../../api/schemas/seasons.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { fieldOf, hasFields, joinMaps, knownBy, oneRequest, recordError, refuseOther, textField } from '../record.ts'
import { seasonHistory } from './tables.ts'

/** Definitions of the guild seasons: `GET /guild/seasons`, an object by season number (API reference 6.4). */
export const seasons = defineResource({
  name: 'seasons',
  schedule: '32 * * * *',
  cacheSeconds: 600,
  route: '/guild/seasons',
  rawCost: 'a few kB a response',
  file: {
    isRecord: (record, key) =>
      /^\d+$/.test(key) &&
      hasFields(record, 'endDate') &&
      (hasFields(record, 'initDate') || hasFields(record, 'startDate')),
    join: joinMaps,
  },
  history: seasonHistory,
  extract: oneRequest({
    ask: (api, call) => api.guilds.seasons(call),
    records: (body) => Object.entries(body).map(([season, record]) => ({ season, record })),
  }),
  keyOf: (record) => textField(record, 'season')?.replace(/^0+(?=\d)/, ''),
  bodyOf: (record) => fieldOf(record, 'record'),
  normalize: normalizeSeason,
  ...knownBy(seasonSchema),
})

function normalizeSeason(numbered: unknown): Normalized<typeof seasonHistory> {
  const { season, record } = numbered as { readonly season: string; readonly record: unknown }
  if (!/^\d{1,6}$/.test(season)) throw recordError('', `season ${season} is no number`)
  refuseOther(record, seasonSchema)
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
