import type { Dialect } from '../../http/answer.ts'
import type { Realm, Season } from '../state.ts'
import { second, stamp } from '../time.ts'
import type { Identifier } from './guild.ts'

/** `/guild/list/guild`: by name `{uuid, prefix}`, by uuid `{name, prefix}`; documented is always the latter value. */
export function guildListBody(realm: Realm, identifier: Identifier, dialect: Dialect) {
  return Object.fromEntries(
    [...realm.guilds.values()].map(({ uuid, name, prefix }) => [
      identifier === 'uuid' ? uuid : name,
      identifier === 'uuid' || dialect === 'documented' ? { name, prefix } : { uuid, prefix },
    ]),
  )
}

/** `/guild/seasons`: those that have begun (API reference 6.4). */
export function seasonsBody(realm: Realm, dialect: Dialect) {
  return Object.fromEntries(realm.seasons.map((season) => [String(season.number), seasonBody(season, dialect)]))
}

function seasonBody({ number, begins, ends, ratingPerHour, ratingPerWar }: Season, dialect: Dialect) {
  const seconds = (at: number) => new Date(at).toISOString().replace('.000Z', 'Z')
  const bySr = (value: number) => ({ type: 'SR', value })
  const byPosition = (value: number) => ({ type: 'LEADERBOARD_POSITION', value })
  return {
    territoryHoldingSrPerHour: ratingPerHour,
    srPerWar: ratingPerWar,
    ratingRewards: [
      { condition: bySr(1), type: 'BADGE', value: `Season ${number} - Contender`, expires: null },
      { condition: bySr(20_000), type: 'EMERALD', value: 2048, expires: null },
      { condition: bySr(150_000), type: 'GUILD_TOME', value: 1, expires: null },
      { condition: bySr(600_000), type: 'STRUCTURE', value: `season${number}Tower`, expires: stamp(ends) },
    ],
    leaderboardRewards: [100, 10, 3, 1].map((place) => ({
      condition: byPosition(place),
      type: 'BADGE',
      value: `S${number}_TOP_${place}`,
      expires: null,
    })),
    [dialect === 'live' ? 'startDate' : 'initDate']: seconds(begins),
    endDate: seconds(ends),
  }
}

/** How long after the login the list has no world for a player, ms. */
const arriving = 5 * second

/**
 * `/player`: who is online where as of an instant in ms. Hidden players are in `total` only, and who has just logged in
 * is on no world yet (API reference 7.4).
 * @param server a world's name or its number; null for all
 */
export function onlineBody(realm: Realm, identifier: Identifier, server: string | null, at: number) {
  const worlds = realm.worlds.filter(
    ({ name }) => server === null || name === server || name.replace(/^\D+/, '') === server,
  )
  let total = 0
  const players: Record<string, string | null> = {}
  for (const world of worlds)
    for (const player of world.players) {
      total += 1
      const placed = player.session !== null && at - player.session.login >= arriving
      if (player.hidesOnline || (server !== null && !placed)) continue
      players[player[identifier]] = placed ? world.name : null
    }
  return { total, players }
}
