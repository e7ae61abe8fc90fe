import * as z from 'zod'
import { BadRequest, NotFound } from '../../api/errors.ts'
import { known } from '../../api/schemas/form/field-meta.ts'
import { leaderboardEntrySchema } from '../../api/schemas/leaderboards.ts'
import { RetryableError } from '../../base/errors.ts'
import { defineWorklist } from '../../sync/declare/resource.ts'
import { onBoards } from '../personal.ts'
import { fieldOf, hasFields, knownBy, oneAnswer, textField } from '../record.ts'
import { emptyPlaces, usualPlaces } from './derive.ts'
import { findBoards, lookUpBoards } from './keys.ts'
import { normalizeBoard } from './normalize.ts'
import { leaderboardHistory, leaderboardPlace } from './tables.ts'

const knownFields = known(Object.keys(leaderboardEntrySchema.shape))
const documentSchema = z.looseObject({ type: z.string(), kind: z.string(), fields: z.array(knownFields).nullish() })

/** A wrong list must not become thousands of requests; there were about 80 so far. */
const mostBoards = 500

/**
 * Leaderboards, one answer per board: `GET /leaderboards/types`, `GET /leaderboards/{type}`, cached for ten minutes (API
 * reference 2.3, 3.6).
 */
export const leaderboards = defineWorklist({
  name: 'leaderboards',
  // In a guest's minute 50 boards: of the hour less than a fiftieth of the bucket.
  schedule: '51 * * * *',
  cacheSeconds: 600,
  route: '/leaderboards/{type}',
  file: {
    isRecord: (entry, key) =>
      /^\d+$/.test(key) &&
      hasFields(entry, 'uuid') &&
      ['score', 'metaScore', 'level', 'xp'].some((one) => hasFields(entry, one)),
  },
  rawDays: 3,
  rawCost: '30 kB a response: 58 MB a day of 80 boards',
  listLimit: { parameter: 'resultLimit', usual: usualPlaces },
  keyFlag: 'board',
  keySource: 'leaderboards',
  history: leaderboardHistory,
  samples: { places: { table: leaderboardPlace, key: ['type', 'place'], isContent: true } },
  retained: [{ table: leaderboardPlace, key: ['type', 'place'], cell: 'day' }],
  derive: emptyPlaces,
  listKeys: async (api, { signal, lane }) => {
    const { body } = await api.leaderboards.types({ signal, lane })
    const names = (Array.isArray(body) ? body : Object.values(body)).filter(isName)
    if (names.length > mostBoards) throw new RetryableError(`${names.length} leaderboards are listed; about 80 so far`)
    return names
  },
  plan: async () => undefined,
  find: findBoards,
  lookUp: lookUpBoards,
  holders: async () => [],
  similar: async () => [],
  extractOne: async (api, type, { signal, lane }) => {
    try {
      const answer = await api.leaderboards.get(type, { signal, lane })
      return { records: [{ type, body: answer.body }], ...oneAnswer(answer) }
    } catch (error) {
      // The service calls a board that it does not have a bad request.
      if (!(error instanceof BadRequest)) throw error
      throw new NotFound({ ...error, objects: {}, respondedAt: error.respondedAt ?? undefined })
    }
  },
  keyOf: (record) => textField(record, 'type'),
  bodyOf: (record) => fieldOf(record, 'body'),
  normalize: normalizeBoard,
  ...knownBy(documentSchema),
  personal: onBoards,
})

/** What can stand in a path, and tells one board from another. */
function isName(name: unknown): name is string {
  return typeof name === 'string' && /^[\w-]{1,100}$/.test(name)
}
