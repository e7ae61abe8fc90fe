import type { Dialect } from '../../http/answer.ts'
import { banner } from '../bodies/guild.ts'
import { lightIdentity } from '../bodies/player.ts'
import { mix } from '../guilds/economy.ts'
import { type CounterName, counter } from '../people/counters.ts'
import { hiddenFrom } from '../people/privacy.ts'
import type { Guild, Player, Realm } from '../state.ts'
import { stamp } from '../time.ts'
import { ratingAt } from './seasons.ts'

type GuildScore = (guild: Guild) => number

/** Boards whose entries are of an older form, with the guild's numbers instead of a score. */
const guildBoards: Readonly<Record<string, GuildScore>> = {
  guildLevel: ({ level, xpPercent }) => level + xpPercent / 100,
  guildTerritories: ({ holdings }) => holdings.size,
  guildWars: ({ wars }) => wars ?? 0,
}
const playerBoards: Readonly<Record<string, CounterName>> = {
  totalGlobalLevel: 'totalLevel',
  playerContent: 'contentCompletion',
  globalPlayerContent: 'completedQuests',
  warsCompletion: 'wars',
}

/** The body of `/leaderboards/types`: one more with every season (API reference 8). */
export function leaderboardTypes(realm: Realm): string[] {
  const seasons = realm.seasons.map(({ number }) => `guildSeason${number}`)
  return [...Object.keys(guildBoards), 'guildTotalRaids', ...seasons, ...Object.keys(playerBoards)]
}

/**
 * The body of `/leaderboards/{type}`, one of `leaderboardTypes`, as of an instant in ms, by position from 1 (API reference
 * 3.6). A player who restricts the main profile is listed without a name.
 */
export function leaderboardBody(realm: Realm, type: string, limit: number, dialect: Dialect, at: number) {
  const byCounter = playerBoards[type]
  if (byCounter) {
    const players = top(realm.people, limit, (player) => counter(player, byCounter))
    return byPosition(players, ([player, score], position) => playerEntry(player, score, position))
  }
  const legacy = guildBoards[type]
  const guilds = top([...realm.guilds.values()], limit, legacy ?? seasonOrRaids(realm, type, at))
  return byPosition(guilds, ([guild, score], position) =>
    legacy ? legacyEntry(guild, dialect) : guildEntry(guild, score, position, dialect),
  )
}

function seasonOrRaids(realm: Realm, type: string, at: number): GuildScore {
  if (type === 'guildTotalRaids') return ({ raids }) => raids
  const season = realm.seasons.find(({ number }) => type === `guildSeason${number}`)
  if (season && season === realm.runningSeason) return (guild) => ratingAt(guild, season, at)
  return ({ pastSeasons }) => pastSeasons.get(season?.number ?? -1)?.rating ?? 0
}

/** Those with the highest scores, the highest first; who scores nothing is on no board. */
function top<T extends { readonly uuid: string }>(all: readonly T[], limit: number, scoreOf: (one: T) => number) {
  return all
    .map((one) => [one, scoreOf(one)] as const)
    .filter(([, score]) => score > 0)
    .sort(([one, score], [other, otherScore]) => otherScore - score || (one.uuid < other.uuid ? -1 : 1))
    .slice(0, limit)
}

function byPosition<T>(ranked: readonly T[], entry: (one: T, position: number) => unknown) {
  return Object.fromEntries(ranked.map((one, nth) => [String(nth + 1), entry(one, nth + 1)]))
}

function legacyEntry(guild: Guild, dialect: Dialect) {
  const { uuid, name, prefix, level, xpPercent, holdings, wars, members, created } = guild
  return {
    uuid,
    name,
    prefix,
    level,
    xp: Math.floor(level ** 3 * 10_000 * (1 + xpPercent / 100)),
    territories: holdings.size,
    wars: wars ?? 0,
    members: members.size,
    created: stamp(created),
    banner: banner(guild, dialect),
  }
}

function guildEntry(guild: Guild, score: number, position: number, dialect: Dialect) {
  const { uuid, name, prefix, salt } = guild
  return {
    metaScore: metaScore(score, salt),
    uuid,
    name,
    prefix,
    score,
    metadata: { completions: score, gambits: 0 },
    banner: banner(guild, dialect),
    previousRanking: position + (salt % 5),
  }
}

function playerEntry(player: Player, score: number, position: number) {
  const { username, uuid, salt } = player
  const restricted = hiddenFrom(player, undefined).main
  const { rank, supportRank, shortenedRank, legacyRankColour, rankBadge } = lightIdentity(player)
  return {
    metaScore: metaScore(score, salt),
    name: restricted ? 'redacted' : username,
    uuid: restricted ? 'redacted' : uuid,
    score,
    metadata: { playtime: counter(player, 'playtime') },
    ...(restricted ? {} : { rank, supportRank, shortenedRank, legacyRankColour, rankBadge }),
    previousRanking: position + (salt % 7),
    restricted,
  }
}

/** The score with what decides between equals behind it; beyond 10^15 for some (API reference 8). */
function metaScore(score: number, salt: number): number {
  return Math.floor(score) * 1_000_000 + (mix(salt, 11) % 1_000_000)
}
