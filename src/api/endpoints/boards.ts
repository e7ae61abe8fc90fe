import { type CallOptions, readObject, readObjectOrList } from '../call.ts'
import type { Transport } from '../http/transport.ts'
import { readLeaderboard, readLeaderboardTypes } from '../schemas/leaderboards.ts'
import { readSearch } from '../schemas/search.ts'

/** How much of a board. */
export interface BoardCall extends CallOptions {
  /** Places; the service gives 100 when left out, and 1000 at least when request (API reference 3.6). */
  readonly resultLimit?: number | undefined
}

/** What to look for. */
export interface SearchCall extends CallOptions {
  /** Only this kind: `player`, `guild`, `item`, ...; several separated by commas. */
  readonly only?: string | undefined
}

/** Leaderboards, and the search over everything (API reference 3.6). */
export function boardEndpoints(transport: Transport) {
  return {
    leaderboards: {
      /** `GET /leaderboards/types`: names of the boards, such as `guildLevel`. New ones appear with seasons and raids. */
      types: (call: CallOptions = {}) =>
        readObjectOrList(transport, { route: '/leaderboards/types' }, call, readLeaderboardTypes),
      /** `GET /leaderboards/{type}`: the places of one board. NotFound or BadRequest for a board that does not exist. */
      get: (type: string, { resultLimit, ...call }: BoardCall = {}) => {
        const request = { route: '/leaderboards/{type}', segments: [type], query: { resultLimit } }
        return readObjectOrList(transport, request, call, readLeaderboard)
      },
    },
    /** `GET /search/{text}`: players, guilds, items, territories and discoveries with this in their name. */
    search: (text: string, { only, ...call }: SearchCall = {}) =>
      readObject(transport, { route: '/search/{text}', segments: [text], query: { only } }, call, readSearch),
  }
}
