import { gzipSync } from 'node:zlib'
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
} from '../answer.ts'
import { ttlOf } from '../ttl.ts'
import { fullCharacters, lightCharacters } from './bodies/characters.ts'
import { guildBody, type Identifier } from './bodies/guild.ts'
import { guildListBody, onlineBody, seasonsBody } from './bodies/lists.ts'
import { lightIdentity, playerBody } from './bodies/player.ts'
import { territoryWriter } from './bodies/territories.ts'
import { findGuilds, findPlayers } from './find.ts'
import type { Game } from './game.ts'
import { gzipParts, joinParts } from './parts.ts'
import type { Guild, Player } from './state.ts'
import { lastTick } from './time.ts'

/** What a route answers once it is known who is meant: the bytes, and further headers. */
type Produced = Pick<Copy, 'plain' | 'gzip'> & { readonly headers?: Copy['headers'] }

/** Serves the guild and player routes of a game, which is played up to the second of each request. */
export function gameSource(game: Game, dialect: Dialect, resourceSeconds: number): AnswerSource {
  const { realm } = game
  const territories = territoryWriter(realm, dialect, resourceSeconds)
  const kept = keepCopies()

  function answer(request: ApiRequest, now: number): Copy | Refusal {
    const { path, query, method } = request
    const at = game.advanceTo(now)
    const produce = route(path, query, at)
    if (isRefusal(produce)) return produce
    if (method !== 'GET') return methodNotAllowed(method)
    const parameters = [...query].map(([name, value]) => `${name}=${value}`).sort()
    return kept(`${path}?${parameters.join('&')}`, ttlOf(path), at, produce)
  }

  /** Finds what is asked for; its body is only written when no copy is left. */
  function route(path: string, query: URLSearchParams, at: number): (() => Produced) | Refusal {
    const identifier = identifierOf(query)
    if (typeof identifier !== 'string') return identifier
    const [, family, ...rest] = path.split('/')
    const [first = '', second = '', third = ''] = rest
    if (family === 'guild' && rest.length > 0) {
      if (path === '/guild/list/territory') return () => territoryList(at)
      if (path === '/guild/list/guild') return () => json(guildListBody(realm, identifier, dialect))
      if (path === '/guild/seasons') return () => json(seasonsBody(realm, dialect))
      const by = rest.length === 2 && (first === 'prefix' || first === 'uuid') ? first : 'name'
      const found = findGuilds(realm, by, by === 'name' ? rest.join('/') : second)
      return one(found, guildIdentity, (guild) => () => json(guildBody(realm, guild, identifier, dialect, at)))
    }
    if (family !== 'player') return notFound()
    if (rest.length === 0) return () => json(onlineBody(realm, identifier, query.get('server')))
    const found = findPlayers(realm, first)
    if (rest.length === 1) return one(found, lightIdentity, (player) => profile(player, query))
    if (second !== 'characters' || rest.length > 3) return notFound()
    return one(found, lightIdentity, (player) => characters(player, third))
  }

  function territoryList(at: number): Produced {
    const parts = territories(at)
    const plain = once(() => joinParts(parts))
    const headers = dialect === 'live' ? { TerritoryLastTick: tickHeader(at) } : {}
    return { plain, gzip: once(() => gzipParts(parts, plain())), headers }
  }

  function profile(player: Player, query: URLSearchParams): (() => Produced) | Refusal {
    // The documentation says so; the live service answers 200 with groups absent (API reference 7.3).
    if (dialect === 'documented' && player.hidesMain) return forbidden('This profile is private.')
    return () => json(playerBody(realm, player, hasFlag(query, 'fullResult')))
  }

  function characters(player: Player, uuid: string): (() => Produced) | Refusal {
    if (player.hidesCharacterList) return forbidden('This player limits who sees their characters.')
    if (uuid === '') return () => json(lightCharacters(player))
    const character = fullCharacters(player)[uuid]
    return character
      ? () => json(character)
      : { status: 404, error: 'NoCharacterFound', detail: 'No character with this uuid.' }
  }

  return { answer }
}

/** 404 when nothing matches, 300 when several do; never a guess. */
function one<T extends { readonly uuid: string }>(
  found: readonly T[],
  identity: (one: T) => unknown,
  go: (one: T) => (() => Produced) | Refusal,
): (() => Produced) | Refusal {
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

function json(body: unknown): Produced {
  const plain = Buffer.from(JSON.stringify(body))
  return { plain: () => plain, gzip: once(() => gzipSync(plain, { level: 1 })) }
}

/** `2026-05-30 12:34:56.417219+00:00`: not the form of the timestamps in bodies (API reference 2.3). */
function tickHeader(at: number): string {
  return `${new Date(lastTick(at)).toISOString().slice(0, -1).replace('T', ' ')}219+00:00`
}

/** Keeps each copy until it expires, and forgets expired ones now and then. */
function keepCopies() {
  const kept = new Map<string, Copy>()
  let sweepAt = 1000
  return (name: string, maxAge: number, at: number, produce: () => Produced): Copy => {
    const last = kept.get(name)
    if (last && at < last.producedAt + maxAge * 1000) return last
    const copy: Copy = { headers: {}, ...produce(), producedAt: at, maxAge }
    kept.set(name, copy)
    if (kept.size > sweepAt) {
      for (const [key, one] of kept) if (at >= one.producedAt + one.maxAge * 1000) kept.delete(key)
      sweepAt = 1000 + 2 * kept.size
    }
    return copy
  }
}
