import { isFields } from '../../api/schemas/form/unknown.ts'
import { parseQuestCount, questCountSchema } from '../../api/schemas/places.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { knownBy, oneRequest } from '../record.ts'
import { questCountHistory } from './tables.ts'

/** How many quests there are: `GET /map/quests` (API reference 3.6). */
export const quests = defineResource({
  name: 'quests',
  schedule: '47 * * * *',
  cacheSeconds: 3600,
  route: '/map/quests',
  rawCost: 'a few bytes a response',
  file: {
    isBody: (body) => isFields(body) && Object.keys(body).length === 1 && typeof body.quests === 'number',
    records: 1,
  },
  changeLog: true,
  history: questCountHistory,
  extract: oneRequest({ ask: (api, call) => api.map.quests(call), records: (body) => [body] }),
  keyOf: () => 'quests',
  normalize: normalizeQuestCount,
  ...knownBy(questCountSchema),
})

function normalizeQuestCount(record: unknown): Normalized<typeof questCountHistory> {
  const parsed = parseQuestCount(record)
  return {
    key: 'quests',
    document: parsed as Json,
    root: { counted: 'quests', quests: parsed.quests ?? Number.NaN },
    parts: {},
  }
}
