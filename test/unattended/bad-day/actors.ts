import { setMaxListeners } from 'node:events'
import { seededRandom } from '../../../src/app/clock.ts'
import { resources, resourcesNamed } from '../../../src/resources/index.ts'
import { walkBackfill } from '../../../src/sync/backfill/backfill.ts'
import { beginCampaign, countOpen, freeLeases, unfinishedCampaign } from '../../../src/sync/backfill/campaign.ts'
import { setExpectedInterval as expectOf } from '../../../src/sync/coverage/coverage.ts'
import { isWorklist } from '../../../src/sync/resource.ts'
import { runResource } from '../../../src/sync/run/run-resource.ts'
import { expectedSeconds, runSchedule } from '../../../src/sync/schedule/schedule.ts'
import { clockTicker, nextTick } from '../../../src/sync/schedule/ticker.ts'
import { live, type Mortality, rest, supervise } from './lives.ts'
import { waitOf } from './misfortunes.ts'
import { dawn, type Theatre } from './theatre.ts'

/** `wynnsync start` under a supervisor. */
export function playStart(theatre: Theatre, seed: number, mortality: Mortality): Promise<void> {
  const scheduled = resources.map((resource) => ({ resource, expression: resource.schedule }))
  return supervise(theatre, 'start', seed, mortality, async ({ engine, death }, random) => {
    for (const one of scheduled) {
      const everySeconds = expectedSeconds(one, dawn)
      const at = new Date(engine.clock.now())
      await expectOf(engine.db, { resource: one.resource.name, everySeconds, toldBy: 'start', at })
    }
    const stopping = AbortSignal.any([theatre.curtain.signal, death.signal])
    setMaxListeners(0, stopping, death.signal)
    const ticker = clockTicker(theatre.clock)
    await runSchedule(engine, { scheduled, ticker, random, concurrency: 4, stopping, signal: death.signal })
  })
}

/** `wynnsync backfill`, begun anew whenever it is through: there is always something left to do. */
export function playBackfill(theatre: Theatre, seed: number, mortality: Mortality, name: string): Promise<void> {
  const [resource] = resourcesNamed([name])
  if (!resource || !isWorklist(resource)) throw new Error(`no worklist ${name}`)
  return supervise(theatre, 'backfill', seed, mortality, async ({ engine, death }, random) => {
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
      signal: AbortSignal.any([theatre.curtain.signal, death.signal]),
      relock: async () => {
        await lock?.release()
        lock = await db.tryLock(lockName)
        return lock !== null
      },
    })
  })
}

/** A line of a crontab: a life at each tick, also beside one that is still going on. */
export async function playCrontab(
  theatre: Theatre,
  seed: number,
  mortality: Mortality,
  [expression, name]: readonly [string, string],
): Promise<void> {
  const { clock, curtain } = theatre
  const [resource] = resourcesNamed([name])
  if (!resource) throw new Error(`no resource ${name}`)
  const random = seededRandom(seed)
  const lives: Promise<void>[] = []
  for (;;) {
    await rest(clock, nextTick(expression, clock.now()) - clock.now(), curtain.signal)
    if (curtain.signal.aborted) break
    const diesAfter = random() < 0.6 ? null : waitOf(3000, random)
    const life = live(
      theatre,
      `cron ${name}`,
      Math.floor(random() * 1e9),
      { diesAfter, mortality },
      ({ engine, death }) => {
        const options = { concurrency: 4, signal: death.signal }
        return runResource(resource, engine, options)
      },
    )
    lives.push(life)
  }
  await Promise.all(lives)
}
