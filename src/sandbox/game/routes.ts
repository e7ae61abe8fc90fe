import { loadoutBody } from '../content/abilities.ts'
import { planAbilities, takenAbilities } from '../content/ability-plan.ts'
import {
  type AnswerSource,
  type ApiRequest,
  type Copy,
  type Dialect,
  hasFlag,
  isRefusal,
  methodNotAllowed,
  notFound,
  once,
  type Refusal,
  type Requester,
} from '../http/answer.ts'
import { ttlOf } from '../http/ttl.ts'
import { type Found, json, keepCopies, type Produced, shared } from './boards/cached-copies.ts'
import { buildsOf, fullCharacters, lightCharacters } from './bodies/characters.ts'
import { guildBody, type Identifier } from './bodies/guild.ts'
import { guildListBody, onlineBody, seasonsBody } from './bodies/lists.ts'
import { lightIdentity, playerBody } from './bodies/player.ts'
import { territoryWriter } from './bodies/territories.ts'
import { findGuilds, findPlayers } from './find.ts'
import type { Game } from './game.ts'
import { gzipParts, joinParts } from './parts.ts'
import { hiddenFrom, isClose, type Viewer, viewerOf } from './people/privacy.ts'
import type { Guild, Player } from './state.ts'
import { lastTick } from './time.ts'

/**
 * Serves the guild and player routes of a game, which is played up to the second of each request.
 * @param resourceSeconds how often a territory's resources move
 * @param seed decides the ability trees
 */
export function gameSource(game: Game, dialect: Dialect, resourceSeconds: number, seed = 1): AnswerSource {
  const { realm } = game
  const territories = territoryWriter(realm, dialect, resourceSeconds)
  const kept = keepCopies()

  function answer(request: ApiRequest, now: number): Copy | Refusal {
    const { path, query, method } = request
    const at = game.advanceTo(now)
    const found = route(path, query, at, request.requester)
    if (isRefusal(found)) return found
    if (method !== 'GET') return methodNotAllowed(method)
    const parameters = [...query].map(([name, value]) => `${name}=${value}`).sort()
    return kept(`${path}?${parameters.join('&')}`, ttlOf(path), at, found)
  }

  /** Finds what is asked for; its body is only written when no copy is left. */
  function route(path: string, query: URLSearchParams, at: number, requester?: Requester): Found | Refusal {
    const identifier = identifierOf(query)
    if (typeof identifier !== 'string') return identifier
    const [, family, ...rest] = path.split('/')
    const [first = '', second = '', third = '', fourth] = rest
    const viewer = viewerOf(realm, requester)
    if (family === 'guild' && rest.length > 0) {
      if (path === '/guild/list/territory') return { write: () => territoryList(at) }
      if (path === '/guild/list/guild') return shared(() => guildListBody(realm, identifier, dialect))
      if (path === '/guild/seasons') return shared(() => seasonsBody(realm, dialect))
      const by = rest.length === 2 && (first === 'prefix' || first === 'uuid') ? first : 'name'
      const found = findGuilds(realm, by, by === 'name' ? rest.join('/') : second)
      return one(found, guildIdentity, (guild) => {
        const close = viewer && [...guild.members.keys()].some((member) => isClose(viewer, member)) ? viewer : undefined
        return { write: () => json(guildBody(realm, guild, identifier, dialect, at, close)), viewer: close }
      })
    }
    if (family !== 'player') return notFound()
    if (rest.length === 0) return shared(() => onlineBody(realm, identifier, query.get('server'), at))
    const found = findPlayers(realm, first)
    if (rest.length === 1) return one(found, lightIdentity, (player) => profile(player, query, viewer))
    if (second !== 'characters' || rest.length > 4 || (fourth !== undefined && fourth !== 'abilities'))
      return notFound()
    return one(found, lightIdentity, (player) => characters(player, third, fourth, viewer))
  }

  function territoryList(at: number): Produced {
    const parts = territories(at)
    const plain = once(() => joinParts(parts))
    const headers = dialect === 'live' ? { TerritoryLastTick: tickHeader(at) } : {}
    return { plain, gzip: once(() => gzipParts(parts, plain())), headers }
  }

  function profile(player: Player, query: URLSearchParams, asking: Viewer | undefined): Found | Refusal {
    const viewer = asking && isClose(asking, player) ? asking : undefined
    const hidden = hiddenFrom(player, viewer)
    // The documentation says so; the live service answers 200 with groups absent (API reference 7.3).
    if (dialect === 'documented' && hidden.main) return forbidden('This profile is private.')
    return { write: () => json(playerBody(realm, player, hasFlag(query, 'fullResult'), hidden)), viewer }
  }

  function characters(
    player: Player,
    uuid: string,
    part: string | undefined,
    asking: Viewer | undefined,
  ): Found | Refusal {
    const viewer = asking && isClose(asking, player) ? asking : undefined
    const hidden = hiddenFrom(player, viewer)
    if (hidden.characterList) return forbidden('This player limits who sees their characters.')
    if (uuid === '' && part === undefined) return { write: () => json(lightCharacters(player)), viewer }
    if (!/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(uuid))
      return { status: 400, error: 'InvalidCharacterUUID', detail: 'This is not the uuid of a character.' }
    const build = buildsOf(player).get(uuid.toLowerCase())
    if (!build) return { status: 404, error: 'NoCharacterFound', detail: 'No character with this uuid.' }
    if (part === undefined) return { write: () => json(fullCharacters(player, hidden)[uuid.toLowerCase()]), viewer }
    if (hidden.build) return forbidden('This player limits who sees their builds.')
    const plan = planAbilities(seed, build.className)
    return { write: () => json(loadoutBody(plan, takenAbilities(plan, build.salt, build.level))), viewer }
  }

  return { answer }
}

/** 404 when nothing matches, 300 when several do; never a guess. */
function one<T extends { readonly uuid: string }>(
  found: readonly T[],
  identity: (one: T) => unknown,
  go: (one: T) => Found | Refusal,
): Found | Refusal {
  const [first] = found
  if (!first) return notFound()
  if (found.length === 1) return go(first)
  return {
    status: 300,
    error: 'MultipleObjectsReturned',
    detail: 'Query returned multiple results.',
    objects: Object.fromEntries(found.map((match) => [match.uuid, identity(match)])),
  }
}

function guildIdentity({ uuid, name, prefix }: Guild) {
  return { uuid, name, prefix }
}

function forbidden(detail: string): Refusal {
  return { status: 403, error: 'Forbidden', detail }
}

function identifierOf(query: URLSearchParams): Identifier | Refusal {
  const asked = query.get('identifier') ?? 'username'
  if (asked === 'uuid') return 'uuid'
  if (asked === 'username' || asked === 'name') return 'username'
  return { status: 400, error: 'InvalidQueryParamsError', detail: 'identifier must be username or uuid.' }
}

/** `2026-05-30 12:34:56.417219+00:00`: not the form of the timestamps in bodies (API reference 2.3). */
function tickHeader(at: number): string {
  return `${new Date(lastTick(at)).toISOString().slice(0, -1).replace('T', ' ')}219+00:00`
}
