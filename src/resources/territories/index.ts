import { territoryVocabulary as known, territorySchema } from '../../api/wire/territories.ts'
import { unknownFields } from '../../api/wire/unknown.ts'
import { defineResource } from '../../sync/resource.ts'
import { textField } from '../record.ts'
import { normalizeTerritory, supersedesHold } from './normalize.ts'
import { territoryHistory, territoryHold, territoryResource } from './tables.ts'

/** Every territory and who holds it: `GET /guild/list/territory`, cached for ten seconds (API reference 2.3, 6.3). */
export const territories = defineResource({
  name: 'territories',
  schedule: '* * * * *',
  lane: 'live',
  changeLog: false,
  history: territoryHistory,
  others: { holds: { root: territoryHold, parts: {}, absence: 'with-root', supersedes: supersedesHold } },
  samples: { resources: { table: territoryResource, key: ['territory', 'resource'] } },
  extract: async (api, { signal }) => {
    const { body, observedAt } = await api.guilds.territories({ signal, lane: 'live' })
    const records = Object.entries(body).map(([territory, record]) => ({ territory, record }))
    return { records, complete: true, observedFrom: observedAt, observedAt, pages: 1 }
  },
  keyOf: (record) => textField(record, 'territory'),
  normalize: normalizeTerritory,
  unknownFields: unknownFields(territorySchema),
  vocabulary: { '/treasury': known.level, '/defences': known.level },
})
