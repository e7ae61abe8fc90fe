import { unknownFields } from '../../api/schemas/form/unknown.ts'
import { itemSchema, itemVocabulary as known } from '../../api/schemas/items.ts'
import { defineResource } from '../../sync/resource.ts'
import { textField } from '../record.ts'
import { normalizeItem } from './normalize.ts'
import { itemHistory } from './tables.ts'

/** Every item of the game: `GET /item/database`, cached for an hour (API reference 2.3, 3.3, 5.2). */
export const items = defineResource({
  name: 'items',
  schedule: '7 * * * *',
  lane: 'refresh',
  cacheSeconds: 3600,
  route: '/item/database',
  backfill: { keys: 6_600, rowsPerKey: 12 },
  changeLog: true,
  history: itemHistory,
  extract: (api, options) => api.items.all(options),
  keyOf: (record) => textField(record, 'internalName'),
  normalize: normalizeItem,
  unknownFields: unknownFields(itemSchema),
  vocabulary: {
    '/type': known.type,
    '/subType': known.subType,
    '/tier': known.tier,
    '/attackSpeed': known.attackSpeed,
    '/restriction': known.restriction,
    '/dropRestriction': known.dropRestriction,
    '/elements/*': known.elements,
    '/requirements/classRequirement': known.classRequirement,
    '/requirements/skills/*': known.skills,
    '/dropMeta/type': known.dropMetaType,
    '/dropMeta/type/*': known.dropMetaType,
    '/icon/format': known.iconFormat,
  },
})
