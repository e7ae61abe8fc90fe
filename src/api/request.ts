import type { WireRequest } from './exchange.ts'

/** Priority class of a request: a poll that must not come late goes before a refresh, and that before a backfill. */
export type Lane = 'live' | 'refresh' | 'backfill'

/** One call of the API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST'
  /** The path as a template, `/guild/uuid/{uuid}`: all its requests share a bucket, which the first answer names. */
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
}

/** The call as it goes over the wire: target with query, and body with its content type. */
export function wireRequest({ method, path, query = {}, json, form }: ApiRequest): WireRequest {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    if (value === undefined) return []
    // A flag must have no value: `?fullResult=true` is ignored by the service (API reference 4.2).
    return value === true ? [encodeURIComponent(name)] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`]
  })
  const target = pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
  if (json !== undefined) return { method, target, body: JSON.stringify(json), contentType: 'application/json' }
  if (form === undefined) return { method, target }
  const contentType = 'application/x-www-form-urlencoded'
  return { method, target, body: new URLSearchParams(form).toString(), contentType }
}
