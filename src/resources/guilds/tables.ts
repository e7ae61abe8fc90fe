import { bigint, boolean, doublePrecision, index, integer, primaryKey, real, text, uuid } from 'drizzle-orm/pg-core'
import { instant, snakeCased, textInstant } from '../../db/columns.ts'
import { historyTable, partTable } from '../../db/history.ts'
import { namesPeople } from '../../db/naming.ts'
import { game } from '../../db/schemas.ts'

/** One version of what rarely changes about a guild (API reference 6.1). */
export const guild = historyTable(
  'guild',
  { guildUuid: uuid() },
  {
    name: text(),
    prefix: text(),
    createdAt: textInstant(),
    bannerBase: text(),
    bannerTier: integer(),
    bannerStructure: text(),
  },
)

/** The layers of a guild's banner, from the cloth up. */
export const guildBannerLayer = partTable(
  guild,
  'guild_banner_layer',
  { position: integer() },
  { colour: text(), pattern: text() },
)

/** One version of a membership: a player in a guild under a rank. `joined` tells one spell from the next. */
export const guildMember = historyTable(
  'guild_member',
  { guildUuid: uuid(), playerUuid: uuid() },
  {
    username: text(),
    rank: text().notNull(),
    joined: textInstant(),
    /** What the member hides from us, in the API's camelCase; what is hidden is NULL elsewhere, never false or 0. */
    restricted: text().array(),
  },
  {
    indexes: (self) => [
      index('guild_member_player').on(self.playerUuid, self.validFrom),
      index('guild_member_begun').on(self.guildUuid, self.validFrom),
      index('guild_member_username').on(self.username),
    ],
  },
)

const count = () => bigint({ mode: 'number' })

/** A guild's numbers whenever one of them changed. */
export const guildSample = game.table(
  'guild_sample',
  snakeCased({
    guildUuid: uuid().notNull(),
    observedAt: instant().notNull(),
    level: integer(),
    xpPercent: real(),
    territories: integer(),
    wars: count(),
    raids: count(),
    members: integer(),
    /** Online by the guild's own count, hidden members included. */
    online: integer(),
    /** Members whose own record says online. */
    onlineListed: integer(),
    /** Members who hide whether they are online. */
    hidden: integer(),
  }),
  (self) => [
    primaryKey({ name: 'guild_sample_pkey', columns: [self.guildUuid, self.observedAt] }),
    index('guild_sample_time').using('brin', self.observedAt),
  ],
)

/** How many members were online, as averages over the answers of an hour: what stays of older samples. */
export const guildHour = game.table(
  'guild_hour',
  snakeCased({
    guildUuid: uuid().notNull(),
    hour: instant().notNull(),
    /** NULL: no answer of the hour told. */
    onlineAvg: doublePrecision(),
    onlineMax: integer(),
  }),
  (self) => [primaryKey({ name: 'guild_hour_pkey', columns: [self.guildUuid, self.hour] })],
)

/** A guild's rating in a season whenever it changed. */
export const guildSeason = game.table(
  'guild_season',
  snakeCased({
    guildUuid: uuid().notNull(),
    season: integer().notNull(),
    observedAt: instant().notNull(),
    rating: count(),
    finalTerritories: integer(),
  }),
  (self) => [
    primaryKey({ name: 'guild_season_pkey', columns: [self.guildUuid, self.season, self.observedAt] }),
    index('guild_season_season').on(self.season),
  ],
)

/** A guild's place on a leaderboard whenever it changed. */
export const guildRanking = game.table(
  'guild_ranking',
  snakeCased({
    guildUuid: uuid().notNull(),
    board: text().notNull(),
    observedAt: instant().notNull(),
    position: integer(),
  }),
  (self) => [
    primaryKey({ name: 'guild_ranking_pkey', columns: [self.guildUuid, self.board, self.observedAt] }),
    index('guild_ranking_time').using('brin', self.observedAt),
  ],
)

/** A member's counters, each whenever it changed: contributed, wars, guildRaids.total ... They may fall (design rule 10). */
export const memberCounter = game.table(
  'member_counter',
  snakeCased({
    guildUuid: uuid().notNull(),
    playerUuid: uuid().notNull(),
    counter: text().notNull(),
    observedAt: instant().notNull(),
    value: doublePrecision(),
  }),
  (self) => [
    primaryKey({
      name: 'member_counter_pkey',
      columns: [self.guildUuid, self.counter, self.playerUuid, self.observedAt],
    }),
    index('member_counter_time').using('brin', self.observedAt),
  ],
)

/**
 * Hours in which a counter of a member was told lower than before. There are few, and only what was made of such a counter
 * has to be looked at closely.
 */
export const memberCounterDip = game.table(
  'member_counter_dip',
  snakeCased({
    guildUuid: uuid().notNull(),
    playerUuid: uuid().notNull(),
    counter: text().notNull(),
    hour: instant().notNull(),
    /** The last time in that hour. */
    fellAt: instant().notNull(),
  }),
  (self) => [
    primaryKey({
      name: 'member_counter_dip_pkey',
      columns: [self.guildUuid, self.counter, self.playerUuid, self.hour],
    }),
  ],
)

/** Whether a member was online, and where, whenever that changed. NULL: hidden. */
export const memberPresence = game.table(
  'member_presence',
  snakeCased({
    guildUuid: uuid().notNull(),
    playerUuid: uuid().notNull(),
    observedAt: instant().notNull(),
    online: boolean(),
    server: text(),
    lastJoin: textInstant(),
  }),
  (self) => [
    primaryKey({ name: 'member_presence_pkey', columns: [self.guildUuid, self.playerUuid, self.observedAt] }),
    index('member_presence_player').on(self.playerUuid, self.observedAt),
    index('member_presence_login').on(self.playerUuid, self.lastJoin),
    index('member_presence_time').using('brin', self.observedAt),
  ],
)

export const guildHistory = { root: guild, parts: { layers: guildBannerLayer } }

export const memberHistory = { root: guildMember, parts: {} }

const ofGuild = 'of a guild, not of a player'
const ofProgram = 'made by the program'

/** Which columns of guilds can name a player; the tables of members are about one in each row. */
export const guildNaming = [
  namesPeople(
    guild,
    { extra: 'text' },
    { [ofGuild]: ['guildUuid', 'name', 'prefix', 'bannerBase', 'bannerStructure'], [ofProgram]: ['hash'] },
  ),
  namesPeople(guildBannerLayer, {}, { [ofGuild]: ['guildUuid', 'colour', 'pattern'] }),
  namesPeople(guildSample, {}, { [ofGuild]: ['guildUuid'] }),
  namesPeople(guildHour, {}, { [ofGuild]: ['guildUuid'] }),
  namesPeople(guildSeason, {}, { [ofGuild]: ['guildUuid'] }),
  namesPeople(guildRanking, {}, { [ofGuild]: ['guildUuid', 'board'] }),
]
