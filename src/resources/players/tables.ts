import { sql } from 'drizzle-orm'
import { index, primaryKey } from 'drizzle-orm/pg-core'
import { boolean, doublePrecision, instant, integer, text, textInstant, texts, uuid } from '../../db/columns.ts'
import { historyTable, sampleTable } from '../../db/history.ts'
import { gameTable } from '../../db/schemas.ts'

/** API reference 7.1. */
export const player = historyTable(
  'player',
  "Versions of players' profiles: who they are, not what changes while they play. What a player hides is NULL, and restricted says why.",
  { playerUuid: uuid('Natural key.') },
  {
    username: text('Name in the game; players change it.'),
    nickname: text('Shown name. NULL: none.'),
    rank: text('Player, or a staff rank.'),
    rankBadge: text("Path of the rank's picture."),
    shortenedRank: text('Short form of a staff rank.'),
    supportRank: text('Rank bought: vip, vipplus, hero, champion. NULL: none.'),
    rankColour: text('Main colour of the rank.'),
    rankColourSub: text('Second colour of the rank.'),
    veteran: boolean('Whether the player has the veteran badge. NULL: the API did not send it.'),
    firstJoin: textInstant('When the player came for the first time. NULL where mainAccess is restricted.'),
    guildUuid: uuid("The player's guild. NULL: none."),
    guildName: text('Its name in the profile.'),
    guildPrefix: text('Its prefix in the profile.'),
    guildRank: text('Rank in it, in capitals as profiles have it.'),
    guildRankStars: text('The stars of that rank.'),
    wallpaper: text('Wallpaper of the profile.'),
    avatar: text('Picture of the profile.'),
    restricted: texts(
      "Privacy rules that hide something of the player, in the API's camelCase: mainAccess, onlineStatus ...",
    ),
  },
  {
    indexes: (self) => [
      index('player_username').on(self.username),
      index('player_name').on(sql`lower(username collate "C")`),
      index('player_guild').on(self.guildUuid, self.validFrom),
    ],
  },
)

/** API reference 7.2. */
export const playerCharacter = historyTable(
  'player_character',
  'Versions of characters: what rarely changes. Numbers are in game.character_counter. A character ends when two responses lack it; never while the player hides the list.',
  { playerUuid: uuid('Whose character it is.'), characterUuid: uuid('The character.') },
  {
    type: text('Class: ARCHER, WARRIOR, ASSASSIN, MAGE, SHAMAN.'),
    reskin: text("Name of the class's other look, or true where the API sends only that. NULL: not worn."),
    nickname: text('Name the player gave it.'),
    level: integer('Combat level.'),
    gamemodes: texts('Modes such as hunted, ironman, craftsman, hardcore; empty when none.'),
    died: boolean('Whether a hardcore character died.'),
    preEconomy: boolean('Whether it is older than the economy update.'),
    restricted: texts("Privacy rules that hide something of this character, in the API's camelCase."),
    removedStats: texts('Stats that are gone for everybody but the owner.'),
  },
)

export const playerStatus = sampleTable(
  'player_status',
  "Whether a player was online and when the latest login was, by the player's own profile, whenever that changed.",
  { playerUuid: uuid('The player.') },
  {
    online: boolean('NULL: hidden. False: offline, of a player who does not hide it.'),
    world: text('Where. NULL: offline or hidden.'),
    lastJoin: textInstant(
      'The latest login. NULL: the API did not send it, or it is hidden: what the API sends then may be out of date.',
    ),
    activeCharacter: uuid(
      'Uuid of the character in play, or played last. NULL: the API did not send it, or the player hides it.',
    ),
  },
)

export const playerCounter = sampleTable(
  'player_counter',
  "A player's counters over all characters, each whenever it changed. They may fall. One that is hidden has no row: it is not 0.",
  {
    playerUuid: uuid('The player.'),
    counter: text('Name as in the API, nested ones with dots: playtime (hours), wars, raids.total, raids.list.<raid>.'),
  },
  { value: doublePrecision('The counter. NULL: the profile had it, and does not any more.') },
)

export const playerRanking = sampleTable(
  'player_ranking',
  "A player's place on a leaderboard whenever it changed.",
  { playerUuid: uuid('The player.'), board: text('Name of the leaderboard.') },
  { position: integer('Place; 1 is the first. NULL: the profile named the board, and does not any more.') },
)

export const characterCounter = sampleTable(
  'character_counter',
  "A character's numbers, each whenever it changed. One that is hidden has no row: it is not 0.",
  {
    playerUuid: uuid('Whose character it is.'),
    characterUuid: uuid('The character.'),
    counter: text(
      'Name as in the API, nested ones with dots: xp, playtime (hours), skillPoints.strength, dungeons.list.<dungeon>. blocksWalked overflows and may be negative.',
    ),
  },
  { value: doublePrecision('The number. NULL: the character had it, and has not any more.') },
)

export const characterProfession = sampleTable(
  'character_profession',
  "A character's standing in a profession whenever it changed.",
  {
    playerUuid: uuid('Whose character it is.'),
    characterUuid: uuid('The character.'),
    profession: text('Name of the profession, such as fishing.'),
  },
  { level: integer('Level in it.'), xpPercent: doublePrecision('Way to the next level, 0..100.') },
)

export const characterQuest = gameTable(
  'character_quest',
  'Quests that characters have done.',
  {
    playerUuid: uuid('Whose character it is.').notNull(),
    characterUuid: uuid('The character.').notNull(),
    quest: text('Name of the quest.').notNull(),
    observedAt: instant('observed_at of the first response that listed it: it was done by then.').notNull(),
    done: boolean('Always true.').notNull(),
  },
  (self) => [
    primaryKey({
      name: 'character_quest_pkey',
      columns: [self.playerUuid, self.characterUuid, self.quest, self.observedAt],
    }),
  ],
)

export const playerHistory = { root: player, parts: {} }
export const characterHistory = { root: playerCharacter, parts: {} }
