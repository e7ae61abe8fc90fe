import { sql } from 'drizzle-orm'
import { index, primaryKey, uniqueIndex } from 'drizzle-orm/pg-core'
import { doublePrecision, instant, integer, sampledAt, text, uuid } from '../../db/columns.ts'
import { historyTable, sampleTable } from '../../db/history.ts'
import { gameTable } from '../../db/schemas.ts'

/** API reference 7.4. */
export const world = historyTable(
  'world',
  'Versions of worlds: from the first of two responses that list a player there to the first in a row that lists none. A world without listed players looks like one that is down.',
  { world: text('Natural key: name of the world, such as EU1.') },
  {},
  { comments: { hash: 'Content hash; the same for all worlds, because only their presence counts.' } },
)

export const worldSample = sampleTable(
  'world_sample',
  'How many players were listed on a world, whenever that changed.',
  { world: text('Name of the world.') },
  {
    online: integer(
      "Players listed there. Those who hide are on no world's list. 0: absent from the response while its tombstone was not yet confirmed. Where players are listed without a world, a number that they may make up for is not lowered.",
    ).notNull(),
  },
)

export const worldHour = gameTable(
  'world_hour',
  'How many players were listed on a world in an hour: what compaction keeps of the rows of game.world_sample past their retention.',
  {
    world: text('Name of the world.').notNull(),
    hour: instant('The full hour (UTC).').notNull(),
    onlineAvg: doublePrecision('Players listed there, on average over the observed time that it was up.').notNull(),
    onlineMax: integer('The most at once.').notNull(),
  },
  (self) => [primaryKey({ name: 'world_hour_pkey', columns: [self.hour, self.world] })],
)

export const onlineSample = gameTable(
  'online_sample',
  'How many players were online, whenever one of the numbers changed.',
  {
    observedAt: sampledAt(),
    total: integer(
      "Players online by the service's own count, hidden ones included. NULL: it was not sent, or it is far from the number of listed players and too few responses said the same.",
    ),
    listed: integer('Players in the list.').notNull(),
    hidden: integer(
      'Total less listed. NULL: unknown, as where keys of the list are no uuids, or the service counted fewer than it listed.',
    ),
  },
  (self) => [
    primaryKey({ name: 'online_sample_pkey', columns: [self.observedAt] }),
    index('online_sample_nobody_hidden').on(self.observedAt).where(sql`hidden = 0`),
  ],
)

export const onlineHour = gameTable(
  'online_hour',
  'How many players were online in an hour: what compaction keeps of the rows of game.online_sample past their retention.',
  {
    hour: instant('The full hour (UTC).').primaryKey(),
    totalAvg: doublePrecision('Players online, hidden ones included, on average over total_seconds. NULL: not known.'),
    totalMax: integer('The most at once. NULL: not known.'),
    totalSeconds: doublePrecision('Seconds of the hour for which the total is known.').notNull(),
    hiddenAvg: doublePrecision('Players who hid, on average over hidden_seconds. NULL: not known.'),
    hiddenSeconds: doublePrecision('Seconds of the hour for which the number of hidden players is known.').notNull(),
  },
)

export const playerListing = gameTable(
  'player_listing',
  'Times during which every response of the online list had the player. Logins and logouts are derived in analytics.player_session.',
  {
    playerUuid: uuid('The player.').notNull(),
    firstListedAt: instant('The first response that listed the player.').notNull(),
    lastUnlistedAt: instant('The response before it, which did not. NULL: there was none.'),
    lastListedAt: instant('The last response that listed the player. NULL: the latest one does.'),
    firstUnlistedAt: instant('The response after it, which did not. NULL: the latest one lists the player.'),
    loginEarliest: instant(
      'The response before it, if no player was hidden in it: the login was later. NULL: the player may have been hidden.',
    ),
    logoutLatest: instant(
      'The response after it, if no player was hidden in it: the logout was earlier. NULL: still listed, or perhaps hidden.',
    ),
    world: text('World in the first response that named one. NULL: none did.'),
    lastWorld: text('World in the last response that named one. NULL: none did.'),
    worldNamedAt: instant('That response, while later ones name no world. NULL: the last one does, or none did.'),
  },
  (self) => [
    primaryKey({ name: 'player_listing_pkey', columns: [self.playerUuid, self.firstListedAt] }),
    uniqueIndex('player_listing_open').on(self.playerUuid).where(sql`last_listed_at is null`),
    index('player_listing_begun').on(self.firstListedAt),
    index('player_listing_left').on(self.lastListedAt),
  ],
)

export const playerHop = gameTable(
  'player_hop',
  'A player was listed on another world than in the last response that named one.',
  {
    playerUuid: uuid('The player.').notNull(),
    fromWorld: text('World in that response.').notNull(),
    toWorld: text('World in this response. There may have been others in between.').notNull(),
    earliest: instant('The last response before that named a world: it happened later.').notNull(),
    latest: instant('This response: it happened by then.').notNull(),
  },
  (self) => [
    primaryKey({ name: 'player_hop_pkey', columns: [self.playerUuid, self.latest] }),
    index('player_hop_time').using('brin', self.latest),
  ],
)

export const worldHistory = { root: world, parts: {}, corroboratesNew: true }
