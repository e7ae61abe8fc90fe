import { isNotNull } from 'drizzle-orm'
import { index } from 'drizzle-orm/pg-core'
import { doublePrecision, integer, text, uuid } from '../../db/columns.ts'
import { historyTable, sampleTable } from '../../db/history.ts'
import { namesPeople } from '../../db/naming.ts'

/** API reference 3.6, 8. */
export const leaderboard = historyTable(
  'leaderboard',
  'Versions of leaderboards: which there are. Who is on one is in leaderboard_place.',
  { type: text('Natural key: name of the board, such as guildLevel.') },
  { kind: text('guild or player: what is ranked.') },
  {
    document: true,
    comments: { document: 'Type and kind, and the names of the fields of its entries that the program does not know.' },
  },
)

export const leaderboardPlace = sampleTable(
  'leaderboard_place',
  'Who was on a place of a leaderboard, a row whenever one of the values changed.',
  { type: text('The board in leaderboard.'), place: integer('Place, from 1.') },
  {
    guildUuid: uuid('The guild. NULL: not a board of guilds, or the reason says why.'),
    playerUuid: uuid('The player. NULL: not a board of players, or the reason says why.'),
    characterUuid: uuid(
      'The character of the player, where the board ranks characters. NULL: the API did not send it.',
    ),
    name: text('Name of the guild or player then. NULL: see the reason.'),
    score: doublePrecision(
      'What the board ranks by; of boards without a score: level, territories or wars of the guild. NULL: the API did not send it.',
    ),
    metaScore: doublePrecision(
      'What decides between equal scores, as the API sends it. NULL: the API did not send it.',
    ),
    reason: text(
      'Why it has no name: redacted (the player hides), empty (two responses in a row had no such place), unreadable (see sync.quarantine). NULL: it has one, or had one that was removed for privacy.',
    ),
  },
  (self) => [
    index('leaderboard_place_player').on(self.playerUuid, self.type, self.observedAt).where(isNotNull(self.playerUuid)),
    index('leaderboard_place_guild').on(self.guildUuid, self.type, self.observedAt).where(isNotNull(self.guildUuid)),
    index('leaderboard_place_name').on(self.name, self.type),
  ],
)

export const leaderboardHistory = { root: leaderboard, parts: {} }

/** Which columns can name a player; each place is about one, in columns of its own. */
export const leaderboardNaming = [
  namesPeople(
    leaderboard,
    { document: 'text', extra: 'text' },
    { 'of a board, not of a player': ['type', 'kind'], 'made by the program': ['hash'] },
  ),
]
