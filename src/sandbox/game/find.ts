import type { Guild, Player, Realm } from './state.ts'

/**
 * The guilds a path can mean. A name means the guild written exactly so, otherwise all that differ only in case; a
 * prefix means all that differ only in case.
 */
export function findGuilds(realm: Realm, by: 'name' | 'prefix' | 'uuid', asked: string): Guild[] {
  const folded = asked.toLowerCase()
  if (by === 'uuid') return [realm.guilds.get(folded)].filter((guild) => guild !== undefined)
  const all = [...realm.guilds.values()]
  if (by === 'prefix') return all.filter(({ prefix }) => prefix?.toLowerCase() === folded)
  const exact = all.filter(({ name }) => name === asked)
  return exact.length > 0 ? exact : all.filter(({ name }) => name.toLowerCase() === folded)
}

/** The players a path can mean: one uuid, or everybody of that name, whatever its case. */
export function findPlayers(realm: Realm, asked: string): Player[] {
  const folded = asked.toLowerCase()
  const known = realm.players.get(folded)
  if (known) return [known]
  return realm.people.filter(({ username }) => username.length === asked.length && username.toLowerCase() === folded)
}
