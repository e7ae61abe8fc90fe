import { itemSchema, itemVocabulary } from '../../api/schemas/items.ts'
import { defineResource } from '../../sync/declare/resource.ts'
import { fieldOf, hasFields, joinLists, knownBy, textField } from '../record.ts'
import { normalizeItem } from './normalize.ts'
import { itemHistory } from './tables.ts'

/** Every item of the game: `GET /item/database`, cached for an hour (API reference 2.3, 3.3, 5.2). */
export const items = defineResource({
  name: 'items',
  schedule: '7 * * * *',
  cacheSeconds: 3600,
  route: '/item/database',
  rawCost: '0.55 MB for a new state of all items, 0.6 kB for an unchanged response',
  backfill: { keys: 6_600, rowsPerKey: 12 },
  file: {
    isRecord: (record) =>
      hasFields(record, 'internalName') &&
      !hasFields(record, 'materials') &&
      itemVocabulary.type.some((type) => type === fieldOf(record, 'type')),
    notSent: [
      {
        is: (record) => hasFields(record, 'internalName', 'requirements', 'type') && !hasFields(record, 'materials'),
        what: 'items with types that the API has not sent since August 2024',
      },
      {
        is: (record) =>
          ['lvl', 'category', 'dropType'].some((field) => hasFields(record, 'name', 'type', 'tier', field)),
        what: 'items as a build planner has them, or an earlier version of the API',
      },
      {
        is: (record) => ['lvl', 'level'].some((level) => hasFields(record, 'name', 'tier', 'skills', level)),
        what: 'ingredients as a build planner has them, or version 2 of the API',
      },
    ],
    kinds: { field: 'type', members: itemVocabulary.type },
    join: joinLists('displayName', 'internalName'),
  },
  changeLog: true,
  history: itemHistory,
  extract: (api, options) => api.items.all(options),
  keyOf: (record) => textField(record, 'internalName'),
  normalize: normalizeItem,
  ...knownBy(itemSchema),
})
