import { type Clock, type Random, seededRandom } from '../../../../src/base/clock.ts'
import { RetryableError } from '../../../../src/base/errors.ts'
import type { Environment } from './environment.ts'
import { exponentialWait } from './failures.ts'
import type { SimulatedProcess } from './simulated-process.ts'

/** Whether processes are still killed. */
export interface Kills {
  readonly isOver: boolean
}

/** How long a process runs until it is killed, on average, and the longest pause of its supervisor; ms. */
const MEAN_LIFETIME = 75_000
const LONGEST_PAUSE = 10_000

/** What a process does until it ends by itself. */
type Work = (process: SimulatedProcess, random: Random) => Promise<unknown>

/** Runs a process under a supervisor: one that is killed or ends is started again. */
export async function supervise(
  environment: Environment,
  role: string,
  seed: number,
  kills: Kills,
  work: Work,
): Promise<void> {
  const { clock, stopping } = environment
  const random = seededRandom(seed)
  while (!stopping.signal.aborted) {
    const killedAfter = exponentialWait(MEAN_LIFETIME, random)
    await runProcess(environment, role, Math.floor(random() * 1e9), { killedAfter, kills }, work)
    await sleepUnlessAborted(clock, 1000 + LONGEST_PAUSE * random(), stopping.signal)
  }
}

/** Runs one process until it ends or is killed; `killedAfter` in ms, null: it is not. */
export async function runProcess(
  environment: Environment,
  role: string,
  seed: number,
  { killedAfter, kills }: { readonly killedAfter: number | null; readonly kills: Kills },
  work: Work,
): Promise<void> {
  const { clock, stopping } = environment
  const process = await environment.start(role, seed).catch((error: unknown) => {
    // The real one prints that the database is away, and exits.
    if (error instanceof RetryableError) return undefined
    throw error
  })
  if (!process) return
  const ended = new AbortController()
  const killTime =
    killedAfter === null
      ? never
      : sleepUnlessAborted(clock, killedAfter, AbortSignal.any([ended.signal, stopping.signal]))
  const worked = work(process, seededRandom(seed)).then(
    () => 'ended' as const,
    (error: unknown) => {
      const isExpected = process.killed.signal.aborted || error instanceof RetryableError
      if (!isExpected) environment.logLines.push(`${process.name}: ${error}`)
      return 'ended' as const
    },
  )
  const outcome = await Promise.race([
    worked,
    killTime.then(() => (stopping.signal.aborted || kills.isOver ? worked : 'killed')),
  ])
  ended.abort()
  if (outcome === 'killed') environment.kill(process)
  else await environment.end(process)
}

const never = new Promise<void>(() => undefined)

export async function sleepUnlessAborted(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  await clock.sleep(ms, signal).catch(() => undefined)
}
