import { sql } from 'drizzle-orm'
import { doublePrecision, index, integer, primaryKey, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant, snakeCased } from '../../db/columns.ts'
import { historyTable } from '../../db/history.ts'
import { game } from '../../db/schemas.ts'

/** From when to when a world had listed players (API reference 7.4). A world with nobody listed is not to be seen. */
export const world = historyTable('world', { world: text() }, {})

/** How many players were listed on a world, whenever that changed; 0 when it stood in no line of an answer. */
export const worldSample = game.table(
  'world_sample',
  snakeCased({ world: text().notNull(), observedAt: instant().notNull(), online: integer().notNull() }),
  (self) => [
    primaryKey({ name: 'world_sample_pkey', columns: [self.world, self.observedAt] }),
    index('world_sample_time').using('brin', self.observedAt),
  ],
)

/** The same as averages: what stays of older samples. */
export const worldHour = game.table(
  'world_hour',
  snakeCased({
    world: text().notNull(),
    hour: instant().notNull(),
    /** Over the time of the hour that the world was up and somebody looked. */
    onlineAvg: doublePrecision().notNull(),
    onlineMax: integer().notNull(),
  }),
  (self) => [primaryKey({ name: 'world_hour_pkey', columns: [self.hour, self.world] })],
)

/** How many players were online, listed and hidden, whenever one of the numbers changed. */
export const onlineSample = game.table(
  'online_sample',
  snakeCased({
    observedAt: instant().notNull(),
    /** By the service's own count. NULL: it did not say. */
    total: integer(),
    listed: integer().notNull(),
    /** Total less listed. NULL: not known, also where the service counted fewer than it listed. */
    hidden: integer(),
  }),
  (self) => [
    primaryKey({ name: 'online_sample_pkey', columns: [self.observedAt] }),
    index('online_sample_nobody_hidden').on(self.observedAt).where(sql`hidden = 0`),
  ],
)

/** The same as averages: what stays of older samples. */
export const onlineHour = game.table(
  'online_hour',
  snakeCased({
    hour: instant().primaryKey(),
    /** Over the seconds of the hour in which somebody looked and the service gave a number. NULL: there were none. */
    totalAvg: doublePrecision(),
    totalMax: integer(),
    totalSeconds: doublePrecision().notNull(),
    hiddenAvg: doublePrecision(),
    hiddenSeconds: doublePrecision().notNull(),
  }),
)

/**
 * A time during which every answer listed a player. Facts only: what they say about logins and logouts, together with
 * what profiles and guilds say, is worked out by the view `analytics.player_session`.
 */
export const playerListing = game.table(
  'player_listing',
  snakeCased({
    playerUuid: uuid().notNull(),
    /** The first answer that listed the player. */
    firstListedAt: instant().notNull(),
    /** The answer before it, which did not. NULL: there was none. */
    lastUnlistedAt: instant(),
    /** The last answer that listed the player. NULL: the latest one does. */
    lastListedAt: instant(),
    /** The answer after it, which did not. NULL: the latest one lists the player. */
    firstUnlistedAt: instant(),
    /** After when the login was, as far as this list alone tells: set when nobody was hidden in the answer before. */
    loginEarliest: instant(),
    /** By when the logout was, as far as this list alone tells: set when nobody was hidden in the answer after. */
    logoutLatest: instant(),
    /** Where the player was listed first, and last. NULL: the answer did not say. */
    world: text(),
    lastWorld: text(),
  }),
  (self) => [
    primaryKey({ name: 'player_listing_pkey', columns: [self.playerUuid, self.firstListedAt] }),
    uniqueIndex('player_listing_open').on(self.playerUuid).where(sql`last_listed_at is null`),
    index('player_listing_begun').on(self.firstListedAt),
    index('player_listing_left').on(self.lastListedAt),
  ],
)

/** A player was listed on another world than in the answer before. */
export const playerHop = game.table(
  'player_hop',
  snakeCased({
    playerUuid: uuid().notNull(),
    fromWorld: text().notNull(),
    toWorld: text().notNull(),
    /** The last answer that had the player on the former world. */
    earliest: instant().notNull(),
    /** The first answer that had the player on the other one. */
    latest: instant().notNull(),
  }),
  (self) => [
    primaryKey({ name: 'player_hop_pkey', columns: [self.playerUuid, self.latest] }),
    index('player_hop_time').using('brin', self.latest),
  ],
)

export const worldHistory = { root: world, parts: {} }
