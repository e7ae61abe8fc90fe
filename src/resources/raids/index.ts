import { mapContent } from '../map-content.ts'
import { raidHistory } from './tables.ts'

/** `GET /map/raids`: raids, with place, requirements and rewards (API reference 8). */
export const raids = mapContent({
  name: 'raids',
  schedule: '9,39 * * * *',
  cacheSeconds: 60,
  route: '/map/raids',
  history: raidHistory,
  kind: 'RAID',
  records: 5,
  request: (api, call) => api.map.raids(call),
})
