import { loadoutBody, planAbilities, takenAbilities } from '../content/abilities.ts'
import {
  type AnswerSource,
  type ApiRequest,
  type Dialect,
  hasFlag,
  isRefusal,
  once,
  type Refusal,
  refuse,
} from '../http/answer.ts'
import { cachedSource, type Found, json, type Produced, shared } from '../http/cached-source.ts'
import { buildsOf, fullCharacters, lightCharacters } from './bodies/characters.ts'
import { guildBody, type Identifier } from './bodies/guild.ts'
import { guildListBody, onlineBody, seasonsBody } from './bodies/lists.ts'
import { lightIdentity, playerBody } from './bodies/player.ts'
import { territoryWriter } from './bodies/territories.ts'
import type { Game } from './game.ts'
import { gzipParts, joinParts, type Part } from './parts.ts'
import { audienceOf, hiddenFrom, isClose, type Viewer, viewerOf } from './people/privacy.ts'
import type { Guild, Player, Realm } from './state.ts'
import { lastTick } from './time.ts'

/**
 * The guilds a path can mean. A name means the guild written exactly so, otherwise all that differ only in case; a
 * prefix means all that differ only in case.
 */
function findGuilds(realm: Realm, by: 'name' | 'prefix' | 'uuid', asked: string): Guild[] {
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

interface Served {
  readonly realm: Realm
  readonly dialect: Dialect
  /** Decides the ability trees. */
  readonly seed: number
  readonly territories: (at: number) => Part[]
}

/** One request of a route: the path's segments after the family, who sends it, and when (ms since the epoch). */
interface Asked {
  readonly rest: readonly string[]
  readonly query: URLSearchParams
  readonly identifier: Identifier
  readonly viewer: Viewer | undefined
  readonly at: number
}

/**
 * Serves the guild and player routes of a game, which is played up to the second of each request.
 * @param resourceSeconds how often a territory's resources move
 * @param seed decides the ability trees
 */
export function gameSource(game: Game, dialect: Dialect, resourceSeconds: number, seed = 1): AnswerSource {
  const { realm } = game
  const served = { realm, dialect, seed, territories: territoryWriter(realm, dialect, resourceSeconds) }
  const find = ({ path, query, requester }: ApiRequest, at: number) => {
    const identifier = identifierOf(query)
    if (isRefusal(identifier)) return identifier
    const [, family, ...rest] = path.split('/')
    const asked = { rest, query, ...identifier, viewer: viewerOf(realm, requester), at }
    if (family === 'guild' && rest.length > 0) return guildRoute(served, asked)
    return family === 'player' ? playerRoute(served, asked) : refuse.notFound()
  }
  return cachedSource(find, (now) => game.advanceTo(now))
}

function guildRoute(served: Served, { rest, identifier, viewer, at }: Asked): Found | Refusal {
  const { realm, dialect } = served
  const path = rest.join('/')
  if (path === 'list/territory') return { write: () => territoryList(served, at) }
  if (path === 'list/guild') return shared(() => guildListBody(realm, identifier, dialect))
  if (path === 'seasons') return shared(() => seasonsBody(realm, dialect))
  const [kind, key = ''] = rest
  const by = rest.length === 2 && (kind === 'prefix' || kind === 'uuid') ? kind : 'name'
  const identity = ({ uuid, name, prefix }: Guild) => ({ uuid, name, prefix })
  return onlyMatch(findGuilds(realm, by, by === 'name' ? path : key), identity, (guild) => {
    const close = viewer && [...guild.members.keys()].some((member) => isClose(viewer, member)) ? viewer : undefined
    return {
      write: () => json(guildBody(guild, { realm, identifier, dialect, at, viewer: close })),
      audience: audienceOf(close),
    }
  })
}

function playerRoute(served: Served, asked: Asked): Found | Refusal {
  const { rest, query, identifier, at } = asked
  const [name = '', family, , part] = rest
  if (rest.length === 0) return shared(() => onlineBody(served.realm, identifier, query.get('server'), at))
  const isCharacter = family === 'characters' && rest.length <= 4 && (part === undefined || part === 'abilities')
  if (rest.length > 1 && !isCharacter) return refuse.notFound()
  return onlyMatch(findPlayers(served.realm, name), lightIdentity, (player) => {
    const viewer = asked.viewer && isClose(asked.viewer, player) ? asked.viewer : undefined
    const write = rest.length === 1 ? profile(served, asked, player, viewer) : characters(served, asked, player, viewer)
    return isRefusal(write) ? write : { write: () => json(write()), audience: audienceOf(viewer) }
  })
}

type Body = () => unknown

function profile({ realm, dialect }: Served, { query }: Asked, player: Player, viewer?: Viewer): Body | Refusal {
  const hidden = hiddenFrom(player, viewer)
  // The documentation says so; the live service answers 200 with groups absent (API reference 7.3).
  if (dialect === 'documented' && hidden.main) return refuse.forbidden('This profile is private.')
  return () => playerBody(realm, player, hasFlag(query, 'fullResult'), hidden)
}

function characters({ seed }: Served, { rest }: Asked, player: Player, viewer?: Viewer): Body | Refusal {
  const hidden = hiddenFrom(player, viewer)
  const [, , asked = '', part] = rest
  const uuid = asked.toLowerCase()
  if (hidden.characterList) return refuse.forbidden('This player limits who sees their characters.')
  if (uuid === '' && part === undefined) return () => lightCharacters(player)
  if (!/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(uuid))
    return { status: 400, error: 'InvalidCharacterUUID', detail: 'This is not the uuid of a character.' }
  const build = buildsOf(player).get(uuid)
  if (!build) return { status: 404, error: 'NoCharacterFound', detail: 'No character with this uuid.' }
  if (part === undefined) return () => fullCharacters(player, hidden)[uuid]
  if (hidden.build) return refuse.forbidden('This player limits who sees their builds.')
  const plan = planAbilities(seed, build.className)
  return () => loadoutBody(plan, takenAbilities(plan, build.salt, build.level))
}

function territoryList({ territories, dialect }: Served, at: number): Produced {
  const parts = territories(at)
  const plain = once(() => joinParts(parts))
  const headers = dialect === 'live' ? { TerritoryLastTick: tickHeader(at) } : {}
  return { plain, gzip: once(() => gzipParts(parts, plain())), headers }
}

/** 404 when nothing matches, 300 when several do; never a guess. */
function onlyMatch<T extends { readonly uuid: string }>(
  matches: readonly T[],
  identity: (match: T) => unknown,
  find: (match: T) => Found | Refusal,
): Found | Refusal {
  const [first] = matches
  if (!first) return refuse.notFound()
  if (matches.length === 1) return find(first)
  return {
    status: 300,
    error: 'MultipleObjectsReturned',
    detail: 'Query returned multiple results.',
    objects: Object.fromEntries(matches.map((match) => [match.uuid, identity(match)])),
  }
}

function identifierOf(query: URLSearchParams): { readonly identifier: Identifier } | Refusal {
  const asked = query.get('identifier') ?? 'username'
  if (asked === 'uuid') return { identifier: 'uuid' }
  if (asked === 'username' || asked === 'name') return { identifier: 'username' }
  return refuse.invalidQuery('identifier must be username or uuid.')
}

/** `2026-05-30 12:34:56.417219+00:00`: not the form of the timestamps in bodies (API reference 2.3). */
function tickHeader(at: number): string {
  return `${new Date(lastTick(at)).toISOString().slice(0, -1).replace('T', ' ')}219+00:00`
}
