import { createHash } from 'node:crypto'
import { expireAllReservations } from '../../api/rate-limit/budget.ts'
import { type BudgetState, readBudgetState } from '../../api/rate-limit/budget-state.ts'
import { type BudgetStore, firstSegment, type Step } from '../../api/rate-limit/budget-store.ts'
import type { Clock } from '../../app/clock.ts'
import { RetryableError } from '../../app/errors.ts'
import type { Database, Sql } from '../../db/database.ts'

/** How often a change is tried when the database asks for another try or cuts the connection. */
const TRIES = 3

/** How long to wait before the next try, ms. */
const PAUSE = 100

/** Nobody holds a row for longer than its own round trips: whoever waits longer waits for a frozen process; ms. */
const LOCK_WAIT = 3000

/** The budgets of each embedded database that this process has begun to use, whichever client was first. */
const takenOver = new WeakMap<Database, Set<string>>()

/**
 * The name under which every process that uses this credential at this server finds its budgets.
 * @param token null or undefined: a guest, who is counted by address
 */
export function accountOf(baseUrl: string, token: string | null | undefined): string {
  const who = token ? createHash('sha256').update(token).digest('hex').slice(0, 16) : 'guest'
  return `${new URL(baseUrl).origin} ${who}`
}

/**
 * The budgets of one account in the database, shared by all processes that use it. Each change is a transaction of its
 * own on one row: no lock is held while anybody waits or a request runs, and none for a second row, so that there is no
 * deadlock. The processes are taken to agree on the time to about a second.
 * @param options.lockWaitMs how long one try waits for a row that another process holds, in ms of the real time
 */
export function databaseBudget(
  db: Database,
  options: { readonly account: string; readonly clock: Clock; readonly lockWaitMs?: number },
): BudgetStore {
  const { account, clock, lockWaitMs = LOCK_WAIT } = options
  // What a crash of the server loses is a request or two, which the next answer's headers tell: not worth a wait for the disk.
  const settings = `set local synchronous_commit = off; set local lock_timeout = ${Math.round(lockWaitMs)}`

  async function change<T>(bucket: string, step: (state: BudgetState | null) => Step<T>): Promise<T> {
    for (let tried = 1; ; tried++) {
      try {
        return await db.transaction((sql) => changeRow(sql, bucket, step))
      } catch (error) {
        if (!(error instanceof RetryableError) || tried >= TRIES) throw error
        await clock.sleep(PAUSE)
      }
    }
  }

  async function changeRow<T>(sql: Sql, bucket: string, step: (state: BudgetState | null) => Step<T>): Promise<T> {
    await sql.query(settings)
    const stored = (await lockRow(sql, bucket)) ?? (await createRow(sql, bucket))
    const { state, result } = step(beginWith(readBudgetState(stored), bucket))
    await sql.query('update sync.budget set state = $3, changed_at = $4 where account = $1 and bucket = $2', [
      account,
      bucket,
      state,
      new Date(clock.now()),
    ])
    return result
  }

  /** Nobody else has the embedded database open: what this process did not reserve itself is a dead one's. */
  function beginWith(stored: BudgetState | null, bucket: string): BudgetState | null {
    if (db.kind === 'server') return stored
    const name = `${account} ${bucket}`
    const own = takenOver.get(db) ?? new Set()
    takenOver.set(db, own)
    if (own.has(name)) return stored
    own.add(name)
    return stored === null ? null : expireAllReservations(stored, clock.now())
  }

  async function lockRow(sql: Sql, bucket: string): Promise<unknown> {
    const [row] = await sql.query<{ state: unknown }>(
      'select state from sync.budget where account = $1 and bucket = $2 for update',
      [account, bucket],
    )
    return row?.state
  }

  /** Another process may create the same row first: then its state counts. */
  async function createRow(sql: Sql, bucket: string): Promise<unknown> {
    await sql.query(
      `insert into sync.budget (account, bucket, state, changed_at) values ($1, $2, '{}', $3) on conflict do nothing`,
      [account, bucket, new Date(clock.now())],
    )
    return await lockRow(sql, bucket)
  }

  return {
    change,
    async bucketOf(route) {
      const [row] = await db.query<{ bucket: string }>(
        'select bucket from sync.route_bucket where account = $1 and route = $2',
        [account, route],
      )
      return row?.bucket ?? null
    },
    async bucketsNear(route) {
      const rows = await db.query<{ bucket: string }>(
        `select distinct bucket from sync.route_bucket where account = $1 and split_part(route, '/', 2) = $2`,
        [account, firstSegment(route)],
      )
      return rows.map(({ bucket }) => bucket)
    },
    async learn(route, bucket) {
      await db.query(
        `insert into sync.route_bucket (account, route, bucket, learned_at) values ($1, $2, $3, $4)
             on conflict (account, route) do update set bucket = excluded.bucket, learned_at = excluded.learned_at`,
        [account, route, bucket, new Date(clock.now())],
      )
    },
  }
}
