import { sql } from 'drizzle-orm'
import { index, primaryKey } from 'drizzle-orm/pg-core'
import {
  bigint,
  boolean,
  doublePrecision,
  instant,
  integer,
  real,
  sampledAt,
  text,
  textInstant,
  texts,
  uuid,
} from '../../db/columns.ts'
import { historyTable, partTable, sampleTable } from '../../db/history.ts'
import { namesPeople } from '../../db/naming.ts'
import { gameTable } from '../../db/schemas.ts'

/** API reference 6.1. */
export const guild = historyTable(
  'guild',
  'Versions of what rarely changes about a guild, from its own response. Its numbers are in guild_sample.',
  { guildUuid: uuid('Natural key.') },
  {
    name: text('Name, byte for byte.'),
    prefix: text('Prefix; not unique.'),
    createdAt: textInstant('When it was founded, by the API.'),
    bannerBase: text("Colour of the banner's cloth. NULL: it has no banner."),
    bannerTier: integer('Tier of the banner.'),
    bannerStructure: text('Structure of the banner. NULL: the API did not send it.'),
  },
)

export const guildBannerLayer = partTable(
  guild,
  'guild_banner_layer',
  'Layers of the banner of a version of a guild.',
  { position: integer('Place from the cloth up, from 0.') },
  { colour: text('Colour, such as LIGHT_BLUE.'), pattern: text('Pattern, such as STRIPE_TOP.') },
)

export const guildMember = historyTable(
  'guild_member',
  'Versions of memberships: a player in a guild under a rank and a name. A membership ends at the first of the complete responses in a row without the player.',
  { guildUuid: uuid('The guild; with the player the natural key.'), playerUuid: uuid('The player.') },
  {
    username: text('Name of the player then. NULL: the API did not send it.'),
    rank: text('owner, chief, strategist, captain, recruiter, recruit, or what else the API sends.').notNull(),
    joined: textInstant(
      'When the player joined, by the API; distinguishes one spell in the guild from the next. NULL: the API did not send it.',
    ),
    restricted: texts(
      'Privacy rules that hide something of the member, in camelCase, such as onlineStatus; what is hidden is NULL elsewhere. Empty: nothing is hidden.',
    ),
  },
  {
    indexes: (self) => [
      index('guild_member_player').on(self.playerUuid, self.validFrom),
      index('guild_member_begun').on(self.guildUuid, self.validFrom),
      index('guild_member_username').on(self.username),
      // Names are searched without regard to case.
      index('guild_member_name').on(sql`lower(username collate "C")`),
      // Who joined or left lately, of all guilds.
      index('guild_member_from').on(self.validFrom),
      index('guild_member_ended').on(self.validUntil).where(sql`valid_until < 'infinity'`),
    ],
  },
)

export const guildSample = sampleTable(
  'guild_sample',
  "A guild's numbers, a row whenever one of them changed.",
  { guildUuid: uuid('The guild.') },
  {
    level: integer('Level.'),
    xpPercent: real('Percent of the way to the next level.'),
    territories: integer("Territories by the guild's own count."),
    wars: bigint("Wars by the guild's own count. NULL: the API did not send it."),
    raids: bigint("Raids by the guild's own count. NULL: the API did not send it."),
    members: integer("Members by the guild's own count. NULL: the API sent neither that nor members."),
    online: integer("Members online by the guild's own count, hidden ones included."),
    onlineListed: integer('Members whose own record has online: true. NULL: the API sent no members.'),
    hidden: integer('Members who hide whether they are online. NULL: the API sent no members.'),
  },
)

export const guildHour = gameTable(
  'guild_hour',
  'How many members of a guild were online in an hour: what compaction keeps of the rows of game.guild_sample past their retention.',
  {
    guildUuid: uuid('The guild.').notNull(),
    hour: instant('The full hour (UTC), in which there was a response about the guild.').notNull(),
    onlineAvg: doublePrecision(
      "Members online by the guild's own count, on average over the responses of the hour. NULL: none had it.",
    ),
    onlineMax: integer('The most in a response of the hour. NULL: none had it.'),
  },
  (self) => [primaryKey({ name: 'guild_hour_pkey', columns: [self.guildUuid, self.hour] })],
)

export const guildSeason = gameTable(
  'guild_season',
  "A guild's rating in a season, a row whenever it changed.",
  {
    guildUuid: uuid('The guild.').notNull(),
    season: integer('Number of the season; season 0 exists.').notNull(),
    observedAt: sampledAt(),
    rating: bigint('Season rating. NULL: the API does not send it.'),
    finalTerritories: integer('Territories at the end of the season.'),
  },
  (self) => [
    primaryKey({ name: 'guild_season_pkey', columns: [self.guildUuid, self.season, self.observedAt] }),
    index('guild_season_season').on(self.season),
  ],
)

export const guildRanking = sampleTable(
  'guild_ranking',
  "A guild's place on a leaderboard, a row whenever it changed.",
  { guildUuid: uuid('The guild.'), board: text('Name of the leaderboard in the API.') },
  { position: integer('Place, from 1. NULL: the guild named the board, and does not any more.') },
)

export const memberCounter = gameTable(
  'member_counter',
  'What is counted about a member, a row whenever a value changed. Counters may fall: by joining again, by a glitch, for no visible reason.',
  {
    guildUuid: uuid('The guild whose response had it.').notNull(),
    playerUuid: uuid('The member.').notNull(),
    counter: text(
      'Name: contributed (since joining), wars, guildRaids.total, raids.list.<raid>, playtime and so on, by its path in the API.',
    ).notNull(),
    observedAt: sampledAt(),
    value: doublePrecision(
      'The value, exact up to 2^53. NULL: the API does not send it any more. What a member hides gives no row.',
    ),
  },
  (self) => [
    primaryKey({
      name: 'member_counter_pkey',
      columns: [self.guildUuid, self.counter, self.playerUuid, self.observedAt],
    }),
    index('member_counter_time').using('brin', self.observedAt),
  ],
)

export const memberCounterDip = gameTable(
  'member_counter_dip',
  'Hours in which a counter of a member was lower than before: rises of other counters follow from two numbers. Materialized up to sync.tier.averaged_until.',
  {
    guildUuid: uuid('The guild.').notNull(),
    playerUuid: uuid('The member.').notNull(),
    counter: text('The counter, such as contributed.').notNull(),
    hour: instant('The full hour (UTC).').notNull(),
    fellAt: instant('observed_at of the last response of the hour with less than the one before.').notNull(),
  },
  (self) => [
    primaryKey({
      name: 'member_counter_dip_pkey',
      columns: [self.guildUuid, self.counter, self.playerUuid, self.hour],
    }),
  ],
)

export const memberPresence = sampleTable(
  'member_presence',
  'Whether a member was online, a row whenever that or the world changed.',
  { guildUuid: uuid('The guild whose response had it.'), playerUuid: uuid('The member.') },
  {
    online: boolean('Online then. NULL: the member hides it, so that offline would be a guess.'),
    server: text('World. NULL: offline or hidden.'),
    lastJoin: textInstant('Last login. NULL: hidden, or the API never sent it.'),
  },
  (self) => [
    index('member_presence_player').on(self.playerUuid, self.observedAt),
    index('member_presence_login').on(self.playerUuid, self.lastJoin),
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
