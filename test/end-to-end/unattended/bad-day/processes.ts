import { setMaxListeners } from 'node:events'
import { seededRandom } from '../../../../src/base/clock.ts'
import { resources, resourcesNamed } from '../../../../src/resources/index.ts'
import { walkBackfill } from '../../../../src/sync/backfill/backfill.ts'
import { beginCampaign, countOpen, freeLeases, unfinishedCampaign } from '../../../../src/sync/backfill/campaign.ts'
import { isWorklist } from '../../../../src/sync/declare/resource.ts'
import { setExpectedInterval } from '../../../../src/sync/ledger/gaps.ts'
import { runResource } from '../../../../src/sync/run/run-resource.ts'
import { expectedSeconds, runSchedule } from '../../../../src/sync/schedule/schedule.ts'
import { clockTicker, nextTick } from '../../../../src/sync/schedule/ticker.ts'
import { dayStart, type Environment } from './environment.ts'
import { exponentialWait } from './failures.ts'
import { type Kills, runProcess, sleepUnlessAborted, supervise } from './process-lifetimes.ts'

/** `wynnsync start` under a supervisor. */
export function runStart(environment: Environment, seed: number, kills: Kills): Promise<void> {
  const scheduled = resources.map((resource) => ({ resource, expression: resource.schedule }))
  return supervise(environment, 'start', seed, kills, async ({ engine, killed }, random) => {
    for (const one of scheduled) {
      const everySeconds = expectedSeconds(one, dayStart)
      const at = new Date(engine.clock.now())
      await setExpectedInterval(engine.db, { resource: one.resource.name, everySeconds, setBy: 'start', at })
    }
    const stopping = AbortSignal.any([environment.stopping.signal, killed.signal])
    setMaxListeners(0, stopping, killed.signal)
    const ticker = clockTicker(environment.clock)
    await runSchedule(engine, { scheduled, ticker, random, concurrency: 4, stopping, signal: killed.signal })
  })
}

/** `wynnsync backfill`, started again whenever it is done: there is always something left to load. */
export function runBackfill(environment: Environment, seed: number, kills: Kills, name: string): Promise<void> {
  const [resource] = resourcesNamed([name])
  if (!resource || !isWorklist(resource)) throw new Error(`no worklist ${name}`)
  return supervise(environment, 'backfill', seed, kills, async ({ engine, killed }, random) => {
    const { db, clock } = engine
    const lockName = `wynnsync backfill ${name}`
    let lock = await db.tryLock(lockName)
    if (!lock) return
    await freeLeases(db, name)
    await resource.plan(db, new Date(clock.now()))
    const since = new Date(clock.now())
    const { keys } = await countOpen(db, { resource: name, since })
    const campaign =
      (await unfinishedCampaign(db, name)) ??
      (await beginCampaign(db, { resource: name, since, startedAt: since, keys }))
    await walkBackfill(resource, engine, {
      campaign,
      concurrency: 4,
      random,
      signal: AbortSignal.any([environment.stopping.signal, killed.signal]),
      relock: async () => {
        await lock?.release()
        lock = await db.tryLock(lockName)
        return lock !== null
      },
    })
  })
}

/** A line of a crontab: a process at each tick, also beside one that still runs. */
export async function runCrontab(
  environment: Environment,
  seed: number,
  kills: Kills,
  [expression, name]: readonly [string, string],
): Promise<void> {
  const { clock, stopping } = environment
  const [resource] = resourcesNamed([name])
  if (!resource) throw new Error(`no resource ${name}`)
  const random = seededRandom(seed)
  const processes: Promise<void>[] = []
  for (;;) {
    await sleepUnlessAborted(clock, nextTick(expression, clock.now()) - clock.now(), stopping.signal)
    if (stopping.signal.aborted) break
    const killedAfter = random() < 0.6 ? null : exponentialWait(3000, random)
    const processSeed = Math.floor(random() * 1e9)
    const ended = runProcess(environment, `cron ${name}`, processSeed, { killedAfter, kills }, ({ engine, killed }) => {
      const options = { concurrency: 4, signal: killed.signal }
      return runResource(resource, engine, options)
    })
    processes.push(ended)
  }
  await Promise.all(processes)
}
