import { boolean, doublePrecision, index, integer, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instant, snakeCased, textInstant } from '../../db/columns.ts'
import { historyTable } from '../../db/history.ts'
import { game } from '../../db/schemas.ts'

/** One version of who a player is (API reference 7.1). What the player hides is NULL, and `restricted` says why. */
export const player = historyTable(
  'player',
  { playerUuid: uuid() },
  {
    username: text(),
    nickname: text(),
    rank: text(),
    rankBadge: text(),
    shortenedRank: text(),
    supportRank: text(),
    rankColour: text(),
    rankColourSub: text(),
    veteran: boolean(),
    firstJoin: textInstant(),
    guildUuid: uuid(),
    guildName: text(),
    guildPrefix: text(),
    /** As the profile spells it: in capitals. */
    guildRank: text(),
    guildRankStars: text(),
    wallpaper: text(),
    avatar: text(),
    /** The access rules that hide something from us, in the API's camelCase. */
    restricted: text().array(),
  },
  {
    indexes: (self) => [
      index('player_username').on(self.username),
      index('player_guild').on(self.guildUuid, self.validFrom),
    ],
  },
)

/** One version of a character's lasting traits (API reference 7.2); its numbers are in `character_counter`. */
export const playerCharacter = historyTable(
  'player_character',
  { playerUuid: uuid(), characterUuid: uuid() },
  {
    type: text(),
    /** The name of the other look, or `true` where only that was told. */
    reskin: text(),
    nickname: text(),
    level: integer(),
    gamemodes: text().array(),
    died: boolean(),
    preEconomy: boolean(),
    restricted: text().array(),
    /** Stats that are gone for everybody but the owner. */
    removedStats: text().array(),
  },
)

/** Whether a player was online, and since when, whenever that changed. All NULL: hidden. */
export const playerStatus = game.table(
  'player_status',
  snakeCased({
    playerUuid: uuid().notNull(),
    observedAt: instant().notNull(),
    online: boolean(),
    world: text(),
    lastJoin: textInstant(),
    activeCharacter: uuid(),
  }),
  (self) => [
    primaryKey({ name: 'player_status_pkey', columns: [self.playerUuid, self.observedAt] }),
    index('player_status_time').using('brin', self.observedAt),
  ],
)

/** A player's counters over all characters, each whenever it changed: playtime (hours), wars, raids.total ... They may fall. */
export const playerCounter = game.table(
  'player_counter',
  snakeCased({
    playerUuid: uuid().notNull(),
    counter: text().notNull(),
    observedAt: instant().notNull(),
    value: doublePrecision().notNull(),
  }),
  (self) => [
    primaryKey({ name: 'player_counter_pkey', columns: [self.playerUuid, self.counter, self.observedAt] }),
    index('player_counter_time').using('brin', self.observedAt),
  ],
)

/** A player's place on a leaderboard whenever it changed. */
export const playerRanking = game.table(
  'player_ranking',
  snakeCased({
    playerUuid: uuid().notNull(),
    board: text().notNull(),
    observedAt: instant().notNull(),
    position: integer().notNull(),
  }),
  (self) => [
    primaryKey({ name: 'player_ranking_pkey', columns: [self.playerUuid, self.board, self.observedAt] }),
    index('player_ranking_time').using('brin', self.observedAt),
  ],
)

/** A character's numbers, each whenever it changed: xp, playtime, skillPoints.strength, dungeons.list.<name> ... */
export const characterCounter = game.table(
  'character_counter',
  snakeCased({
    playerUuid: uuid().notNull(),
    characterUuid: uuid().notNull(),
    counter: text().notNull(),
    observedAt: instant().notNull(),
    value: doublePrecision().notNull(),
  }),
  (self) => [
    primaryKey({
      name: 'character_counter_pkey',
      columns: [self.playerUuid, self.characterUuid, self.counter, self.observedAt],
    }),
    index('character_counter_time').using('brin', self.observedAt),
  ],
)

/** A character's standing in a profession whenever it changed. */
export const characterProfession = game.table(
  'character_profession',
  snakeCased({
    playerUuid: uuid().notNull(),
    characterUuid: uuid().notNull(),
    profession: text().notNull(),
    observedAt: instant().notNull(),
    level: integer(),
    xpPercent: doublePrecision(),
  }),
  (self) => [
    primaryKey({
      name: 'character_profession_pkey',
      columns: [self.playerUuid, self.characterUuid, self.profession, self.observedAt],
    }),
    index('character_profession_time').using('brin', self.observedAt),
  ],
)

/** A quest that a character has done, by when. */
export const characterQuest = game.table(
  'character_quest',
  snakeCased({
    playerUuid: uuid().notNull(),
    characterUuid: uuid().notNull(),
    quest: text().notNull(),
    /** The answer that listed it first. */
    observedAt: instant().notNull(),
    /** Always true: a quest that is done stays done. */
    done: boolean().notNull(),
  }),
  (self) => [
    primaryKey({
      name: 'character_quest_pkey',
      columns: [self.playerUuid, self.characterUuid, self.quest, self.observedAt],
    }),
  ],
)

export const playerHistory = { root: player, parts: {} }
export const characterHistory = { root: playerCharacter, parts: {} }
