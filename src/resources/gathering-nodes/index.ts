import { recordsOf } from '../../api/schemas/form/bodies.ts'
import { gatheringNodeSchema, parseGatheringNode } from '../../api/schemas/places.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { placeOf, placeText } from '../place.ts'
import { fieldOf, hasFields, joinLists, knownBy, oneRequest } from '../record.ts'
import { gatheringNodeHistory } from './tables.ts'

/** Where something can be gathered: `GET /map/gathering-nodes`, about 17,000 (API reference 3.6, 11). */
export const gatheringNodes = defineResource({
  name: 'gathering-nodes',
  schedule: '57 * * * *',
  cacheSeconds: 3600,
  route: '/map/gathering-nodes',
  rawDays: 30,
  rawCost: '150 kB a response',
  file: {
    isRecord: (record) => hasFields(record, 'resource', 'level', 'x', 'y', 'z') && !hasFields(record, 'icon'),
    records: 16_800,
    join: joinLists(null),
  },
  history: gatheringNodeHistory,
  extract: oneRequest({ ask: (api, call) => api.map.gatheringNodes(call), records: (body) => recordsOf(body, null) }),
  keyOf: (record) => keyOf(placeText(record), fieldOf(record, 'resource')),
  normalize: normalizeGatheringNode,
  ...knownBy(gatheringNodeSchema),
})

function normalizeGatheringNode(record: unknown): Normalized<typeof gatheringNodeHistory> {
  const parsed = parseGatheringNode(record)
  const { type: kind, level, angle } = parsed
  const place = placeOf(parsed)
  const resource = parsed.resource ?? ''
  return {
    key: keyOf(placeText(place), resource) ?? '',
    document: { ...parsed, ...place } as Json,
    root: { ...place, resource, kind, level, angle },
    parts: {},
  }
}

function keyOf(place: string | undefined, resource: unknown): string | undefined {
  return resource === undefined || typeof resource === 'object' || place === undefined
    ? undefined
    : `${place}/${resource}`
}
