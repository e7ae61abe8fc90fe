import { readOnlineList } from '../../api/wire/players.ts'
import { defineResource } from '../../sync/resource.ts'
import { textField } from '../record.ts'
import { deriveListings } from './derive.ts'
import { normalizeWorld, recordsOf } from './normalize.ts'
import { worldHistory, worldSample } from './tables.ts'

/**
 * Who is listed as online, and where: `GET /player?identifier=uuid`, cached for 30 seconds (API reference 2.3, 7.4).
 * Worlds are its records; players come and go as listings and hops, worked out in the database.
 */
export const onlinePlayers = defineResource({
  name: 'online-players',
  schedule: '* * * * *',
  lane: 'live',
  changeLog: false,
  history: worldHistory,
  samples: { worlds: { table: worldSample, key: ['world'] } },
  extract: async (api, { signal }) => {
    const { body, observedAt } = await api.players.online({ identifier: 'uuid', signal, lane: 'live' })
    return { ...recordsOf(readOnlineList(body)), complete: true, observedFrom: observedAt, observedAt, pages: 1 }
  },
  keyOf: (record) => textField(record, 'world'),
  normalize: normalizeWorld,
  unknownFields: () => [],
  vocabulary: {},
  derive: deriveListings,
})
