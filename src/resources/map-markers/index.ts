import { recordsOf } from '../../api/schemas/form/bodies.ts'
import { markerSchema, parseMarker } from '../../api/schemas/places.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { placeOf, placeText } from '../place.ts'
import { fieldOf, hasFields, joinLists, knownBy, oneRequest } from '../record.ts'
import { mapMarkerHistory } from './tables.ts'

/** Markers of the web map: `GET /map/locations/markers` (API reference 3.6). They have no id: name and place are the key. */
export const mapMarkers = defineResource({
  name: 'map-markers',
  schedule: '52 * * * *',
  cacheSeconds: 3600,
  route: '/map/locations/markers',
  rawCost: '40 kB a response',
  file: {
    isRecord: (record) =>
      hasFields(record, 'name', 'icon', 'x', 'y', 'z') && !hasFields(record, 'uuid') && !hasFields(record, 'resource'),
    join: joinLists('name'),
  },
  history: mapMarkerHistory,
  extract: oneRequest({ ask: (api, call) => api.map.markers(call), records: (body) => recordsOf(body, 'name') }),
  keyOf: (record) => keyOf(fieldOf(record, 'name'), placeText(record)),
  normalize: normalizeMarker,
  ...knownBy(markerSchema),
})

/** One marker. Its coordinates come as texts. */
function normalizeMarker(record: unknown): Normalized<typeof mapMarkerHistory> {
  const parsed = parseMarker(record)
  const { name, icon } = parsed
  const place = placeOf(parsed)
  const root = { name: name ?? '', ...place, icon }
  return {
    key: keyOf(root.name, placeText(place)) ?? '',
    document: { ...parsed, ...place } as Json,
    root,
    parts: {},
  }
}

function keyOf(name: unknown, place: string | undefined): string | undefined {
  return name === undefined || typeof name === 'object' || place === undefined ? undefined : `${name}/${place}`
}
