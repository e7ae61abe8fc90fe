import { bytes, instant, text } from '../../db/columns.ts'
import { namesPeople } from '../../db/naming.ts'
import { syncTable } from '../../db/schemas.ts'

export const webKey = syncTable(
  'web_key',
  'Keys of the read API that wynnsync web-key gave out. A key itself is kept nowhere.',
  {
    name: text('What the user calls it.').primaryKey(),
    hash: bytes('SHA-256 of the key, which has 256 random bits.').notNull().unique(),
    createdAt: instant('When it was made, by the clock of that machine.').notNull(),
  },
)

/** Which columns can name a player: none. */
export const accessNaming = [
  namesPeople(webKey, {}, { 'named by the user': ['name'], 'hash of a random key': ['hash'] }),
]
