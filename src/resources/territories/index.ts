import { isFields } from '../../api/schemas/form/unknown.ts'
import { territorySchema } from '../../api/schemas/territories.ts'
import { defineResource } from '../../sync/declare/resource.ts'
import { fieldOf, hasFields, joinMaps, knownBy, oneAnswer, textField } from '../record.ts'
import { deriveCaptures } from './derive.ts'
import { agreementOf, compareHolds, holdersOf, normalizeTerritory } from './normalize.ts'
import { territoryCapture, territoryHistory, territoryHold, territoryResource } from './tables.ts'

/** Every territory and who holds it: `GET /guild/list/territory`, cached for ten seconds (API reference 2.3, 6.3). */
export const territories = defineResource({
  name: 'territories',
  schedule: '* * * * *',
  lane: 'live',
  cacheSeconds: 10,
  route: '/guild/list/territory',
  file: {
    // The name of a guild alone, as version 1 of the API sent it, says not which guild.
    isRecord: (record) => hasFields(record, 'guild', 'acquired') && typeof fieldOf(record, 'guild') !== 'string',
    notSent: [
      {
        is: (record) => {
          const guild = fieldOf(record, 'guild')
          return hasFields(record, 'acquired') && isFields(guild) && textField(guild, 'uuid') === undefined
        },
        what: 'territories of which it is not known whose they were: their guilds have no uuids',
      },
      { is: (record) => hasFields(record, 'guild', 'acquired'), what: 'territories as version 1 of the API sent them' },
      {
        is: (record) =>
          [['Trading Routes'], ['tradingRoutes'], ['start', 'end', 'spawnLocation'], ['location', 'resources']].some(
            (fields) => hasFields(record, ...fields),
          ),
        what: 'places of territories, without who took each and when',
      },
    ],
    records: 400,
    join: joinMaps,
  },
  rawDays: 3,
  rawCost: '13 kB a response: 116 MB a day when polled every ten seconds, 19 MB every minute',
  history: territoryHistory,
  relatedHistories: {
    holds: {
      root: territoryHold,
      parts: {},
      absence: 'with-root',
      reopens: true,
      compare: compareHolds,
      agreement: agreementOf,
      empty: { guild: null },
      concerns: holdersOf,
      following: {
        table: territoryCapture,
        rebuild: async (sql) => await (await import('./rebuild-captures.ts')).rebuildCaptures(sql),
      },
    },
  },
  samples: { resources: { table: territoryResource, key: ['territory', 'resource'], listedBy: 'resource' } },
  extract: async (api, { signal, lane = 'live' }) => {
    const answer = await api.guilds.territories({ signal, lane })
    const records = Object.entries(answer.body).map(([territory, record]) => ({ territory, record }))
    return { records, ...oneAnswer(answer) }
  },
  required: ['guild', 'guild/uuid', 'acquired'],
  keyOf: (record) => textField(record, 'territory'),
  bodyOf: (record) => fieldOf(record, 'record'),
  normalize: normalizeTerritory,
  ...knownBy(territorySchema),
  derive: deriveCaptures,
  checks: async () => (await import('./rebuild-captures.ts')).captureChecks,
  derived: [territoryCapture],
  retained: [
    // Stored amounts change every minute; of long ago the end of each hour is enough.
    { table: territoryResource, key: ['territory', 'resource'], cell: 'hour' },
  ],
})
