import { index, primaryKey } from 'drizzle-orm/pg-core'
import { doublePrecision, instant, integer, text } from '../../db/columns.ts'
import { historyTable, partTable } from '../../db/history.ts'
import { gameTable } from '../../db/schemas.ts'
import { requirementTable } from '../map-content.ts'

/** API reference 8. */
export const worldEvent = historyTable(
  'world_event',
  'Versions of world events. When one happens is in world_event_occurrence: it is no version of the event.',
  { internalName: text('Natural key: eight hexadecimal digits.') },
  {
    name: text('Name as players see it.'),
    lore: text('Text that describes it.'),
    difficulty: text('EASY, MEDIUM or HARD. NULL: the API did not send it.'),
    level: integer('The combat level that it is meant for.'),
    length: text('SHORT, MEDIUM or LONG.'),
  },
  { document: true, comments: { document: 'The whole record in the shape of the API, without its schedule.' } },
)

export const worldEventLocation = partTable(
  worldEvent,
  'world_event_location',
  'Places of a version of a world event; coordinates in blocks.',
  { position: integer('Place in the list of the API, from 0.') },
  {
    x: doublePrecision('Where it happens, east of the centre of the map.'),
    y: doublePrecision('The same, height.'),
    z: doublePrecision('The same, south of the centre.'),
    radius: doublePrecision('How far around.'),
    spawnX: doublePrecision('Where its enemies appear, east of the centre.'),
    spawnY: doublePrecision('The same, height.'),
    spawnZ: doublePrecision('The same, south of the centre.'),
    spawnRadius: doublePrecision('How far around.'),
  },
)

export const worldEventRequirement = requirementTable(
  worldEvent,
  'world_event_requirement',
  'What a version of a world event requires of players.',
)

export const worldEventOccurrence = gameTable(
  'world_event_occurrence',
  'When world events happen, by their schedules. The API sends only the next one, of a few events.',
  {
    internalName: text('The event in world_event.').notNull(),
    startsAt: instant('When it begins.').notNull(),
    announcedAt: instant('observed_at of the first response that had it.').notNull(),
  },
  (self) => [
    primaryKey({ name: 'world_event_occurrence_pkey', columns: [self.internalName, self.startsAt] }),
    index('world_event_occurrence_time').on(self.startsAt),
  ],
)

export const worldEventHistory = {
  root: worldEvent,
  parts: { locations: worldEventLocation, requirements: worldEventRequirement },
}
