import { activeCharacter } from '../bodies/characters.ts'
import { nicknameOf } from '../bodies/player.ts'
import { worldOf } from '../people/presence.ts'
import { areFriends, areGuildmates, hiddenFrom, type Viewer } from '../people/privacy.ts'
import type { Player, Realm } from '../state.ts'
import { minute } from '../time.ts'
import { mix } from './economy.ts'

/**
 * The body of `/map/locations/player` for one player as of an instant in ms: where they, their friends and their guild
 * are, as far as these show it; empty when the player is offline (API reference 3.6).
 */
export function locationsBody(realm: Realm, viewer: Viewer, at: number) {
  const { player, scopes } = viewer
  if (!player.session || (scopes && !scopes.includes('online_status'))) return []
  const others = [...realm.online].filter((one) => one !== player && !hiddenFrom(one, viewer).online)
  const found = (close: (one: Player) => boolean) => others.filter(close).map((one) => locationOf(realm, one, at))
  return [
    {
      ...locationOf(realm, player, at),
      friends: found((one) => areFriends(player, one)),
      // Parties are not played.
      party: [],
      guild: found((one) => areGuildmates(player, one)),
    },
  ]
}

function locationOf(realm: Realm, player: Player, at: number) {
  const { uuid, username, salt } = player
  const step = Math.floor(at / minute)
  return {
    uuid,
    name: username,
    nickname: nicknameOf(player),
    character: activeCharacter(player),
    server: worldOf(realm, player)?.name ?? null,
    x: (mix(salt, step) % 3600) - 2200,
    y: 20 + (mix(salt, step + 1) % 120),
    z: -(mix(salt, step + 2) % 5700),
  }
}
