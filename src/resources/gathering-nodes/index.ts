import { recordsOf } from '../../api/schemas/form/bodies.ts'
import { gatheringNodeSchema, parseGatheringNode } from '../../api/schemas/places.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { defineResource, type Normalized } from '../../sync/resource.ts'
import { fieldOf, knownBy, oneAnswer } from '../record.ts'
import { gatheringNodeHistory } from './tables.ts'

/** Where something can be gathered: `GET /map/gathering-nodes`, about 17,000 (API reference 3.6, 11). */
export const gatheringNodes = defineResource({
  name: 'gathering-nodes',
  schedule: '57 * * * *',
  lane: 'refresh',
  cacheSeconds: 3600,
  route: '/map/gathering-nodes',
  rawDays: 30,
  rawCost: '150 kB a response',
  changeLog: false,
  history: gatheringNodeHistory,
  extract: async (api, { signal, lane }) => {
    const answer = await api.map.gatheringNodes({ signal, lane })
    return { records: recordsOf(answer.body, null), ...oneAnswer(answer) }
  },
  keyOf: (record) => {
    const values = ['x', 'y', 'z', 'resource'].map((field) => fieldOf(record, field))
    return values.some((value) => value === undefined || value === null) ? undefined : values.join('/')
  },
  normalize: normalizeGatheringNode,
  ...knownBy(gatheringNodeSchema),
})

export function normalizeGatheringNode(record: unknown): Normalized<typeof gatheringNodeHistory> {
  const parsed = parseGatheringNode(record)
  const { type: kind, level, angle } = parsed
  const [x, y, z] = [parsed.x, parsed.y, parsed.z].map((value) => value ?? Number.NaN) as [number, number, number]
  const resource = parsed.resource ?? ''
  return {
    key: [x, y, z, resource].join('/'),
    document: parsed as Json,
    root: { x, y, z, resource, kind, level, angle },
    parts: {},
  }
}
