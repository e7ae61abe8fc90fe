import type { Requester } from '../../http/answer.ts'
import { mix } from '../guilds/economy.ts'
import type { Player, Realm } from '../state.ts'

/** Who may see something of a player; Guests only see what is public (API reference 7.3). */
type Rule = 'public' | 'friend' | 'guild' | 'guild_friend' | 'private'

/** The caller, as the game knows them. */
export interface Viewer {
  readonly player: Player
  /** Undefined for everything that the player sees. */
  readonly scopes: readonly string[] | undefined
}

/** What a player can hide: the scope that may show it, as its rule is named too, and where the player has the choice. */
const hideable = {
  main: { scope: 'main_access', field: 'hidesMain' },
  characterList: { scope: 'character_list_access', field: 'hidesCharacterList' },
  characterNumbers: { scope: 'character_data_access', field: 'hidesCharacterNumbers' },
  build: { scope: 'character_build_access', field: 'hidesBuild' },
  online: { scope: 'online_status', field: 'hidesOnline' },
} as const
type Hideable = keyof typeof hideable
const kinds = Object.keys(hideable) as Hideable[]

/** What one viewer does not see of one player. */
export type Hidden = Readonly<Record<Hideable, boolean>>

const restricted: readonly Rule[] = ['private', 'friend', 'guild', 'guild_friend']

/** The player behind a credential; undefined for guests and for who is no player of this game. */
export function viewerOf(realm: Realm, requester: Requester | undefined): Viewer | undefined {
  const player = requester && realm.players.get(requester.player)
  return player && { player, scopes: requester.scopes }
}

/** Tells one viewer from another, for copies of personal responses. */
export function audienceOf(viewer: Viewer | undefined): string | undefined {
  return viewer && `${viewer.player.uuid} ${viewer.scopes?.join('+') ?? '*'}`
}

/** Whether two players are friends. Friendships are drawn from the two salts: each has about one in a hundred. */
export function areFriends(one: Player, other: Player): boolean {
  const [low, high] = one.salt < other.salt ? [one.salt, other.salt] : [other.salt, one.salt]
  return one !== other && mix(low, high) % 100 === 0
}

export function areGuildmates(one: Player, other: Player): boolean {
  return one !== other && one.membership !== null && one.membership.guild === other.membership?.guild
}

/** Whether a viewer may see more of a player than a guest does. */
export function isClose({ player }: Viewer, other: Player): boolean {
  return player === other || areFriends(player, other) || areGuildmates(player, other)
}

/** What a viewer, or a guest, does not see of a player. */
export function hiddenFrom(player: Player, viewer: Viewer | undefined): Hidden {
  const hides = (what: Hideable) => {
    const rule = ruleOf(player, what)
    if (rule === 'public') return false
    if (!viewer || (viewer.scopes && !viewer.scopes.includes(hideable[what].scope))) return true
    if (viewer.player === player) return false
    const friend = (rule === 'friend' || rule === 'guild_friend') && areFriends(viewer.player, player)
    const guild = (rule === 'guild' || rule === 'guild_friend') && areGuildmates(viewer.player, player)
    return !friend && !guild
  }
  return Object.fromEntries(kinds.map((what) => [what, hides(what)])) as Hidden
}

/** Every rule of a player by its name in snake_case, as `/oauth/me` tells the owner (API reference 3.1). */
export function accessRules(player: Player): Record<string, Rule> {
  return {
    ...Object.fromEntries(kinds.map((what) => [hideable[what].scope, ruleOf(player, what)])),
    hunted_characters_access: 'public',
    guild_history_access: 'public',
  }
}

/** The game only knows whether something is hidden; how strictly, the player's salt decides. */
function ruleOf(player: Player, what: Hideable): Rule {
  const { scope, field } = hideable[what]
  return player[field] ? (restricted[mix(player.salt, scope.length) % restricted.length] ?? 'private') : 'public'
}
