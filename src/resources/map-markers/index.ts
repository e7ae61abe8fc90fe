import { recordsOf } from '../../api/schemas/form/bodies.ts'
import { markerSchema, parseMarker } from '../../api/schemas/places.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { defineResource, type Normalized } from '../../sync/resource.ts'
import { fieldOf, knownBy, oneAnswer } from '../record.ts'
import { mapMarkerHistory } from './tables.ts'

/** Markers of the web map: `GET /map/locations/markers` (API reference 3.6). They have no id: name and place are the key. */
export const mapMarkers = defineResource({
  name: 'map-markers',
  schedule: '52 * * * *',
  lane: 'refresh',
  cacheSeconds: 3600,
  route: '/map/locations/markers',
  rawCost: '40 kB a response',
  changeLog: false,
  history: mapMarkerHistory,
  extract: async (api, { signal, lane }) => {
    const answer = await api.map.markers({ signal, lane })
    return { records: recordsOf(answer.body, 'name'), ...oneAnswer(answer) }
  },
  keyOf: (record) => keyOf(fieldOf(record, 'name'), ...['x', 'y', 'z'].map((axis) => fieldOf(record, axis))),
  normalize: normalizeMarker,
  ...knownBy(markerSchema),
})

/** One marker. Its coordinates come as texts. */
export function normalizeMarker(record: unknown): Normalized<typeof mapMarkerHistory> {
  const parsed = parseMarker(record)
  const { name, icon } = parsed
  const [x, y, z] = [parsed.x, parsed.y, parsed.z].map((value) => Number(value ?? Number.NaN)) as [
    number,
    number,
    number,
  ]
  const root = { name: name ?? '', x, y, z, icon }
  return { key: keyOf(root.name, x, y, z) ?? '', document: { ...parsed, x, y, z } as Json, root, parts: {} }
}

function keyOf(...values: readonly unknown[]): string | undefined {
  return values.some((value) => value === undefined || value === null) ? undefined : values.join('/')
}
