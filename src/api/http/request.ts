import type { WireRequest } from './http-client.ts'

/** The public service; any server with the same interface will do. */
export const DEFAULT_BASE_URL = 'https://api.wynncraft.com/v3'

/** Priority class of a request: a poll that must not come late goes before a refresh, and that before a backfill. */
export type Lane = 'live' | 'refresh' | 'backfill'

/** One call of the API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST'
  /** The path as a template, `/guild/uuid/{uuid}`: all its requests share a bucket, which the first response names. */
  readonly route: string
  /** The path below the base URL, its variable parts already percent-encoded. */
  readonly path: string
  /** `true` is a presence flag, sent as bare `?flag`; undefined is left out. */
  readonly query?: Readonly<Record<string, string | number | true | undefined>> | undefined
  /** Body of a search, sent as JSON. */
  readonly json?: unknown
  /** Body of a form, `application/x-www-form-urlencoded`. */
  readonly form?: Readonly<Record<string, string>> | undefined
  /** Default `refresh`. */
  readonly lane?: Lane | undefined
  readonly signal?: AbortSignal | undefined
  /**
   * What the client's own credential is to this route. `optional`, the default: it raises limits, and once it is refused
   * requests go without it. `required`: the route responds to no guest. `none`: it is never sent.
   */
  readonly credential?: 'optional' | 'required' | 'none' | undefined
  /** False for what may happen once only: never sent again when it may have reached the server. Default true. */
  readonly repeatable?: boolean | undefined
  /** What must not be repeated from an error's text, besides the credential. */
  readonly secrets?: readonly string[] | undefined
}

/**
 * The call as it goes over the wire: target with query, and body with its content type.
 * @param guest leave the client's credential out
 */
export function wireRequest(request: ApiRequest, guest = false): WireRequest {
  const { method, path, query = {}, json, form, secrets } = request
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined) return []
    // A flag must have no value: `?fullResult=true` is ignored by the service (API reference 4.2).
    return value === true ? [encodeURIComponent(name)] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`]
  })
  const target = pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
  const bare = { method, target, guest, secrets }
  if (json !== undefined) return { ...bare, body: JSON.stringify(json), contentType: 'application/json' }
  if (form === undefined) return bare
  const contentType = 'application/x-www-form-urlencoded'
  return { ...bare, body: new URLSearchParams(form).toString(), contentType }
}
