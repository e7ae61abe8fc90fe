import { setMaxListeners } from 'node:events'
import { createClient } from '../../../src/api/client.ts'
import { type Clock, seededRandom, type VirtualClock, virtualClock } from '../../../src/base/clock.ts'
import type { Database } from '../../../src/db/database.ts'
import { openServer } from '../../../src/db/server/server.ts'
import { resources, resourcesNamed } from '../../../src/resources/index.ts'
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/index.ts'
import { walkBackfill } from '../../../src/sync/backfill/backfill.ts'
import { beginCampaign, countOpen } from '../../../src/sync/backfill/campaign.ts'
import { isWorklist } from '../../../src/sync/declare/resource.ts'
import { setExpectedInterval as expectOf } from '../../../src/sync/ledger/gaps.ts'
import { accountOf, databaseBudget } from '../../../src/sync/run/database-budget-store.ts'
import type { Engine } from '../../../src/sync/run/engine.ts'
import { runResource } from '../../../src/sync/run/run-resource.ts'
import type { RunResult } from '../../../src/sync/run/run-result.ts'
import { expectedSeconds, runSchedule } from '../../../src/sync/schedule/schedule.ts'
import { clockTicker, nextTick } from '../../../src/sync/schedule/ticker.ts'
import { countPending } from '../../support/pending.ts'
import { testDatabaseUrl } from '../../support/postgres.ts'

/** When the simulated day begins. */
export const dawn = Date.parse('2026-06-01T10:00:05Z')

/** A run of one of the players, and when it ended. */
export interface Told extends RunResult {
  readonly by: string
  readonly at: number
}

/** A stage on which several processes play: each has a client and database connections of its own. */
export interface Stage {
  readonly clock: VirtualClock
  readonly sandbox: Sandbox
  readonly db: Database
  readonly told: Told[]
  readonly problems: string[]
  /** Opens what a process has; closed with the stage. */
  enter(name: string, seed: number): Promise<Engine>
  /** Until the curtain falls. */
  readonly over: AbortController
  close(): Promise<void>
}

const closeSilently = (closing: Promise<unknown>) => closing.catch(() => undefined)

export async function setStage(options: Partial<SandboxOptions>, token?: string): Promise<Stage> {
  const pending = countPending()
  const clock = virtualClock(dawn, { auto: true, idleMs: 1, busy: pending.busy })
  const url = await testDatabaseUrl()
  const sandbox = await startSandbox({
    clock: pending.answering(clock),
    tokens: token ? [token] : [],
    ...options,
  })
  const over = new AbortController()
  setMaxListeners(0, over.signal)
  const opened: { close(): Promise<unknown> }[] = []
  const told: Told[] = []
  const problems: string[] = []
  const connect = async () => {
    const db = await openServer(url)
    opened.push(db)
    return pending.watch(db)
  }
  return {
    clock,
    sandbox,
    db: await connect(),
    told,
    problems,
    over,
    async enter(name, seed) {
      const db = await connect()
      const account = accountOf(sandbox.url, token)
      const api = createClient({
        baseUrl: sandbox.url,
        clock,
        random: seededRandom(seed),
        onRequest: pending.answered,
        budget: databaseBudget(db, { account, clock }),
        ...(token ? { token } : {}),
      })
      opened.push(api)
      const quiet = () => undefined
      const loud = (_fields: object, message: string) => void problems.push(`${name}: ${message}`)
      const guards = { plausibleShare: 0.5, zeroShare: 0.25, absences: 2, accept: false }
      return { db, api, clock, program: name, guards, log: { debug: quiet, info: quiet, warn: loud, error: loud } }
    },
    async close() {
      for (const one of opened.reverse()) await closeSilently(one.close())
      await sandbox.close()
      pending.stop()
    },
  }
}

/** `wynnsync start`, by the stage's clock. @param of what it syncs; everything when left out */
export async function playStart(stage: Stage, of: typeof resources = resources): Promise<void> {
  const engine = await stage.enter('start', 1)
  const scheduled = of.map((resource) => ({ resource, expression: resource.schedule }))
  for (const one of scheduled) {
    const everySeconds = expectedSeconds(one, dawn)
    await expectOf(engine.db, { resource: one.resource.name, everySeconds, setBy: 'start', at: new Date(dawn) })
  }
  await runSchedule(engine, {
    scheduled,
    ticker: clockTicker(stage.clock),
    random: seededRandom(2),
    concurrency: 4,
    stopping: stage.over.signal,
    signal: stage.over.signal,
    onRun: (result) => stage.told.push({ ...result, by: 'start', at: stage.clock.now() }),
  })
}

/** A line of a crontab: a process of its own at each tick. */
export async function playCrontab(stage: Stage, expression: string, name: string): Promise<void> {
  const engine = await stage.enter(`cron ${name}`, name.length)
  const { clock, over } = stage
  const [resource] = resourcesNamed([name])
  if (!resource) throw new Error(`no resource ${name}`)
  while (!over.signal.aborted) {
    await rest(clock, nextTick(expression, clock.now()) - clock.now(), over.signal)
    if (over.signal.aborted) return
    const options = { concurrency: 4, signal: over.signal }
    const run = runResource(resource, engine, options)
    stage.told.push({ ...(await run), by: 'cron', at: clock.now() })
  }
}

/** `wynnsync backfill`, begun anew whenever it is through: there is always something left to do. */
export async function playBackfill(stage: Stage, name: string): Promise<void> {
  const engine = await stage.enter('backfill', 5)
  const { clock, over } = stage
  const [resource] = resourcesNamed([name])
  if (!resource || !isWorklist(resource)) throw new Error(`no worklist ${name}`)
  while (!over.signal.aborted) {
    const since = new Date(clock.now())
    const { keys } = await countOpen(engine.db, { resource: name, since })
    const campaign = await beginCampaign(engine.db, { resource: name, since, startedAt: since, keys })
    await walkBackfill(resource, engine, {
      campaign,
      concurrency: 4,
      random: seededRandom(6),
      relock: async () => true,
      signal: over.signal,
    })
    await rest(clock, 1000, over.signal)
  }
}

async function rest(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal).catch(() => undefined)
}
