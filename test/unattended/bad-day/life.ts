import diagnostics from 'node:diagnostics_channel'
import { createClient } from '../../../src/api/client.ts'
import { type Clock, seededRandom } from '../../../src/app/clock.ts'
import { openServer } from '../../../src/db/server/server.ts'
import { accountOf, databaseBudget } from '../../../src/sync/budget/database-budget-store.ts'
import type { Engine } from '../../../src/sync/engine.ts'
import { countPending } from '../../support/pending.ts'
import type { CuttableWay } from '../../support/proxy.ts'

/** What a life is put into. */
export interface Surroundings {
  readonly clock: Clock
  readonly apiUrl: string
  /** Told of what the log says as warning or error. */
  readonly hear: (line: string) => void
}

/** One actor from its start to its end or death: what one operating system's process would have. */
export interface Life {
  readonly name: string
  readonly way: CuttableWay
  readonly engine: Engine
  /** Aborted when it is killed. The code goes on, as code does; it reaches nothing any more. */
  readonly death: AbortController
  /** Whether statements are under way, and how many requests: the clock must not move meanwhile, unless they hang. */
  readonly isAsking: () => boolean
  readonly requests: () => number
  /** Ends in order. */
  close(): Promise<void>
}

/**
 * @param way to the database, for this life alone
 * @throws RetryableError when the database is away
 */
export async function beginLife(
  name: string,
  seed: number,
  way: CuttableWay,
  { clock, apiUrl, hear }: Surroundings,
): Promise<Life> {
  const opened = await openServer(way.url)
  const pending = countPending()
  // Of the statements only: requests are counted here, each for who sent it.
  pending.stop()
  const db = pending.watch(opened)
  const count = countRequests(name)
  const death = new AbortController()
  const api = createClient({
    baseUrl: apiUrl,
    userAgent: name,
    clock,
    random: seededRandom(seed),
    budget: databaseBudget(db, { account: accountOf(apiUrl, null), clock }),
  })
  const quiet = () => undefined
  const loud = (_fields: object, message: string) => void (death.signal.aborted || hear(`${name}: ${message}`))
  const guards = { plausibleShare: 0.5, zeroShare: 0.25, absences: 2, accept: false }
  const log = { debug: quiet, info: quiet, warn: loud, error: loud }
  return {
    name,
    way,
    death,
    engine: { db, api, clock, program: name, guards, log, raw: true },
    isAsking: pending.busy,
    requests: count.underWay,
    async close() {
      count.stop()
      await api.close().catch(quiet)
      await db.close().catch(quiet)
      way.cut()
    },
  }
}

/** No request takes longer of real time, ms; of some that are cut off undici never tells the end. */
const LONGEST = 5000

/** Counts the requests that a life has under way; undici tells of each. */
function countRequests(name: string) {
  const underWay = new Map<object, number>()
  const began = (message: unknown) => {
    const { request } = message as Told
    if (request.headers[request.headers.indexOf('user-agent') + 1] === name) underWay.set(request, performance.now())
  }
  const ended = (message: unknown) => void underWay.delete((message as Told).request)
  diagnostics.subscribe('undici:request:create', began)
  for (const end of ends) diagnostics.subscribe(end, ended)
  return {
    underWay: () => {
      for (const [request, since] of underWay) if (performance.now() - since > LONGEST) underWay.delete(request)
      return underWay.size
    },
    stop() {
      diagnostics.unsubscribe('undici:request:create', began)
      for (const end of ends) diagnostics.unsubscribe(end, ended)
    },
  }
}

const ends = ['undici:request:trailers', 'undici:request:error']

interface Told {
  readonly request: { readonly headers: readonly string[] }
}
