import { mapContent } from '../map-content.ts'
import { campHistory } from './tables.ts'

/** `GET /map/camps`: camps, with place, requirements and rewards (API reference 8). */
export const camps = mapContent({
  name: 'camps',
  schedule: '12,42 * * * *',
  cacheSeconds: 60,
  route: '/map/camps',
  history: campHistory,
  kind: 'CAMP',
  records: 8,
  request: (api, call) => api.map.camps(call),
})
