import * as z from 'zod'
import { isUuid } from '../../api/schemas/form/limits.ts'
import { fieldsOf } from '../../api/schemas/form/unknown.ts'
import { readOnlineList } from '../../api/schemas/people/players.ts'
import { redactedIn } from '../../api/schemas/people/redacted.ts'
import { defineResource } from '../../sync/declare/resource.ts'
import { inOnlineList } from '../personal.ts'
import { fieldOf, hasFields, knownBy, oneAnswer } from '../record.ts'
import { deriveListings } from './derive.ts'
import { onlineGrowth, onlinePassing } from './growth.ts'
import { keyOf, normalizeWorld, recordsOf } from './normalize.ts'
import { onlineSample, playerHop, playerListing, worldHistory, worldSample } from './tables.ts'

/**
 * Who is listed as online, and where: `GET /player?identifier=uuid`, cached for 30 seconds (API reference 2.3, 7.4).
 * Worlds are its records; players come and go as listings and hops, worked out in the database.
 */
export const onlinePlayers = defineResource({
  name: 'online-players',
  schedule: '* * * * *',
  lane: 'live',
  cacheSeconds: 30,
  route: '/player',
  rawDays: 3,
  rawCost: '15 kB a response of 660 players: 44 MB a day when polled every 30 seconds',
  // Of lists without a count: from one poll to the next little changes; but after an hour away a sixth of the worlds may be down.
  plausibleShare: 0.25,
  shrunkenHours: 1 / 6,
  // Answers that are further apart say nothing of the time between them: see analytics.online_watched.
  evidence: { spans: 90 },
  retained: onlineGrowth,
  expiring: onlinePassing,
  file: {
    isBody: (body) => {
      const players = fieldsOf(fieldOf(body, 'players'))
      return hasFields(body, 'total') && players.length > 0 && players.every(([key]) => isUuid(key))
    },
  },
  history: worldHistory,
  samples: { worlds: { table: worldSample, key: ['world'] } },
  extract: async (api, { signal, lane = 'live' }) => {
    const answer = await api.players.online({ identifier: 'uuid', signal, lane })
    return { ...oneAnswer(answer), ...recordsOf(readOnlineList(answer.body), redactedIn(answer.body)) }
  },
  keyOf,
  normalize: normalizeWorld,
  ...knownBy(z.unknown()),
  personal: inOnlineList,
  derive: deriveListings,
  afterRetraction: async (sql) => await (await import('./rebuild-listings.ts')).rebuildListings(sql),
  derived: [onlineSample, playerListing, playerHop],
})
