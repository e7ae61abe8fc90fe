import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../db/database.ts'
import { publish } from '../../sync/outbox/outbox.ts'
import { readFreshness } from '../../sync/overview/recent-runs.ts'

/**
 * Makes what writes a change for every resource that became late, or is no longer, since it was last called. After a pause of the
 * program, or on an empty database, every one is late: until one of its intervals has passed since the process began, it is waited for.
 * The argument says whether this process ends: then there is no later look, and no grace.
 */
export function freshnessNoter(db: Database, clock: Clock): (isLast: boolean) => Promise<void> {
  const began = clock.now()
  /** What was noted last: the outbox keeps it for a day. */
  const noted = new Map<string, boolean>()

  return async (isLast) => {
    const now = new Date(clock.now())
    for (const { resource, isLate } of await readNoted(db)) noted.set(resource, isLate)
    const changed = [...(await readFreshness(db))].filter(([resource, { isLate, everySeconds }]) => {
      const isGraceOver = isLast || now.getTime() >= began + graceOf(everySeconds ?? 0)
      return isLate !== (noted.get(resource) ?? false) && (isGraceOver || !isLate)
    })
    if (changed.length === 0) return
    const changes = changed.map(([resource, { isLate }]) =>
      JSON.stringify({ event: 'freshness', resource, at: now.toISOString(), isLate }),
    )
    await db.query(publish, [[], changes, now])
    for (const [resource, { isLate }] of changed) noted.set(resource, isLate)
  }
}

/** An interval, and a while for the response to come. ms */
function graceOf(everySeconds: number): number {
  return 1000 * (everySeconds + Math.min(everySeconds / 2, 60))
}

async function readNoted(db: Database) {
  return await db.query<{ resource: string; isLate: boolean }>(
    `select distinct on (change->>'resource') change->>'resource' as resource, (change->>'isLate')::boolean as "isLate"
       from sync.outbox where change->>'event' = 'freshness' order by change->>'resource', number desc`,
  )
}
