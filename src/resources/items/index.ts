import { itemSchema, itemVocabulary } from '../../api/schemas/items.ts'
import { defineResource } from '../../sync/declare/resource.ts'
import { fieldOf, hasFields, joinLists, knownBy, textField } from '../record.ts'
import { normalizeItem } from './normalize.ts'
import { inLaterForm } from './older-forms.ts'
import { itemHistory } from './tables.ts'

const kinds = new Set<unknown>(itemVocabulary.type)
const kindOf = (record: unknown) => fieldOf(inLaterForm(record), 'type')

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
      hasFields(record, 'internalName') && !hasFields(record, 'materials') && kinds.has(kindOf(record)),
    notSent: [
      {
        is: (record) => hasFields(record, 'internalName', 'requirements') && !hasFields(record, 'materials'),
        what: 'items of which nothing says what kind they are of',
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
    kinds: { of: kindOf, members: itemVocabulary.type },
    join: joinLists('displayName', 'internalName'),
  },
  changeLog: true,
  history: itemHistory,
  extract: (api, options) =>
    api.items.all(options).then((whole) => ({ ...whole, records: whole.records.map(inLaterForm) })),
  keyOf: (record) => textField(record, 'internalName'),
  normalize: normalizeItem,
  ...knownBy(itemSchema),
})
