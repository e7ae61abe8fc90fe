import { discoveries } from '../../content/places.ts'
import type { Item } from '../../generator/records.ts'
import { type AnswerSource, type ApiRequest, type Dialect, type Refusal, refuse } from '../../http/answer.ts'
import { cachedSource, type Found, json, shared } from '../../http/cached-source.ts'
import type { Game } from '../game.ts'
import { locationsBody } from '../guilds/locations.ts'
import { audienceOf, viewerOf } from '../people/privacy.ts'
import { kindsOf, searchBody } from '../search.ts'
import { leaderboardBody, leaderboardTypes } from './leaderboards.ts'

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
