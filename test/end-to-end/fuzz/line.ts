import { createClient } from '../../../src/api/client.ts'
import { createTransport } from '../../../src/api/http/transport.ts'
import { type Random, virtualClock } from '../../../src/base/clock.ts'
import type { Database } from '../../../src/db/database.ts'
import { isWorklist, type Resource, type Worklist } from '../../../src/sync/declare/resource.ts'
import { runResource } from '../../../src/sync/run/run-resource.ts'
import type { RunResult } from '../../../src/sync/run/run-result.ts'
import { emptyTables } from '../../support/world.ts'
import type { GoodBodies } from './good.ts'
import { startMutatingServer } from './mutating-server.ts'
import { type MutatedResponse, mutateResponse, type Served } from './responses.ts'

/** Real ms; in virtual time a server may take as long as it likes. */
export const deadline = 400

/** How one resource is synced again and again, each time from what a server of its own answers. */
export interface Line {
  /** What is asked for, of a worklist. */
  readonly key: string
  /** Begins with empty tables. */
  begin(): Promise<void>
  /** Syncs what is right, after the usual pause or so many ms later. */
  good(later?: number): Promise<RunResult>
  /** Syncs a mutated response. */
  mutated(
    random: Random,
  ): Promise<{ readonly run: RunResult; readonly mutation: MutatedResponse; readonly body: unknown }>
  /** What was logged since the last time. */
  readonly log: string[]
  close(): Promise<void>
}

const pause = 125_000
const maxAge = 60

export async function openLine(
  db: Database,
  resource: Resource | Worklist,
  bodies: GoodBodies,
  start: number,
): Promise<Line> {
  const clock = virtualClock(start, { auto: true })
  const log: string[] = []
  let random: Random | null = null
  let mutation: MutatedResponse | null = null
  let place = ''
  let mutatedBody: unknown

  const server = await startMutatingServer(async (target) => {
    const body = await bodies.of(resource.name, target)
    const now = clock.now()
    const headers = {
      'content-type': 'application/json',
      date: new Date(now).toUTCString(),
      expires: new Date(now + maxAge * 1000).toUTCString(),
      'cache-control': `max-age=${maxAge}`,
    }
    const good: Served = { status: 200, headers, body }
    if (!random) return good
    // Repeats of a request bring the same again.
    if (mutation === null && (place === '' || random() < 0.5)) {
      mutation = mutateResponse(good, random)
      place = target
      mutatedBody = JSON.parse(Buffer.from(body).toString())
    }
    return mutation !== null && place === target ? mutation.served : good
  })
  const timeouts = { headers: deadline, body: deadline, deadline }
  const transport = createTransport({ baseUrl: server.url, clock, random: () => 0.5, timeouts, maxBytes: 2_000_000 })
  const api = createClient({ transport })
  const lines = (level: string) => (_fields: object, message: string) => void log.push(`${level}: ${message}`)
  const runLog = { debug: () => undefined, info: lines('info'), warn: lines('warn'), error: lines('error') }
  const guards = { plausibleShare: 0.5, absences: 2, zeroShare: 0.25, accept: false }

  async function sync(later = pause): Promise<RunResult> {
    await clock.advanceTo(clock.now() + later)
    log.length = 0
    const engine = { db, api, clock, program: 'fuzz', guards, log: runLog, raw: clock.now() % 4 === 0 }
    if (!isWorklist(resource)) return await runResource(resource, engine)
    return await runResource(resource, engine, { concurrency: 1, keys: [bodies.key(resource.name)] })
  }

  return {
    log,
    key: bodies.key(resource.name),
    begin: () => emptyTables(db),
    async good(later) {
      random = null
      return await sync(later)
    },
    async mutated(draws) {
      random = draws
      mutation = null
      place = ''
      const run = await sync()
      if (mutation === null) throw new Error(`${resource.name} asked for nothing`)
      return { run, mutation: mutation as MutatedResponse, body: mutatedBody }
    },
    async close() {
      await api.close()
      await server.close()
    },
  }
}
