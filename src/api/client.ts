import { type Clock, type Random, systemClock } from '../clock.ts'
import { RetryableError } from '../errors.ts'
import { type Answer, withBody } from './answer.ts'
import { type Listing, readListing, type Walk, type WalkProgress, walkAll } from './pages.ts'
import { createTransport, type Lane, type RequestEvent, type Timeouts } from './transport.ts'

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

/** What every call accepts: who waits first, and how to give up. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Priority class; default `refresh`. */
  readonly lane?: Lane | undefined
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

  async function readObject(route: string, query: Record<string, true | undefined>, { lane, signal }: CallOptions) {
    const answer = await transport.send({ method: 'GET', route, path: route, query, lane, signal })
    return withBody(answer, requireObject(answer.body, route))
  }

  return {
    items: {
      /** `GET /item/database`: one page of items, or all of them. */
      ...listing('/item/database', 'fullResult'),
      /** `GET /item/metadata`: the enumerations; with `static`, the numeric ids. */
      metadata: ({ static: ids = false, ...call }: CallOptions & { readonly static?: boolean | undefined } = {}) =>
        readObject('/item/metadata', { static: ids || undefined }, call),
      /** `GET /item/sets`: item sets by name. */
      sets: (call: CallOptions = {}) => readObject('/item/sets', {}, call),
    },
    /** `GET /item/recipe/database`: one page of recipes, or all of them. */
    recipes: listing('/item/recipe/database', 'full_result'),
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

function requireObject(body: unknown, route: string): Record<string, unknown> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...body }
  throw new RetryableError(`unexpected shape: ${route} should answer with an object`, { context: { path: route } })
}
