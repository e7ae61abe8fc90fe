import { systemClock } from '../base/clock.ts'
import { boardEndpoints } from './endpoints/boards.ts'
import { classEndpoints } from './endpoints/classes.ts'
import { guildEndpoints } from './endpoints/guilds.ts'
import { itemEndpoints } from './endpoints/items.ts'
import { mapEndpoints } from './endpoints/map.ts'
import { oauthEndpoints } from './endpoints/oauth.ts'
import { playerEndpoints } from './endpoints/players.ts'
import { articleEndpoints, newsEndpoints } from './endpoints/publisher.ts'
import { recipeEndpoints } from './endpoints/recipes.ts'
import { DEFAULT_BASE_URL } from './http/request.ts'
import {
  createTransport,
  type KnownBody,
  type Recorder,
  type Transport,
  type TransportOptions,
} from './http/transport.ts'

export type { CallOptions } from './call.ts'
export { DEFAULT_BASE_URL } from './http/request.ts'

/** How to reach the API. Everything has a default. */
export interface ClientOptions extends Omit<TransportOptions, 'baseUrl' | 'maxBytes'> {
  /** Where the interface begins, path prefix included. Default `https://api.wynncraft.com/v3`. */
  readonly baseUrl?: string | undefined
  /** Where responses come from instead of the network, such as from recordings; the other options mean nothing then. */
  readonly transport?: Transport | undefined
}

/** The client, one method per endpoint. */
export interface Api extends ReturnType<typeof endpointsOf> {
  /**
   * The same client, whose exchanges are recorded too, and which counts its own requests; budgets and connections are shared.
   * @param isKnown which bodies are not parsed: a call that gets one throws KnownResponse
   */
  withRecorder(record: Recorder, isKnown?: KnownBody): Api
}

/**
 * A client of the API. Every method throws the errors of `errors.ts`: RetryableError when the service is unavailable now,
 * ApiError and its subclasses when it refused.
 */
export function createClient(options: ClientOptions = {}): Api {
  const { baseUrl = DEFAULT_BASE_URL, clock = systemClock, random = Math.random, ...rest } = options
  return clientOf(options.transport ?? createTransport({ baseUrl, clock, random, ...rest }))
}

function clientOf(transport: Transport): Api {
  return Object.assign(endpointsOf(transport), {
    withRecorder: (record: Recorder, isKnown?: KnownBody) => clientOf(transport.withRecorder(record, isKnown)),
  })
}

/** Each response has a client of its own, which uses one or two of these groups: a group is made where it is used. */
function endpointsOf(transport: Transport) {
  return {
    /** Items, item sets, and the words they are made of. */
    get items() {
      return itemEndpoints(transport)
    },
    /** Crafting recipes. */
    get recipes() {
      return recipeEndpoints(transport)
    },
    /** Guilds, territories and guild seasons. */
    get guilds() {
      return guildEndpoints(transport)
    },
    /** Access tokens of players. */
    get oauth() {
      return oauthEndpoints(transport)
    },
    /** Players, their characters, and who is online. */
    get players() {
      return playerEndpoints(transport)
    },
    /** Articles of the website. */
    get articles() {
      return articleEndpoints(transport)
    },
    /** Videos about the game. */
    get videos() {
      return newsEndpoints(transport).videos
    },
    /** What the launcher shows. */
    get latestNews() {
      return newsEndpoints(transport).latestNews
    },
    /** Ranks of players and guilds. */
    get leaderboards() {
      return boardEndpoints(transport).leaderboards
    },
    /** A search over everything. */
    get search() {
      return boardEndpoints(transport).search
    },
    /** Ability trees of classes. */
    get abilities() {
      return classEndpoints(transport).abilities
    },
    /** Aspects of classes. */
    get aspects() {
      return classEndpoints(transport).aspects
    },
    /** Classes and their archetypes. */
    get classes() {
      return classEndpoints(transport).classes
    },
    /** Markers, world events, camps, raids, gathering nodes. */
    get map() {
      return mapEndpoints(transport)
    },
    /**
     * How many requests of this route's bucket the running window still allows, those in flight subtracted, those that
     * wait in the queue not. Null while unknown: before the first response, after the window's end, without headers.
     * @param route the path as a template, `/guild/uuid/{uuid}`
     */
    remaining: (route: string): number | null => transport.remaining(route),
    /** HTTP requests sent so far, repeats included. */
    requestsSent: () => transport.requestsSent(),
    /** Ends every waiting and running request and closes the connections. */
    close: () => transport.close(),
  }
}
