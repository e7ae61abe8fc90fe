import { plainSpelling } from '../base/text/nearest.ts'
import type { Sql } from '../db/database.ts'
import type { NameHolder } from '../sync/declare/resource.ts'
import { guildsCalled, guildsLike, prefixesStarting } from './guilds/keys.ts'
import { playersCalled, playersLike, playersStarting } from './players/keys.ts'
import { territoriesStarting, territoryNames } from './territories/keys.ts'

/** Those who are called so, or where there are none, those whose names look the same: other spaces, or other forms of the same letters. */
function orSpelledSo(
  called: (sql: Sql, name: string) => Promise<NameHolder[]>,
  spelled: (sql: Sql, name: string) => Promise<readonly string[]> | readonly string[],
) {
  return async (sql: Sql, name: string): Promise<NameHolder[]> => {
    const holders = await called(sql, name)
    if (holders.length > 0 || plainSpelling(name) === '') return holders
    const others = new Set((await spelled(sql, name)).filter((one) => one !== name))
    return (await Promise.all([...others].map((one) => called(sql, one)))).flat()
  }
}

/** Names and prefixes of guilds that look like this one. */
async function guildsSpelled(sql: Sql, name: string): Promise<string[]> {
  const near = (await guildsLike(sql, name)).flatMap((label) => [
    label,
    ...(/^(.*) \[([^\]]*)\]$/.exec(label)?.slice(1) ?? []),
  ])
  return near.filter((one) => plainSpelling(one) === plainSpelling(name))
}

/**
 * How names are found, for questions: the keys of each worklist by `keyFlag`, and all names of what is identified by its
 * exact name. The worklists declare the same; here they come without drizzle's tables, for commands that must start fast.
 */
export const nameFinders = {
  keys: {
    guild: { holders: orSpelledSo(guildsCalled, guildsSpelled), similar: guildsLike },
    // Their names have letters, digits and lines alone.
    player: { holders: orSpelledSo(playersCalled, (_, name) => [plainSpelling(name)]), similar: playersLike },
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
