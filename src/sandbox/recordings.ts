import {
  type Recorded,
  readBody,
  readGzippedBody,
  readIndex,
  requestName,
} from '../api/schemas/recordings/recording-index.ts'
import { parseJsonBytes } from '../base/text/decode.ts'
import { type AnswerSource, type ApiRequest, type Copy, isRefusal, once, type Refusal, refuse } from './http/answer.ts'
import { json } from './http/cached-source.ts'
import { type AnswerForm, cutPage, pageNumber } from './http/paging.ts'
import { ttlOf } from './http/ttl.ts'

/** A folder of recorded responses, served as of the clock. */
export interface Recordings extends AnswerSource {
  /** The instant of the first recorded response, of all or of one path; undefined when there is none. Ms since the epoch. */
  firstInstant(path?: string): number | undefined
  /** All instants at which the response of `path` (in any form) changed, rising, ms since the epoch. */
  instants(path: string): readonly number[]
}

/** The collections that can be cut into pages, with the flag that asks for all of it (API reference 4.2). */
const fullFlags: Readonly<Record<string, string>> = {
  '/item/database': 'fullResult',
  '/item/recipe/database': 'full_result',
}

/**
 * Opens a folder with `index.jsonl` (one JSON line per answer: at, method, path, query, status, headers?, body) and
 * gzipped bodies. Each response speaks for its `at`: `Expires` minus `max-age` is that instant.
 * @throws FatalError when the index cannot be read or a line of it is not understood
 */
export function openRecordings(
  folder: string,
  form: Omit<AnswerForm, 'seed' | 'now'> = { dialect: 'live', size: 20, firstPage: 1 },
): Recordings {
  const answers = readIndex(folder)
  const series = new Map<string, Recorded[]>()
  for (const one of answers) {
    const name = seriesName(one.method, one.path, new URLSearchParams(one.query), one.requestBody)
    const list = series.get(name)
    if (list) list.push(one)
    else series.set(name, [one])
  }
  const paths = new Set(answers.filter((one) => one.method === 'GET').map((one) => one.path))
  // One decoded body per path: a walk asks for hundreds of pages of the same response.
  const decodedByPath = new Map<string, { readonly body: string; readonly value: unknown }>()

  function decode(one: Recorded): unknown {
    const known = decodedByPath.get(one.path)
    if (known?.body === one.body) return known.value
    const value: unknown = parseJsonBytes(readBody(folder, one))
    decodedByPath.set(one.path, { body: one.body, value })
    return value
  }

  function newest(name: string, now: number): Recorded | Refusal {
    const list = series.get(name) ?? []
    const found = list.findLast((one) => one.at <= now)
    if (found) return found
    const [first] = list
    return refuse.notFound(first ? `First recorded at ${new Date(first.at).toISOString()}.` : 'Not recorded.')
  }

  function answer(request: ApiRequest, now: number): Copy | Refusal {
    const flag = fullFlags[request.path]
    const full = flag === undefined ? undefined : seriesName('GET', request.path, new URLSearchParams(flag))
    const wantsAll = flag !== undefined && form.dialect === 'live' && request.query.get(flag) === ''
    if (full !== undefined && request.method === 'GET' && !wantsAll && series.has(full))
      return page(request, newest(full, now))
    const one = newest(seriesName(request.method, request.path, request.query, parsed(request.body)), now)
    if (isRefusal(one))
      return request.method !== 'GET' && paths.has(request.path) ? refuse.methodNotAllowed(request.method) : one
    const gzip = once(() => new Uint8Array(readGzippedBody(folder, one)))
    const plain = once(() => new Uint8Array(readBody(folder, one)))
    return { gzip, plain, ...stampOf(one) }
  }

  function page(request: ApiRequest, one: Recorded | Refusal): Copy | Refusal {
    if (isRefusal(one)) return one
    const value = decode(one)
    const entries = Object.entries(value ?? {})
    const number = pageNumber(request.query, entries.length, form)
    if (typeof number !== 'number') return number
    const { controller, results } = cutPage(entries, number, form)
    // Before April 2026 the results were keyed by display name, in pages too (API reference 4.1).
    const body = Array.isArray(value) ? results.map(([, record]) => record) : Object.fromEntries(results)
    return { ...json({ controller, results: body }), ...stampOf(one) }
  }

  return {
    answer,
    firstInstant: (path) => answers.find((one) => path === undefined || one.path === path)?.at,
    instants: (path) => [...new Set(answers.filter((one) => one.path === path).map((one) => one.at))],
  }
}

/** The name of a request whatever page it asks for. */
function seriesName(method: string, path: string, query: URLSearchParams, body?: unknown): string {
  const shown = new URLSearchParams([...query].filter(([name]) => name !== 'page'))
  return requestName(method, path, shown, body)
}

function parsed(body: string | undefined): unknown {
  try {
    return body === undefined ? undefined : JSON.parse(body)
  } catch {
    return body
  }
}

/** Left out: what the sandbox states itself, what belongs to one connection, and the budget of that day. */
const unkept =
  /^(date|expires|cache-control|connection|keep-alive|transfer-encoding|content-(encoding|length|type)|vary|(x-)?ratelimit-.*)$/i

/** When a recorded response speaks, for how long, and its headers. */
function stampOf({ at, path, headers }: Recorded) {
  const cacheControl = new Headers(headers).get('cache-control') ?? ''
  const maxAge = Number(/max-age=(\d+)/.exec(cacheControl)?.[1] ?? ttlOf(path))
  const kept = Object.entries(headers).filter(([name]) => !unkept.test(name))
  return { producedAt: at, maxAge, headers: Object.fromEntries(kept) }
}
