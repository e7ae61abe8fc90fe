import { mapContent } from '../map-content.ts'
import { lootPoolHistory } from './tables.ts'

/** `GET /map/loot-pools`: the rewards of every camp and raid (API reference 8). */
export const lootPools = mapContent({
  name: 'loot-pools',
  schedule: '*/15 * * * *',
  cacheSeconds: 120,
  route: '/map/loot-pools',
  history: lootPoolHistory,
  records: 13,
  request: (api, call) => api.map.lootPools(call),
})
