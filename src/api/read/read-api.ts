import { type Clock, systemClock } from '../../base/clock.ts'
import { parseJson } from '../schemas/form/bodies.ts'
import { type Questions, questionNames } from './questions.ts'
import { ReadApiError } from './read-error.ts'
import type { Page, ReadOptions, Rows } from './rows.ts'

/** Where the read API is. */
export interface ReadApiOptions {
  /** Of a server that `wynnsync serve` or `start --web-port` started, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** A key of `wynnsync web-key add`, for a limit of its own. */
  readonly key?: string | undefined
  /** Time of waits (default the machine's). */
  readonly clock?: Clock | undefined
}

/** Waits after a refusal, ms: a loop that asks again at once must not spin, nor an odd header stop a client for long. */
const WAIT = { shortest: 1000, longest: 60_000 } as const

/** Arguments by name. */
type Given = Readonly<Record<string, unknown>>

/**
 * The client of the read API, with a function for every question. It sends each request once. After a refusal for now (429, 503)
 * the next requests wait as long as `retryAfter` says, a second at least and a minute at most.
 * @throws TypeError when the URL cannot be read
 */
export function createReadApi({ url, key, clock = systemClock }: ReadApiOptions): Questions {
  const base = `${new URL(url).href.replace(/[?#].*/, '').replace(/\/+$/, '')}/api/v1/`
  const headers = { accept: 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) }
  let closedUntil = 0
  const request = async (address: URL, signal: AbortSignal | undefined) => {
    while (closedUntil > clock.now()) await clock.sleep(closedUntil - clock.now(), signal)
    return await pageAt(address, headers, signal).catch((error: unknown) => {
      const wait = waitAfter(error)
      if (wait !== undefined) closedUntil = clock.now() + wait
      throw error
    })
  }
  const ask =
    (name: string) =>
    (given: Given = {}, { signal }: ReadOptions = {}): Rows<unknown> =>
      rowsBy((cursor) => request(addressOf(base + name, given, cursor), signal))
  const functions = Object.entries<string>(questionNames).map(([called, name]) => [called, ask(name)])
  return Object.fromEntries(functions) as Questions
}

/** How long no request is to be sent, ms; undefined when the failure is no refusal for now. */
function waitAfter(error: unknown): number | undefined {
  if (!(error instanceof ReadApiError) || (error.status !== 429 && error.status !== 503)) return undefined
  return Math.min(WAIT.longest, Math.max(WAIT.shortest, 1000 * (error.retryAfter ?? 0)))
}

/** Rows by what requests a page of them. */
function rowsBy<Row>(page: (cursor?: string) => Promise<Page<Row>>): Rows<Row> {
  async function* each(): AsyncGenerator<Row, void, undefined> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const read: Page<Row> = await page(cursor)
      yield* read.rows
      cursor = read.cursor
    }
  }
  const all = async () => {
    const rows: Row[] = []
    for await (const row of each()) rows.push(row)
    return rows
  }
  return { page, all, [Symbol.asyncIterator]: each }
}

function addressOf(path: string, given: Given, cursor: string | undefined): URL {
  const address = new URL(path)
  for (const [name, value] of Object.entries<unknown>({ ...given, cursor })) {
    if (value === undefined) continue
    for (const one of [value].flat())
      address.searchParams.append(name, one instanceof Date ? one.toISOString() : String(one))
  }
  return address
}

/** @throws ReadApiError when there are no rows in the response; what `fetch` throws when there is no response */
async function pageAt(
  address: URL,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
): Promise<Page<unknown>> {
  const response = await fetch(address, { headers, ...(signal && { signal }) })
  const text = await response.text()
  const body = parseJson(text)
  if (!response.ok || !isDocument(body))
    throw new ReadApiError(response.status, body, response.headers.get('retry-after'))
  const cursor = body.next === null ? null : new URL(body.next, address).searchParams.get('cursor')
  return { arguments: body.arguments, rows: body.rows, cursor }
}

interface AnswerDocument {
  readonly arguments: Page<unknown>['arguments']
  readonly rows: readonly unknown[]
  readonly next: string | null
}

function isDocument(body: unknown): body is AnswerDocument {
  return typeof body === 'object' && body !== null && 'rows' in body && Array.isArray(body.rows) && 'next' in body
}
