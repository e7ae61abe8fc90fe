import { index, text, uuid } from 'drizzle-orm/pg-core'
import { historyTable } from '../../db/history.ts'
import { namesPeople } from '../../db/naming.ts'

/** One version of a guild's name and prefix, byte for byte as the guild list has them (API reference 3.5, 6). */
export const guildListing = historyTable(
  'guild_listing',
  { guildUuid: uuid() },
  { name: text(), prefix: text() },
  { indexes: (self) => [index('guild_listing_name').on(self.name), index('guild_listing_prefix').on(self.prefix)] },
)

export const guildListHistory = { root: guildListing, parts: {} }

/** Which columns can name a player. */
export const guildListNaming = [
  namesPeople(
    guildListing,
    { extra: 'text' },
    { 'of a guild, not of a player': ['guildUuid', 'name', 'prefix'], 'made by the program': ['hash'] },
  ),
]
