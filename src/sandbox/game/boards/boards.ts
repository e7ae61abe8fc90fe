import { discoveries } from '../../content/source.ts'
import type { Item } from '../../generator/records.ts'
import { type AnswerSource, type ApiRequest, type Dialect, type Refusal, refuse } from '../../http/answer.ts'
import { cachedSource, type Found, json, shared } from '../../http/cached-source.ts'
import { banner } from '../bodies/guild.ts'
import { lightIdentity } from '../bodies/player.ts'
import type { Game } from '../game.ts'
import { mix } from '../guilds/economy.ts'
import { locationsBody } from '../guilds/locations.ts'
import { type CounterName, counter } from '../people/counters.ts'
import { audienceOf, hiddenFrom, viewerOf } from '../people/privacy.ts'
import { kindsOf, searchBody } from '../search.ts'
import type { Guild, Player, Realm } from '../state.ts'
import { stamp } from '../time.ts'
import { ratingAt } from './seasons.ts'

/** What is shown besides the game itself. */
interface BoardSettings {
  readonly dialect: Dialect
  readonly seed: number
  readonly items: () => readonly Item[]
}

const families = /^\/(leaderboards\/.|search\/.|map\/locations\/player$)/

/** Whether a path is answered by `boardSource`. */
export function isBoard(path: string): boolean {
  return families.test(path)
}

/** Serves what is computed from a game as a whole: leaderboards, the search, where players are. */
export function boardSource(game: Game, { dialect, seed, items }: BoardSettings): AnswerSource {
  const { realm } = game
  const found = discoveries(seed)

  function find(request: ApiRequest, at: number): Found | Refusal {
    const { path, query } = request
    const [, family, ...rest] = path.split('/')
    if (family === 'leaderboards') return leaderboard(rest.join('/'), query.get('resultLimit'), at)
    if (family === 'search') return search(rest.join('/'), query.get('only'))
    return locations(request, at)
  }

  function leaderboard(type: string, asked: string | null, at: number): Found | Refusal {
    if (type === 'types') return shared(() => leaderboardTypes(realm))
    const limit = asked === null ? 100 : /^\d{1,4}$/.test(asked) ? Number(asked) : 0
    if (limit < 1 || limit > 1000) return refuse.invalidQuery('resultLimit must be a number from 1 to 1000.')
    if (!leaderboardTypes(realm).includes(type)) return refuse.invalidQuery('There is no such leaderboard.')
    return shared(() => leaderboardBody(realm, type, limit, dialect, at))
  }

  function search(text: string, only: string | null): Found | Refusal {
    const kinds = kindsOf(only)
    if (!kinds) return refuse.invalidQuery('only must name a kind of result.')
    return shared(() => searchBody({ realm, items: items(), discoveries: found }, text, kinds))
  }

  function locations({ requester }: ApiRequest, at: number): Found | Refusal {
    const viewer = viewerOf(realm, requester)
    if (viewer) return { write: () => json(locationsBody(realm, viewer, at)), audience: audienceOf(viewer) }
    // Only the documentation says that guests are refused.
    if (dialect === 'documented') return refuse.forbidden('Authentication is required.')
    return shared(() => [])
  }

  return cachedSource(find, (now) => game.advanceTo(now))
}

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
function leaderboardTypes(realm: Realm): string[] {
  const seasons = realm.seasons.map(({ number }) => `guildSeason${number}`)
  return [...Object.keys(guildBoards), 'guildTotalRaids', ...seasons, ...Object.keys(playerBoards)]
}

/**
 * The body of `/leaderboards/{type}`, one of `leaderboardTypes`, as of an instant in ms, by position from 1 (API reference
 * 3.6). A player who restricts the main profile is listed without a name.
 */
function leaderboardBody(realm: Realm, type: string, limit: number, dialect: Dialect, at: number) {
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
