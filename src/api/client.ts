import { type Clock, type Random, systemClock } from '../clock.ts'
import { type Answer, withBody } from './answer.ts'
import { type CallOptions, readObject } from './call.ts'
import { guildEndpoints } from './endpoints/guilds.ts'
import { playerEndpoints } from './endpoints/players.ts'
import { type Listing, readListing, type Walk, type WalkProgress, walkAll } from './pages.ts'
import { createTransport, type RequestEvent, type Timeouts } from './transport.ts'

export type { CallOptions } from './call.ts'

/** The public service; any server with the same interface will do. */
export const DEFAULT_BASE_URL = 'https://api.wynncraft.com/v3'

/** How to reach the API. Everything has a default. */
export interface ClientOptions {
  /** Where the interface begins, path prefix included. Default `https://api.wynncraft.com/v3`. */
  readonly baseUrl?: string | undefined
  /** API token or OAuth access token, sent as `Authorization: Bearer`. Default none: a guest with lower limits. */
  readonly token?: string | undefined
  /** Default `wynnsync/<version>`. */
  readonly userAgent?: string | undefined
  /** Requests in flight per rate-limit bucket. Default 4. */
  readonly concurrency?: number | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  readonly timeouts?: Partial<Timeouts> | undefined
  /** Told about every request that was sent, repeats included, for logs and metrics. */
  readonly onRequest?: ((event: RequestEvent) => void) | undefined
}

/** One page of a listing, or all of it. */
export interface PageOptions extends CallOptions {
  /** Page number as a controller named it; leave it out for the first page. */
  readonly page?: number | undefined
  /** Ask for everything in one body. */
  readonly fullResult?: boolean | undefined
}

/** A whole listing. */
export interface AllOptions extends CallOptions {
  /** Go page by page instead of asking for everything in one body. */
  readonly walk?: boolean | undefined
  readonly onProgress?: ((progress: WalkProgress) => void) | undefined
}

/** The client, one method per endpoint. */
export type Api = ReturnType<typeof createClient>

/**
 * A client of the API. Every method throws the errors of `errors.ts`: RetryableError when the service could not answer
 * now, ApiError and its subclasses when it refused.
 */
export function createClient(options: ClientOptions = {}) {
  const { baseUrl = DEFAULT_BASE_URL, clock = systemClock, random = Math.random, ...rest } = options
  const transport = createTransport({ baseUrl, clock, random, ...rest })

  /** A listing endpoint: `flag` is its own spelling of "everything in one body". */
  function listing(route: string, flag: string) {
    const database = async ({ page, fullResult, lane, signal }: PageOptions = {}): Promise<Answer<Listing>> => {
      const query = { page, [flag]: fullResult === true ? (true as const) : undefined }
      const answer = await transport.send({ method: 'GET', route, path: route, query, lane, signal })
      return withBody(answer, readListing(answer.body))
    }
    const all = ({ walk = false, onProgress, lane, signal }: AllOptions = {}): Promise<Walk> => {
      // Only the first request carries the flag: a server that ignored it once is walked page by page from then on.
      let fullResult = !walk
      const fetchPage = (page: number | undefined) => {
        const flagged = fullResult
        fullResult = false
        return database({ page, fullResult: flagged, lane, signal })
      }
      return walkAll({ fetchPage, keyOf: internalName, onProgress, signal })
    }
    return { database, all }
  }

  return {
    items: {
      /** `GET /item/database`: one page of items, or all of them. */
      ...listing('/item/database', 'fullResult'),
      /** `GET /item/metadata`: the enumerations; with `static`, the numeric ids. */
      metadata: ({ static: ids = false, ...call }: CallOptions & { readonly static?: boolean | undefined } = {}) =>
        readObject(transport, { route: '/item/metadata', query: { static: ids || undefined } }, call),
      /** `GET /item/sets`: item sets by name. */
      sets: (call: CallOptions = {}) => readObject(transport, { route: '/item/sets' }, call),
    },
    /** `GET /item/recipe/database`: one page of recipes, or all of them. */
    recipes: listing('/item/recipe/database', 'full_result'),
    /** Guilds, territories and guild seasons. */
    guilds: guildEndpoints(transport),
    /** Players, their characters, and who is online. */
    players: playerEndpoints(transport),
    /**
     * How many requests of this route's bucket the running window still allows, those in flight subtracted, those that
     * wait in the queue not. Null when no answer has told: before the first, after the window's end, without headers.
     * @param route the path as a template, `/guild/uuid/{uuid}`
     */
    remaining: (route: string): number | null => transport.remaining(route),
    /** HTTP requests sent so far, repeats included. */
    requestsSent: () => transport.requestsSent(),
    /** Ends every waiting and running request and closes the connections. */
    close: () => transport.close(),
  }
}

function internalName(record: unknown): string | null {
  if (typeof record !== 'object' || record === null || !('internalName' in record)) return null
  return typeof record.internalName === 'string' ? record.internalName : null
}
