import { sql } from 'drizzle-orm'
import { index, primaryKey } from 'drizzle-orm/pg-core'
import { bigint, boolean, instant, integer, text, textInstant, uuid } from '../../db/columns.ts'
import { historyTable, partTable, sampleTable } from '../../db/history.ts'
import { namesPeople } from '../../db/naming.ts'
import { gameTable } from '../../db/schemas.ts'

/** API reference 6.3. */
export const territory = historyTable(
  'territory',
  'Versions of territories: place, headquarters, treasury and defences. Who holds one is in territory_hold, what is stored in territory_resource.',
  { territory: text('Natural key: the exact name. A renamed territory is another one.') },
  {
    minX: integer('West end in blocks, sorted: the API gives the corners in any order.'),
    minZ: integer('North end in blocks.'),
    maxX: integer('East end in blocks.'),
    maxZ: integer('South end in blocks.'),
    isHq: boolean('True: the headquarters of the guild that holds it. NULL: the API did not send it.'),
    treasury: text(
      'Level of the treasury bonus, which grows with the time held: VERY_LOW to VERY_HIGH. NULL: the API did not send it, as before May 2026.',
    ),
    defences: text('Level of the defences: VERY_LOW to VERY_HIGH. NULL: the API did not send it.'),
  },
  // A territory has one more version whenever its treasury or defences change.
  { indexes: (self) => [index('territory_current').on(self.territory).where(sql`valid_until = 'infinity'`)] },
)

export const territoryLink = partTable(
  territory,
  'territory_link',
  'Trading routes of a version of a territory, sorted by name.',
  { position: integer('Place in the sorted list, from 0.') },
  { linksTo: text('Name of the territory that the route leads to; some do not exist.').notNull() },
)

export const territoryHold = historyTable(
  'territory_hold',
  'Who held a territory from when to when. A version without a guild: unclaimed, as far as responses show.',
  { territory: text('Exact name of the territory.') },
  {
    guildUuid: uuid('The guild that held it. NULL: none.'),
    guildName: text('Name of the guild when the hold was first seen.'),
    guildPrefix: text('Prefix of the guild when the hold was first seen.'),
    acquired: textInstant(
      'When the guild captured it, by the API, to the microsecond; the instant of the first response with this hold where that was before it by the clock of the game. NULL: the API did not send it, or no guild holds it.',
    ),
    observedAt: instant('observed_at of the first response with this hold.').notNull(),
  },
  {
    document: true,
    comments: {
      document: 'Guild and acquired, as the API sent it: what identifies the hold.',
      validFrom:
        'Start, inclusive: acquired, the capture by the clock of the game; observed_at of the first response where the API did not send it, or sent a time before the last known hold.',
      validUntil:
        'End, exclusive: the next capture; where the territory became unclaimed or left the map, observed_at of the first response without the hold. infinity: it is still held.',
    },
    indexes: (self) => [
      // With the end and the name, so that hours held and places are counted from the index alone.
      index('territory_hold_by_guild').on(self.guildUuid, self.validFrom, self.validUntil, self.guildName),
      // What began in a week, of many years: rows lie in the order in which they came. A few kilobytes.
      index('territory_hold_time').using('brin', self.validFrom).with({ pages_per_range: 32 }),
      index('territory_hold_current').on(self.territory).where(sql`valid_until = 'infinity'`),
      // One of each place: every place there ever was, however often it changed hands.
      index('territory_hold_first').on(self.territory).where(sql`previous_until is null`),
    ],
  },
)

export const territoryCapture = gameTable(
  'territory_capture',
  'Holds that began with a capture, beside what was there before: every capture that a response showed, also by the guild that already held the place. The first response about a territory shows its owner, not a capture.',
  {
    territory: text('Exact name of the territory.').notNull(),
    capturedAt: instant(
      'When it happened: acquired of the hold; valid_from of the hold where the API did not send it.',
    ).notNull(),
    heldFrom: instant('valid_from of the hold in territory_hold that began with it.').notNull(),
    observedAt: instant('observed_at of the first response that had it.').notNull(),
    fromGuildUuid: uuid('The guild of the hold before. NULL: unclaimed, as far as responses show.'),
    fromGuildName: text('Name of that guild when its hold was first seen.'),
    toGuildUuid: uuid('The guild that captured it.').notNull(),
    toGuildName: text('Name of that guild when the hold was first seen.'),
  },
  (self) => [
    // Two captures may have the same instant; two holds never begin at one.
    primaryKey({ name: 'territory_capture_pkey', columns: [self.territory, self.capturedAt, self.heldFrom] }),
    // With both sides, so that who takes from whom is counted from the index alone.
    index('territory_capture_time').on(self.capturedAt, self.toGuildUuid, self.fromGuildUuid),
    index('territory_capture_guild').on(self.toGuildUuid, self.capturedAt),
  ],
)

export const territoryResource = sampleTable(
  'territory_resource',
  'What a territory stored and produced of a resource, a row whenever one of the values changed.',
  {
    territory: text('Exact name of the territory.'),
    resource: text('EMERALD, ORE, WOOD, FISH, CROP, or what else the API sends.'),
  },
  {
    generation: bigint('Produced per hour, in emeralds or pieces. 0: not produced here.'),
    baseGeneration: bigint(
      'Produced per hour before bonuses; filled for every resource, also where nothing is produced. NULL: the API did not send it.',
    ),
    stored: bigint(
      'In the storage then; may exceed the limit. NULL, as all numbers: the territory listed the resource, and does not any more.',
    ),
    storageLimit: bigint('What the storage has room for.'),
  },
)

export const territoryHistory = { root: territory, parts: { links: territoryLink }, reopens: true }

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
