import type { Worklist } from '../sync/resource.ts'
import { guildsCalled, guildsLike } from './guilds/keys.ts'
import { playersCalled, playersLike } from './players/keys.ts'
import { territoryNames } from './territories/keys.ts'

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

/** Both, for questions. */
export const nameFinders = { keys: keyNames, exact: exactNames }
