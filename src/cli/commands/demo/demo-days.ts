import { count, day } from '../../../analytics/report/words.ts'
import type { App } from '../../../app/app.ts'
import { admissionOf, engineOf, openApi } from '../../../app/app-api.ts'
import { FatalError } from '../../../base/errors.ts'
import type { Database } from '../../../db/database.ts'
import { resources } from '../../../resources/index.ts'
import type { Sandbox } from '../../../sandbox/index.ts'
import { isWorklist, type Resource, type Worklist } from '../../../sync/declare/resource.ts'
import { setExpectedInterval } from '../../../sync/ledger/gaps.ts'
import type { Engine } from '../../../sync/run/engine.ts'
import { runResource } from '../../../sync/run/run-resource.ts'
import type { RunResult } from '../../../sync/run/run-result.ts'
import type { Context } from '../../context.ts'

interface Stage {
  readonly app: App
  readonly db: Database
  readonly sandbox: Sandbox
  readonly context: Context
}

const HOUR = 3_600_000
const DAYS = 3

/** Keys of a worklist in each round. */
const keysEachTime = 6

const isLive = (one: Resource | Worklist) => one.lane === 'live'

/** What is synced every how many hours; a real schedule syncs far more often. */
const schedule = [
  { hours: 1, resources: resources.filter(isLive) },
  { hours: 24, resources: resources.filter((one) => !isLive(one) && !isWorklist(one)) },
  { hours: 8, resources: resources.filter((one) => !isLive(one) && isWorklist(one)) },
]

/** Syncs for three days, and writes what each brought. @param onFirst called when the live resources came for the first time */
export async function playDays(stage: Stage, onFirst: () => Promise<void>): Promise<void> {
  const { app, db, sandbox, context } = stage
  const { out } = context
  const api = openApi(app)
  const engine = engineOf(app, db, api, { admission: await admissionOf(app, db) })
  let isFirst = true
  try {
    await expectIntervals(db, app.clock.now())
    for (let nth = 0; nth < DAYS; nth++) {
      const runs: RunResult[] = []
      const today = day(new Date(app.clock.now()))
      for (let hour = 0; hour < 24; hour++) {
        for (const due of schedule.filter(({ hours }) => hour % hours === 0)) {
          for (const resource of due.resources) {
            if (isFirst) out.write(` ${resource.name}`)
            runs.push(await withDots(context, () => syncOnce(resource, engine)))
          }
          if (nth + hour === 0 && due === schedule[0]) {
            await onFirst()
            out.write('\nThe rest arrives:')
          }
        }
        if (isFirst) out.write('\n\nThree days pass.\n')
        if (hour === 0) out.write(`\n${today} `)
        isFirst = false
        out.write('.')
        await sandbox.clock.moveTo(sandbox.clock.now() + HOUR)
      }
      out.write(` ${summary(runs)}`)
    }
    out.write('\n')
  } finally {
    await api.close()
  }
}

/** Sets how often everything is synced, so that coverage knows what is missing. */
async function expectIntervals(db: Database, now: number): Promise<void> {
  const given = { setBy: 'sync', at: new Date(now) } as const
  for (const { hours, resources: due } of schedule)
    for (const { name } of due)
      await setExpectedInterval(db, { resource: name, everySeconds: (hours * HOUR) / 1000, ...given })
}

async function syncOnce(resource: Resource | Worklist, engine: Engine): Promise<RunResult> {
  const run = await runResource(resource, engine, { limit: keysEachTime })
  if (run.status === 'failed') throw new FatalError(`${resource.name}: ${run.error}`)
  return run
}

/** A dot for each second that it takes, in a file and a pipe too. */
export async function withDots<T>({ out, app }: Context, work: () => Promise<T>): Promise<T> {
  const ended = new AbortController()
  const dot = async (): Promise<void> => {
    await app.clock.sleep(1000, ended.signal)
    out.write('.')
    await dot()
  }
  dot().catch(() => {})
  return await work().finally(() => ended.abort())
}

function summary(runs: readonly RunResult[]): string {
  const sum = (name: 'requests' | 'inserted' | 'changed' | 'closed' | 'events') =>
    runs.reduce((total, run) => total + run[name], 0)
  const parts = [count(sum('requests'), 'request'), `${sum('inserted')} new`, `${sum('changed')} changed`]
  return [...parts, `${sum('closed')} gone`, count(sum('events'), 'event')].join(', ')
}
