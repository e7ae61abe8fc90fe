import type { Requester } from '../../http/answer.ts'
import { mix } from '../guilds/economy.ts'
import type { Player, Realm } from '../state.ts'

/** Who may see something of a player; Guests only see what is public (API reference 7.3). */
export type Rule = 'public' | 'friend' | 'guild' | 'guild_friend' | 'private'

/** The caller, as the game knows them. */
export interface Viewer {
  readonly player: Player
  /** Undefined for everything that the player sees. */
  readonly scopes: readonly string[] | undefined
}

/** What one viewer does not see of one player. */
export interface Hidden {
  readonly online: boolean
  readonly main: boolean
  readonly characterList: boolean
  readonly characterNumbers: boolean
  readonly build: boolean
}

const scopeOf: Readonly<Record<keyof Hidden, string>> = {
  online: 'online_status',
  main: 'main_access',
  characterList: 'character_list_access',
  characterNumbers: 'character_data_access',
  build: 'character_build_access',
}
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

/** Whether two players are in one guild. */
export function areGuildmates(one: Player, other: Player): boolean {
  return one !== other && one.membership !== null && one.membership.guild === other.membership?.guild
}

/** Whether a viewer may see more of a player than a guest does. */
export function isClose({ player }: Viewer, other: Player): boolean {
  return player === other || areFriends(player, other) || areGuildmates(player, other)
}

/** What a viewer, or a guest, does not see of a player. */
export function hiddenFrom(player: Player, viewer: Viewer | undefined): Hidden {
  const hides = (what: keyof Hidden) => {
    const rule = ruleOf(player, what)
    if (rule === 'public') return false
    if (!viewer || (viewer.scopes && !viewer.scopes.includes(scopeOf[what]))) return true
    if (viewer.player === player) return false
    const friend = (rule === 'friend' || rule === 'guild_friend') && areFriends(viewer.player, player)
    const guild = (rule === 'guild' || rule === 'guild_friend') && areGuildmates(viewer.player, player)
    return !friend && !guild
  }
  return {
    online: hides('online'),
    main: hides('main'),
    characterList: hides('characterList'),
    characterNumbers: hides('characterNumbers'),
    build: hides('build'),
  }
}

/** Every rule of a player by its name in snake_case, as `/oauth/me` tells the owner (API reference 3.1). */
export function accessRules(player: Player): Record<string, Rule> {
  return {
    main_access: ruleOf(player, 'main'),
    character_list_access: ruleOf(player, 'characterList'),
    character_data_access: ruleOf(player, 'characterNumbers'),
    character_build_access: ruleOf(player, 'build'),
    online_status: ruleOf(player, 'online'),
    hunted_characters_access: 'public',
    guild_history_access: 'public',
  }
}

/** The game only knows whether something is hidden; how strictly, the player's salt decides. */
function ruleOf(player: Player, what: keyof Hidden): Rule {
  const hides = {
    online: player.hidesOnline,
    main: player.hidesMain,
    characterList: player.hidesCharacterList,
    characterNumbers: player.hidesCharacterNumbers,
    build: player.hidesBuild,
  }[what]
  return hides ? (restricted[mix(player.salt, scopeOf[what].length) % restricted.length] ?? 'private') : 'public'
}
