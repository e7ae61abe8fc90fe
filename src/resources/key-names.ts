import type { Worklist } from '../sync/resource.ts'
import { guildsCalled, guildsLike, prefixesStarting } from './guilds/keys.ts'
import { playersCalled, playersLike, playersStarting } from './players/keys.ts'
import { territoriesStarting, territoryNames } from './territories/keys.ts'

/**
 * How the keys of each worklist are found by name, by `keyFlag`. The worklists declare the same; here they come without
 * drizzle's tables, for commands that must start fast.
 */
export const keyNames: Readonly<Record<string, Pick<Worklist, 'holders' | 'similar'>>> = {
  guild: { holders: guildsCalled, similar: guildsLike },
  player: { holders: playersCalled, similar: playersLike },
}

/** How all names are listed of what is identified by its exact name, by what parameters and columns are called. */
export const exactNames: Readonly<Record<string, (sql: Parameters<Worklist['similar']>[0]) => Promise<string[]>>> = {
  territory: territoryNames,
}

/** A name for the completion of a command line, and what has it. */
export interface StartingName {
  readonly value: string
  readonly about: string
}

/** The current names that begin with a text, by what parameters are called; the prefix of guilds, which is short to type. */
export const namesStarting: Readonly<
  Record<string, (sql: Parameters<Worklist['similar']>[0], start: string, limit: number) => Promise<StartingName[]>>
> = { guild: prefixesStarting, player: playersStarting, territory: territoriesStarting }

/** Both, for questions. */
export const nameFinders = { keys: keyNames, exact: exactNames }
