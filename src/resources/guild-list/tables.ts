import { index } from 'drizzle-orm/pg-core'
import { text, uuid } from '../../db/columns.ts'
import { historyTable } from '../../db/history.ts'
import { namesPeople } from '../../db/naming.ts'

/** API reference 3.5, 6. */
export const guildListing = historyTable(
  'guild_listing',
  'Versions of guilds as the guild list has them: names and prefixes. A version that ends without a next one: disbanded.',
  { guildUuid: uuid('Natural key.') },
  {
    name: text(
      'Name, byte for byte: may be empty, have spaces at its ends or differ from another one in case only. NULL: the API did not send it.',
    ),
    prefix: text('Prefix, byte for byte; not unique. NULL: the API did not send it.'),
  },
  { indexes: (self) => [index('guild_listing_name').on(self.name), index('guild_listing_prefix').on(self.prefix)] },
)

export const guildListHistory = { root: guildListing, parts: {}, reopens: true }

export const guildListNaming = [
  namesPeople(
    guildListing,
    { extra: 'text' },
    { 'of a guild, not of a player': ['guildUuid', 'name', 'prefix'], 'made by the program': ['hash'] },
  ),
]
