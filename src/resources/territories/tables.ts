import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant, snakeCased, textInstant } from '../../db/columns.ts'
import { historyTable, partTable } from '../../db/history.ts'
import { namesPeople } from '../../db/naming.ts'
import { game } from '../../db/schemas.ts'

/** One version of a territory's place, seat and standing (API reference 6.3). Who holds it is in `territory_hold`. */
export const territory = historyTable(
  'territory',
  { territory: text() },
  {
    /** The corners, sorted: `min` is west and north of `max`. In blocks. */
    minX: integer(),
    minZ: integer(),
    maxX: integer(),
    maxZ: integer(),
    isHq: boolean(),
    treasury: text(),
    defences: text(),
  },
  // A place has a version more whenever its treasury or defences change.
  { indexes: (self) => [index('territory_current').on(self.territory).where(sql`valid_until = 'infinity'`)] },
)

/** Trading routes to other territories; some name a place that does not exist. */
export const territoryLink = partTable(
  territory,
  'territory_link',
  { position: integer() },
  { linksTo: text().notNull() },
)

/**
 * Who held a territory from when to when; versions without a guild are times when nobody did. A hold starts when the
 * territory was acquired (event time), or, where the API did not tell, when it was first seen.
 */
export const territoryHold = historyTable(
  'territory_hold',
  { territory: text() },
  {
    guildUuid: uuid(),
    guildName: text(),
    guildPrefix: text(),
    acquired: textInstant(),
    observedAt: instant().notNull(),
  },
  {
    document: true,
    indexes: (self) => [
      // With the end and the name, so that hours held and places are counted from the index alone.
      index('territory_hold_by_guild').on(self.guildUuid, self.validFrom, self.validUntil, self.guildName),
      index('territory_hold_current').on(self.territory).where(sql`valid_until = 'infinity'`),
      // One of each place: every place there ever was, however often it changed hands.
      index('territory_hold_first').on(self.territory).where(sql`previous_until is null`),
      // Seen before it was captured, by the clock of an answer: there should be none.
      index('territory_hold_foretold').on(self.territory).where(sql`acquired > valid_from`),
    ],
  },
)

/**
 * Holds that began with a capture, beside what was there before. What came before a hold never changes, so it is looked up
 * once, when the hold is written, and not for each of a year's captures whenever somebody asks.
 */
export const territoryCapture = game.table(
  'territory_capture',
  snakeCased({
    territory: text().notNull(),
    capturedAt: instant().notNull(),
    heldFrom: instant().notNull(),
    observedAt: instant().notNull(),
    fromGuildUuid: uuid(),
    fromGuildName: text(),
    toGuildUuid: uuid().notNull(),
    toGuildName: text(),
  }),
  (self) => [
    // Two captures may be told of the same instant; two holds never begin at one.
    primaryKey({ name: 'territory_capture_pkey', columns: [self.territory, self.capturedAt, self.heldFrom] }),
    // With both sides, so that who takes from whom is counted from the index alone.
    index('territory_capture_time').on(self.capturedAt, self.toGuildUuid, self.fromGuildUuid),
    index('territory_capture_guild').on(self.toGuildUuid, self.capturedAt),
  ],
)

/** A territory's resources whenever one of the values changed. Per hour; in emeralds or pieces. */
export const territoryResource = game.table(
  'territory_resource',
  snakeCased({
    territory: text().notNull(),
    resource: text().notNull(),
    observedAt: instant().notNull(),
    generation: bigint({ mode: 'number' }),
    baseGeneration: bigint({ mode: 'number' }),
    stored: bigint({ mode: 'number' }),
    storageLimit: bigint({ mode: 'number' }),
  }),
  (self) => [
    primaryKey({ name: 'territory_resource_pkey', columns: [self.territory, self.resource, self.observedAt] }),
    index('territory_resource_time').using('brin', self.observedAt),
  ],
)

export const territoryHistory = { root: territory, parts: { links: territoryLink } }

const ofGuild = 'of a guild or a place, not of a player'

/** Which columns can name a player: the map names guilds only. */
export const territoryNaming = [
  namesPeople(
    territoryHold,
    {},
    {
      [ofGuild]: ['territory', 'guildUuid', 'guildName', 'guildPrefix', 'document', 'extra'],
      'made by the program': ['hash'],
    },
  ),
  namesPeople(
    territoryCapture,
    {},
    { [ofGuild]: ['territory', 'fromGuildUuid', 'fromGuildName', 'toGuildUuid', 'toGuildName'] },
  ),
]
