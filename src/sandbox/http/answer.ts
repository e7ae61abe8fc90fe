/** Which of the two known forms of the API the sandbox speaks (plan, section 6). */
export type Dialect = 'live' | 'documented'

/** The caller, when a credential says so. */
export interface Requester {
  readonly kind: 'TOKEN' | 'OAUTH'
  /** The uuid of the player it belongs to. */
  readonly player: string
  /** The application, of an OAuth token. */
  readonly client?: string | undefined
  /** What may be shown that others do not see; undefined for everything the player sees. */
  readonly scopes?: readonly string[] | undefined
}

/** One request below the base path: `/v3/item/sets?x` has the path `/item/sets`. */
export interface ApiRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** The request's body as it came; undefined when there is none. */
  readonly body?: string | undefined
  /** The body's media type as sent. */
  readonly contentType?: string | undefined
  /** Undefined for guests. */
  readonly requester?: Requester | undefined
}

/** One request as a response hook sees it. */
export interface HookedRequest extends ApiRequest {
  readonly headers: Readonly<Record<string, string>>
  /** Sandbox clock, ms since the epoch. */
  readonly now: number
}

/**
 * What a hook answers instead of the route. `body` is sent as it is when it is text or bytes, otherwise as JSON.
 * With status 200 the usual cache headers are set, produced now; `headers` override them, null leaves one out.
 */
export interface HookAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body: unknown
}

/** Replaces the responses of one route; null or undefined lets the route answer as usual. */
export type AnswerHook = (
  request: HookedRequest,
) => HookAnswer | null | undefined | Promise<HookAnswer | null | undefined>

/** One produced response, byte-identical until it expires: for everybody, or for one requester when it is personal. */
export interface Copy {
  readonly plain: () => Uint8Array<ArrayBuffer>
  readonly gzip: () => Uint8Array<ArrayBuffer>
  /** The instant the response speaks for, ms since the epoch, whole seconds. */
  readonly producedAt: number
  /** The route's time to live, seconds (API reference 2.3). */
  readonly maxAge: number
  /** Further headers of this response; may be empty. */
  readonly headers: Readonly<Record<string, string>>
  /** True when others may get another answer. */
  readonly personal?: boolean
}

/** The API says no: becomes `{error, detail, code, objects?}` with the status as code (API reference 2.5). */
export interface Refusal {
  readonly status: 300 | 400 | 401 | 403 | 404 | 405 | 429
  readonly error: string
  readonly detail: string
  /** The matches of a 300, by uuid. */
  readonly objects?: Readonly<Record<string, unknown>>
  /** The methods that are answered, of a 405 (default GET and HEAD). */
  readonly allow?: string
}

/** What stands behind the routes: the generated world or a folder of recorded responses. */
export interface AnswerSource {
  /** Answers a request as of `now` (ms since the epoch), or says why not. */
  answer(request: ApiRequest, now: number): Copy | Refusal
}

export function isRefusal(found: object): found is Refusal {
  return 'error' in found
}

/** Remembers the first result of `make`. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** What the API says no to, in its own words. */
export const refuse = {
  /** A parameter with a value that the route does not take. */
  invalidQuery: (detail: string): Refusal => ({ status: 400, error: 'InvalidQueryParamsError', detail }),
  /** A field of a body with a value that the route does not take. */
  invalidForm: (detail: string): Refusal => ({ status: 400, error: 'InvalidFormError', detail }),
  malformedPayload: (detail: string): Refusal => ({ status: 400, error: 'MalformedPayload', detail }),
  invalidToken: (detail: string): Refusal => ({ status: 401, error: 'InvalidTokenError', detail }),
  /** What the caller may not see. */
  forbidden: (detail: string): Refusal => ({ status: 403, error: 'Forbidden', detail }),
  notFound: (detail = 'Resource not found.'): Refusal => ({ status: 404, error: 'NotFound', detail }),
  /** A path that is only answered for other methods. */
  methodNotAllowed: (method: string, allowed = 'GET'): Refusal => ({
    status: 405,
    error: 'MethodNotAllowed',
    detail: `Method "${method}" not allowed.`,
    allow: allowed === 'GET' ? 'GET, HEAD' : allowed,
  }),
}

/** A presence flag counts only without a value: `?fullResult=True` is ignored since August 2025 (API reference 4.2). */
export function hasFlag(query: URLSearchParams, name: string): boolean {
  return query.get(name) === ''
}
