import diagnostics from 'node:diagnostics_channel'
import { createClient } from '../../../../src/api/client.ts'
import { type Clock, seededRandom } from '../../../../src/base/clock.ts'
import { openServer } from '../../../../src/db/server/server.ts'
import { accountOf, databaseBudget } from '../../../../src/sync/run/database-budget-store.ts'
import type { Engine } from '../../../../src/sync/run/engine.ts'
import { countPending } from '../../../support/pending.ts'
import type { CuttableWay } from '../../../support/proxy.ts'

/** What all processes share. */
export interface ProcessContext {
  readonly clock: Clock
  readonly apiUrl: string
  /** Called with every warning and error. */
  readonly log: (line: string) => void
}

/** What one process of the operating system would have: a client, a connection to the database, and a name. */
export interface SimulatedProcess {
  readonly name: string
  readonly connection: CuttableWay
  readonly engine: Engine
  /** Aborted when it is killed. Its code goes on running, but reaches nothing any more. */
  readonly killed: AbortController
  /** Whether statements are under way, and how many requests: the clock must not move meanwhile, unless they hang. */
  readonly isQuerying: () => boolean
  readonly requests: () => number
  /** Ends in order. */
  close(): Promise<void>
}

/**
 * @param connection to the database, for this process alone
 * @throws RetryableError when the database is away
 */
export async function startProcess(
  name: string,
  seed: number,
  connection: CuttableWay,
  { clock, apiUrl, log }: ProcessContext,
): Promise<SimulatedProcess> {
  const opened = await openServer(connection.url)
  const pending = countPending()
  // Of the statements only: requests are counted here, each for its sender.
  pending.stop()
  const db = pending.watch(opened)
  const count = countRequests(name)
  const killed = new AbortController()
  const api = createClient({
    baseUrl: apiUrl,
    userAgent: name,
    clock,
    random: seededRandom(seed),
    budget: databaseBudget(db, { account: accountOf(apiUrl, null), clock }),
  })
  const ignore = () => undefined
  const write = (_fields: object, message: string) => void (killed.signal.aborted || log(`${name}: ${message}`))
  const guards = { plausibleShare: 0.5, zeroShare: 0.25, absences: 2, accept: false }
  const runLog = { debug: ignore, info: ignore, warn: write, error: write }
  return {
    name,
    connection,
    killed,
    engine: { db, api, clock, program: name, guards, log: runLog, raw: true },
    isQuerying: pending.busy,
    requests: count.underWay,
    async close() {
      count.stop()
      await api.close().catch(ignore)
      await db.close().catch(ignore)
      connection.cut()
    },
  }
}

/** No request takes longer of real time, ms; of some that are cut off undici never reports the end. */
const LONGEST = 5000

/** Counts the requests that one process has under way, from undici's diagnostics. */
function countRequests(name: string) {
  const underWay = new Map<object, number>()
  const onStart = (message: unknown) => {
    const { request } = message as UndiciMessage
    if (request.headers[request.headers.indexOf('user-agent') + 1] === name) underWay.set(request, performance.now())
  }
  const onEnd = (message: unknown) => void underWay.delete((message as UndiciMessage).request)
  diagnostics.subscribe('undici:request:create', onStart)
  for (const end of ends) diagnostics.subscribe(end, onEnd)
  return {
    underWay: () => {
      for (const [request, since] of underWay) if (performance.now() - since > LONGEST) underWay.delete(request)
      return underWay.size
    },
    stop() {
      diagnostics.unsubscribe('undici:request:create', onStart)
      for (const end of ends) diagnostics.unsubscribe(end, onEnd)
    },
  }
}

const ends = ['undici:request:trailers', 'undici:request:error']

interface UndiciMessage {
  readonly request: { readonly headers: readonly string[] }
}
