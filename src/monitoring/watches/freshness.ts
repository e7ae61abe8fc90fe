import type { Database } from '../../db/database.ts'
import { publish } from '../../sync/outbox/outbox.ts'
import { readFreshness } from '../../sync/record/recent-runs.ts'

/**
 * Writes a change for every resource that became late, or is no longer, since the last look. What the outbox does not keep any
 * more counts as not late.
 */
export async function noteFreshness(db: Database, now: Date): Promise<void> {
  const freshness = await readFreshness(db)
  const rows = await db.query<{ resource: string; isLate: boolean }>(
    `select distinct on (change->>'resource') change->>'resource' as resource, (change->>'isLate')::boolean as "isLate"
       from sync.outbox where change->>'event' = 'freshness' order by change->>'resource', number desc`,
  )
  const before = new Map(rows.map(({ resource, isLate }) => [resource, isLate]))
  const changes = [...freshness]
    .filter(([resource, { isLate }]) => isLate !== (before.get(resource) ?? false))
    .map(([resource, { isLate }]) => JSON.stringify({ event: 'freshness', resource, at: now.toISOString(), isLate }))
  if (changes.length > 0) await db.query(publish, [[], changes, now])
}
