import type { Dialect } from '../../http/answer.ts'
import { ratingAt } from '../boards/seasons.ts'
import { mix } from '../guilds/economy.ts'
import { type Rank, ranks } from '../guilds/ranks.ts'
import { counter } from '../people/counters.ts'
import { worldOf } from '../people/presence.ts'
import { hiddenFrom, type Viewer } from '../people/privacy.ts'
import type { Guild, Membership, Realm } from '../state.ts'
import { stamp } from '../time.ts'
import { countedTogether, listedRaids, playtime } from './counted.ts'

/** What the member maps are keyed by; the record carries the other one (API reference 6.2). */
export type Identifier = 'username' | 'uuid'

interface GuildView {
  readonly realm: Realm
  readonly identifier: Identifier
  readonly dialect: Dialect
  /** The instant it speaks for, ms. */
  readonly at: number
  /** The caller; undefined for guests. */
  readonly viewer: Viewer | undefined
}

/** A guild's profile (API reference 6.1). */
export function guildBody(guild: Guild, view: GuildView) {
  const { realm, identifier, dialect, at } = view
  const members = [...guild.members.values()]
  const byContribution = [...members].sort(
    (one, other) => counter(other.player, 'contributed') - counter(one.player, 'contributed'),
  )
  const position = new Map(byContribution.map((member, nth) => [member, nth + 1]))
  const ofRank = (rank: Rank) =>
    Object.fromEntries(
      members
        .filter((member) => member.rank === rank)
        .map((member) => [member.player[identifier], memberBody(member, position.get(member) ?? 0, view)]),
    )
  return {
    uuid: guild.uuid,
    name: guild.name,
    prefix: guild.prefix,
    level: guild.level,
    xpPercent: Math.floor(guild.xpPercent),
    territories: guild.holdings.size,
    wars: guild.wars,
    raids: guild.raids,
    created: stamp(guild.created),
    // Members who hide are counted here, although their record says that they are offline.
    online: members.filter(({ player }) => player.session).length,
    members: { total: members.length, ...Object.fromEntries(ranks.map((rank) => [rank, ofRank(rank)])) },
    banner: banner(guild, dialect),
    seasonRanks: seasonRanks(realm, guild, at),
    ranking: guild.fights && guild.salt % 3 > 0 ? { guildWars: 1 + (guild.salt % 90) } : {},
  }
}

function memberBody(member: Membership, position: number, view: GuildView) {
  const { player, guild } = member
  const { realm, identifier, dialect, at, viewer } = view
  const { uuid, username } = player
  const { online: hidesOnline, main: hidesMain } = hiddenFrom(player, viewer)
  const lastJoin = hidesOnline ? player.shownLastJoin : player.lastJoin
  const seesWeekly = viewer?.player.membership?.guild === guild && maySeeWeekly(viewer)
  const guildRaids = (name: 'guildRaids' | 'currentGuildRaids') =>
    guild.glitchUntil > at ? { total: 0, list: {} } : listedRaids(counter(player, name))
  const identity = dialect === 'documented' ? { uuid, username } : identifier === 'uuid' ? { username } : { uuid }
  return {
    ...identity,
    online: player.session !== null && !hidesOnline,
    lastJoin: lastJoin === null ? null : stamp(lastJoin),
    server: hidesOnline ? null : (worldOf(realm, player)?.name ?? null),
    contributed: counter(player, 'contributed'),
    contributionRank: position,
    joined: stamp(member.joined),
    weekly: seesWeekly ? { completed: player.salt % 3 === 0, streak: mix(player.salt, 5) % 40 } : {},
    ...(hidesMain
      ? {}
      : {
          globalData: {
            ...countedTogether(player),
            currentGuildRaids: guildRaids('currentGuildRaids'),
            guildRaids: guildRaids('guildRaids'),
            playtime: playtime(player),
          },
        }),
    restrictions: { online_status: hidesOnline, main_access: hidesMain, guild_high_ranked_access: !seesWeekly },
  }
}

/** Weekly objectives are shown to fellow members only (API reference 6.2), through applications that may see them. */
function maySeeWeekly({ scopes }: Viewer): boolean {
  return !scopes || scopes.includes('guild_high_ranked_access')
}

function seasonRanks(realm: Realm, guild: Guild, at: number) {
  const shown = new Map(guild.pastSeasons)
  const running = realm.runningSeason
  const rating = running ? ratingAt(guild, running, at) : 0
  if (running && rating > 0) shown.set(running.number, { rating, finalTerritories: 0 })
  return Object.fromEntries([...shown].map(([season, rank]) => [String(season), rank]))
}

const colours = 'WHITE BLACK RED BLUE LIGHT_BLUE GREEN LIME YELLOW MAGENTA SILVER'.split(' ')
const patterns = 'BRICKS GRADIENT GRADIENT_UP FLOWER CIRCLE_MIDDLE CROSS RHOMBUS_MIDDLE CURLY_BORDER'.split(' ')

/** A guild's banner; many have none. */
export function banner({ salt }: Guild, dialect: Dialect) {
  if (salt % 5 < 2) return null
  const colour = (nth: number) => colours[mix(salt, nth) % colours.length]
  const key = dialect === 'live' ? 'colour' : 'color'
  const tier = 1 + (salt % 7)
  return {
    base: colour(0),
    tier,
    ...(salt % 11 === 0 ? {} : { structure: `tier${tier}` }),
    layers: Array.from({ length: mix(salt, 7) % 8 }, (_, nth) => ({
      [key]: colour(nth + 1),
      pattern: patterns[mix(salt, nth + 20) % patterns.length],
    })),
  }
}
