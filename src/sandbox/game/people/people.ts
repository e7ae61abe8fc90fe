import type { People } from '../../oauth/tokens.ts'
import { lightIdentity, nicknameOf } from '../bodies/player.ts'
import type { Game } from '../game.ts'
import { findPlayers } from '../routes.ts'
import { accessRules } from './privacy.ts'

/** The players of a game as owners of credentials. */
export function gamePeople(game: Game): People {
  const { realm } = game
  // Those who play and began in a guild: of the first people, every fourth did not. Players who share a name are among them.
  const suitable = realm.people.filter(({ habit }, nth) => habit && nth % 4 !== 0)
  return {
    find: (asked) => {
      const [first, ...others] = findPlayers(realm, asked)
      return others.length === 0 ? first?.uuid : undefined
    },
    anyone: (key) => {
      const nth = key === '' ? 0 : Number.parseInt(key.slice(0, 8), 16) % suitable.length
      const player = suitable[nth] ?? realm.people[0]
      if (!player) throw new RangeError('the game has no players')
      return player.uuid
    },
    profile: (uuid, now) => {
      game.advanceTo(now)
      const player = realm.players.get(uuid)
      if (!player) return undefined
      const { username, uuid: _, ...badges } = lightIdentity(player)
      return {
        identity: { username, online: player.session !== null, nickname: nicknameOf(player), ...badges },
        accessRules: accessRules(player),
      }
    },
  }
}
