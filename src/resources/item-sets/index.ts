import { itemSetSchema, parseItemSet } from '../../api/schemas/items.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { fieldOf, hasFields, joinMaps, knownBy, oneRequest, refuseOther, textField } from '../record.ts'
import { itemSetHistory } from './tables.ts'

/** Every item set: `GET /item/sets`, an object keyed by the set's name (API reference 3.3, 5.4). */
export const itemSets = defineResource({
  name: 'item-sets',
  schedule: '17 * * * *',
  cacheSeconds: 120,
  route: '/item/sets',
  rawCost: 'a few kB a response',
  file: { isRecord: (record) => hasFields(record, 'bonuses', 'parts'), records: 70, join: joinMaps },
  changeLog: true,
  history: itemSetHistory,
  extract: oneRequest({
    ask: (api, call) => api.items.sets(call),
    records: (body) => Object.entries(body).map(([name, set]) => ({ name, set })),
  }),
  keyOf: (record) => textField(record, 'name'),
  bodyOf: (record) => fieldOf(record, 'set'),
  normalize: normalizeItemSet,
  ...knownBy(itemSetSchema),
})

/** One set under its name. The order of its parts changes from answer to answer and means nothing. */
function normalizeItemSet(record: unknown): Normalized<typeof itemSetHistory> {
  const { name, set } = record as { readonly name: string; readonly set: unknown }
  refuseOther(set, itemSetSchema)
  const parsed = parseItemSet(set)
  const parts = parsed.parts && [...parsed.parts].sort()
  return {
    key: name,
    document: (parts ? { ...parsed, parts } : parsed) as Json,
    root: { name, internalName: parsed.internalName },
    parts: {
      parts: (parts ?? []).map((displayName, position) => ({ position, displayName })),
      bonuses: Object.entries(parsed.bonuses ?? {}).flatMap(([pieces, { minor }]) =>
        Object.entries(minor ?? {}).map(([identification, value]) => ({
          pieces: /^[1-9]\d*$/.test(pieces) ? Number(pieces) : Number.NaN,
          identification,
          value: value === '' ? Number.NaN : Number(value),
        })),
      ),
    },
  }
}
