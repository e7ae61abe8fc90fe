import { recordsOf } from '../../api/schemas/form/bodies.ts'
import { isInstant } from '../../api/schemas/form/limits.ts'
import { parseWorldEvent, worldEventSchema } from '../../api/schemas/places.ts'
import { defineResource, type Normalized } from '../../sync/declare/resource.ts'
import type { Json } from '../../sync/normalize/hash.ts'
import { requirementRows } from '../map-content.ts'
import { hasFields, joinLists, knownBy, oneRequest, textField } from '../record.ts'
import { deriveOccurrences, notScheduled } from './derive.ts'
import { worldEventHistory, worldEventOccurrence } from './tables.ts'

/** World events and when they happen: `GET /map/world-events` (API reference 8). */
export const worldEvents = defineResource({
  name: 'world-events',
  schedule: '*/5 * * * *',
  cacheSeconds: 120,
  route: '/map/world-events',
  file: {
    isRecord: (record) =>
      hasFields(record, 'internalName') &&
      (hasFields(record, 'schedule') || hasFields(record, 'rewardPerLevel')) &&
      !hasFields(record, 'rewards'),
    records: 70,
    join: joinLists('name', 'internalName'),
  },
  rawDays: 3,
  rawCost: '15 kB a response: 4 MB a day',
  history: worldEventHistory,
  extract: oneRequest({ ask: (api, call) => api.map.worldEvents(call), records: (body) => recordsOf(body, 'name') }),
  keyOf: (record) => textField(record, 'internalName'),
  normalize: normalizeWorldEvent,
  ...knownBy(worldEventSchema),
  derive: deriveOccurrences,
  derived: [worldEventOccurrence],
})

/** One event; its schedule is a fact of the response. */
function normalizeWorldEvent(record: unknown): Normalized<typeof worldEventHistory> {
  const { schedule, ...parsed } = parseWorldEvent(record)
  const { internalName, name, lore, difficulty, level, length, location, requirements } = parsed
  return {
    key: internalName,
    document: parsed as Json,
    root: { internalName, name, lore, difficulty, level, length },
    parts: {
      locations: (location ?? []).map(({ event, spawn, radius, spawnRadius }, position) => ({
        position,
        x: event?.x,
        y: event?.y,
        z: event?.z,
        radius,
        spawnX: spawn?.x,
        spawnY: spawn?.y,
        spawnZ: spawn?.z,
        spawnRadius,
      })),
      requirements: requirementRows(requirements),
    },
    // Of an event without the field nothing is known; what no calendar has would fail the statement that all others are in.
    ...(schedule === null ? { facts: notScheduled } : isInstant(schedule) ? { facts: schedule as string } : {}),
  }
}
