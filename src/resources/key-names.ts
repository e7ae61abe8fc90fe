import type { Sql } from '../db/database.ts'
import { guildsCalled, guildsLike, prefixesStarting } from './guilds/keys.ts'
import { playersCalled, playersLike, playersStarting } from './players/keys.ts'
import { territoriesStarting, territoryNames } from './territories/keys.ts'

/**
 * How names are found, for questions: the keys of each worklist by `keyFlag`, and all names of what is identified by its
 * exact name. The worklists declare the same; here they come without drizzle's tables, for commands that must start fast.
 */
export const nameFinders = {
  keys: {
    guild: { holders: guildsCalled, similar: guildsLike },
    player: { holders: playersCalled, similar: playersLike },
  },
  exact: { territory: territoryNames, from_territory: territoryNames, to_territory: territoryNames },
}

/** A name for the completion of a command line, and what has it. */
interface StartingName {
  readonly value: string
  readonly about: string
}

/** The current names that begin with a text, by what parameters are called; the prefix of guilds, which is short to type. */
export const namesStarting: Readonly<
  Record<string, (sql: Sql, start: string, limit: number) => Promise<StartingName[]>>
> = { guild: prefixesStarting, player: playersStarting, territory: territoriesStarting }
