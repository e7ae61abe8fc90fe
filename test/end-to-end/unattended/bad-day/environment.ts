import { setMaxListeners } from 'node:events'
import { seededRandom, type VirtualClock, virtualClock } from '../../../../src/base/clock.ts'
import type { Database } from '../../../../src/db/database.ts'
import { openServer } from '../../../../src/db/server/server.ts'
import { type Sandbox, startSandbox } from '../../../../src/sandbox/index.ts'
import { smallItemWorld } from '../../../support/item-world.ts'
import { migrateAll } from '../../../support/postgres.ts'
import { type OwnPostgres, restarts } from '../../../support/postgres-binaries.ts'
import { type CuttableWay, cuttableWay } from '../../../support/proxy.ts'
import { type ApiProxy, openApiProxy } from './api-proxy.ts'
import type { Failure } from './failures.ts'
import type { DeliveredResponse } from './proxied-request.ts'
import { type SimulatedProcess, startProcess } from './simulated-process.ts'

/** When the simulated day begins, ms since the epoch. */
export const dayStart = Date.parse('2026-06-01T10:00:05Z')

/** The API behind a proxy, the database behind connections that can be cut, and the processes that run. */
export interface Environment {
  readonly clock: VirtualClock
  readonly sandbox: Sandbox
  readonly proxy: ApiProxy
  /** A connection of the test itself, which no failure reaches. */
  readonly db: Database
  /** Warnings and errors that processes logged. */
  readonly logLines: string[]
  /** Aborted at the end of the day: processes then end in order. */
  readonly stopping: AbortController
  /** Starts a process under a name of its own. Throws RetryableError while the database is away. */
  start(role: string, seed: number): Promise<SimulatedProcess>
  /** SIGKILL: cuts it off from everything at once, and waits for nothing. */
  kill(process: SimulatedProcess): void
  /** Closes a process that has ended by itself. */
  end(process: SimulatedProcess): Promise<void>
  begin(failure: Failure): Promise<void>
  recover(failure: Failure): Promise<void>
  close(): Promise<void>
}

/** What a day is made of. */
export interface DayOptions {
  /** Requests a minute and bucket. */
  readonly limit: number
  readonly seed: number
  /** Called with every response that was delivered whole. */
  readonly onDelivered: (response: DeliveredResponse) => void
}

export async function openEnvironment(
  postgres: OwnPostgres,
  { limit, seed, onDelivered }: DayOptions,
): Promise<Environment> {
  const running = new Set<SimulatedProcess>()
  const closing: Promise<void>[] = []
  let asleep = 0
  let started = 0
  const random = seededRandom(seed)
  const database = databaseFailures(postgres, random)
  const busy = () => {
    const processes = [...running]
    const requests = processes.reduce((sum, process) => sum + process.requests(), 0)
    if (requests > asleep + (proxy?.waiting() ?? 0)) return true
    return database.isBusy(processes)
  }
  const clock = virtualClock(dayStart, { auto: true, idleMs: 1, busy })
  const sandbox = await startSandbox({
    clock: {
      ...clock,
      sleep: async (ms, signal) => {
        asleep += 1
        await clock.sleep(ms, signal).finally(() => {
          asleep -= 1
        })
      },
    },
    items: smallItemWorld(),
    seed,
    limits: { guest: limit, token: limit },
    game: { guilds: 120, players: 300, territories: 60 },
  })
  let proxy: ApiProxy | undefined
  const opened = await openApiProxy(sandbox.url, { clock, seed, onDelivered })
  proxy = opened
  // A migration of more than a second reads on a further session who blocks it, which its pool keeps.
  const migrating = await openServer(postgres.url)
  await migrateAll(migrating).finally(() => migrating.close())
  const db = await openServer(postgres.url)
  const logLines: string[] = []
  const context = { clock, apiUrl: opened.url, log: (line: string) => void logLines.push(line) }
  const kill = (process: SimulatedProcess) => {
    running.delete(process)
    opened.dropSender(process.name)
    database.connections.delete(process.connection)
    process.connection.cut()
    process.killed.abort(new Error('killed'))
    // Its objects are closed too; it reaches nothing any more.
    closing.push(process.close())
  }
  const failures: Record<Failure['kind'], { begin(): unknown; recover(): unknown }> = {
    away: { begin: () => database.change('cut'), recover: () => database.change('available') },
    frozen: { begin: () => database.change('frozen'), recover: () => database.change('available') },
    snapped: { begin: () => [...database.connections].map((one) => one.snap()), recover: () => undefined },
    restarted: { begin: database.restart, recover: () => undefined },
    refuses: { begin: () => opened.setMode('refuses'), recover: () => opened.setMode('forwards') },
    errors: { begin: () => opened.setMode('errors'), recover: () => opened.setMode('forwards') },
    hangs: { begin: () => opened.setMode('hangs'), recover: () => opened.setMode('forwards') },
  }
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  return {
    clock,
    sandbox,
    proxy: opened,
    db,
    logLines,
    stopping,
    async start(role, processSeed) {
      started += 1
      const name = `${role} ${started}`
      const process = await database.connect((connection) => startProcess(name, processSeed, connection, context))
      running.add(process)
      return process
    },
    kill,
    async end(process) {
      await process.close()
      running.delete(process)
      database.connections.delete(process.connection)
    },
    begin: async ({ kind }) => void (await failures[kind].begin()),
    recover: async ({ kind }) => void (await failures[kind].recover()),
    async close() {
      for (const process of [...running]) kill(process)
      await Promise.all(closing)
      await db.close()
      await opened.close()
      await sandbox.close()
    },
  }
}

/** The connections of all processes to the database, and what fails about it. */
function databaseFailures(postgres: OwnPostgres, random: () => number) {
  let state: 'available' | 'cut' | 'frozen' = 'available'
  let opening = 0
  let restarting = false
  const connections = new Set<CuttableWay>()

  async function apply(connection: CuttableWay): Promise<void> {
    if (state === 'cut') connection.cut()
    else if (state === 'frozen') connection.freeze()
    else await connection.mend()
  }

  return {
    connections,
    /** Whether the clock must wait for a restart, a connection that is opened, or a statement; a frozen database answers none. */
    isBusy: (processes: readonly SimulatedProcess[]) =>
      restarting || (state !== 'frozen' && (opening > 0 || processes.some((process) => process.isQuerying()))),
    async change(next: typeof state): Promise<void> {
      // A database that hung has lost some of its clients meanwhile.
      if (state === 'frozen') for (const connection of connections) if (random() < 0.5) connection.snap()
      state = next
      await Promise.all([...connections].map(apply))
    },
    /** Simulated time stands still meanwhile. */
    async restart(): Promise<void> {
      restarting = true
      await postgres.restart(restarts[Math.floor(random() * restarts.length)] ?? 'fast')
      restarting = false
    },
    /** Opens a connection in the state that all have, for `use`. */
    async connect<T>(use: (connection: CuttableWay) => Promise<T>): Promise<T> {
      const connection = await cuttableWay(postgres.url)
      connections.add(connection)
      opening += 1
      try {
        await apply(connection)
        return await use(connection)
      } catch (error) {
        connections.delete(connection)
        connection.cut()
        throw error
      } finally {
        opening -= 1
      }
    },
  }
}
