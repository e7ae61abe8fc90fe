import type { Database } from '../../../db/database.ts'
import { readHeldLocks } from '../../../db/locks/held-locks.ts'
import { resources } from '../../../resources/index.ts'
import { readBudgets, readFailures, readGaps, readSizes, readTiers } from '../../../sync/record/overview.ts'
import { readFreshness, readStates } from '../../../sync/record/recent-runs.ts'
import { readPendingRefusals } from '../../../sync/worklist/refusals.ts'

const DAY = 86_400_000

/** Everything `status` shows, in the names of its JSON. */
export type Overview = Awaited<ReturnType<typeof readOverview>>

/** Reads all of it as of `now`, ms since the epoch. */
export async function readOverview(db: Database, now: number) {
  const yesterday = new Date(now - DAY)
  const names = resources.map((resource) => resource.name)
  const freshness = await readFreshness(db)
  const states = await readStates(db, names)
  const pending = await readPendingRefusals(db, 5)
  const pendingOf = (resource: string) => (pending.has(resource) ? { pending: pending.get(resource) } : {})
  return {
    database: db.place,
    // The JSON's name for the number of current keys is `living`.
    resources: states.map(({ currentKeys: living, ...state }) => ({
      ...state,
      living,
      ...freshness.get(state.resource),
      ...pendingOf(state.resource),
    })),
    budgets: await readBudgets(db, now),
    gaps: await readGaps(db, yesterday, 5),
    failures: await readFailures(db, yesterday, 5),
    size: await readSizes(db, 5),
    tiers: await readTiers(db),
    locks: await readHeldLocks(db),
  }
}
