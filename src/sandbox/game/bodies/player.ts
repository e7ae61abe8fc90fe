import { mix } from '../guilds/economy.ts'
import { counter } from '../people/counters.ts'
import { worldOf } from '../people/presence.ts'
import type { Hidden } from '../people/privacy.ts'
import type { Player, Realm } from '../state.ts'
import { stamp } from '../time.ts'
import { activeCharacter, fullCharacters } from './characters.ts'
import { countedTogether, listedRaids, playtime } from './counted.ts'

const stars: Readonly<Record<string, string>> = {
  owner: '*****',
  chief: '****',
  strategist: '***',
  captain: '**',
  recruiter: '*',
}
const supportRanks = [null, null, null, 'vip', 'vipplus', 'hero', 'champion']
const colours = [null, { main: '#00aa00', sub: '#55ff55' }, { main: '#aa00aa', sub: '#ff55ff' }]

/** What tells one player from another when a name matches several (API reference 2.5). */
export function lightIdentity(player: Player) {
  const supportRank = supportRanks[player.salt % supportRanks.length] ?? null
  return {
    username: player.username,
    uuid: player.uuid,
    rank: 'Player',
    supportRank,
    shortenedRank: null,
    legacyRankColour: supportRank ? (colours[player.salt % colours.length] ?? null) : null,
    rankBadge: supportRank ? `nextgen/badges/rank_${supportRank}.svg` : null,
  }
}

/** What a player is called besides the name; null for most. */
export function nicknameOf({ salt, username }: Player): string | null {
  return salt % 9 === 0 ? `${username.slice(0, 6)}y` : null
}

/**
 * A player's profile (API reference 7.1). Groups that are hidden are absent; a hidden online status reads like being
 * offline.
 * @param withCharacters adds `characters`, unless they are hidden
 */
export function playerBody(realm: Realm, player: Player, withCharacters: boolean, hidden: Hidden) {
  const { username, uuid, membership, salt } = player
  const lastJoin = hidden.online ? player.shownLastJoin : player.lastJoin
  const identity = lightIdentity(player)
  return {
    username,
    online: player.session !== null && !hidden.online,
    server: hidden.online ? null : (worldOf(realm, player)?.name ?? null),
    activeCharacter: hidden.online || salt % 6 === 0 ? null : activeCharacter(player),
    nickname: nicknameOf(player),
    uuid,
    rank: identity.rank,
    rankBadge: identity.rankBadge,
    legacyRankColour: identity.legacyRankColour,
    shortenedRank: identity.shortenedRank,
    supportRank: identity.supportRank,
    veteran: salt % 4 === 0 ? null : salt % 40 === 1,
    lastJoin: lastJoin === null ? null : stamp(lastJoin),
    guild: membership && {
      uuid: membership.guild.uuid,
      name: membership.guild.name,
      prefix: membership.guild.prefix,
      rank: membership.rank.toUpperCase(),
      rankStars: stars[membership.rank] ?? null,
    },
    ...(hidden.main ? {} : mainGroups(player)),
    wallpaper: 'default',
    avatar: 'default',
    restrictions: {
      mainAccess: hidden.main,
      onlineStatus: hidden.online,
      characterListAccess: hidden.characterList,
      characterDataAccess: hidden.characterNumbers,
    },
    ...(withCharacters && !hidden.characterList ? { characters: fullCharacters(player, hidden) } : {}),
  }
}

function mainGroups(player: Player) {
  const { salt } = player
  const rank = 1 + (mix(salt, 3) % 90_000)
  return {
    ranking: { totalGlobalLevel: rank, playerContent: 1 + (mix(salt, 4) % 90_000) },
    previousRanking: { totalGlobalLevel: rank + (salt % 30), playerContent: 1 + (mix(salt, 4) % 90_000) + (salt % 7) },
    firstJoin: stamp(player.firstJoin),
    playtime: playtime(player),
    globalData: {
      ...countedTogether(player),
      guildRaids: listedRaids(counter(player, 'guildRaids')),
      raidStats: {
        damageTaken: counter(player, 'raids') * 4100,
        damageDealt: counter(player, 'raids') * 9_300_000,
        healthHealed: counter(player, 'raids') * 5200,
        deaths: Math.floor(counter(player, 'raids') / 6),
        buffsTaken: counter(player, 'raids') * 3,
        gambitsUsed: 0,
      },
    },
    featuredStats: {
      'globalData.chestsFound': counter(player, 'chestsFound'),
      'globalData.totalLevel': counter(player, 'totalLevel'),
      firstJoin: stamp(player.firstJoin),
      playtime: playtime(player),
    },
  }
}
