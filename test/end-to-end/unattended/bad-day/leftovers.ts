import { readBudgetState } from '../../../../src/api/rate-limit/budget-state.ts'
import type { Database } from '../../../../src/db/database.ts'

/** What killed processes still hold: leases, locks, reservations, sessions. */
export async function leftovers(db: Database, now: number): Promise<unknown[]> {
  const leases = await db.query(
    'select resource, key, leased_by, leased_until from sync.work_item where leased_by is not null and leased_until > $1',
    [new Date(now)],
  )
  const locks = await db.query(
    `select pid, objid from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
  )
  const budgets = await db.query<{ bucket: string; state: unknown }>('select bucket, state from sync.budget')
  const reservations = budgets.flatMap(({ bucket, state }) =>
    (readBudgetState(state)?.reservations ?? []).filter(({ until }) => until > now).map((one) => [bucket, one]),
  )
  const sessions = await db.query(
    `select pid, state, query from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  )
  return [...leases, ...locks, ...reservations, ...sessions]
}
