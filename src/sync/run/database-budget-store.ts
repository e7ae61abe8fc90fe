import { hash } from 'node:crypto'
import { and, eq, sql as sqlText } from 'drizzle-orm'
import { expireAllReservations } from '../../api/rate-limit/budget.ts'
import { type BudgetState, readBudgetState } from '../../api/rate-limit/budget-state.ts'
import { type BudgetStore, firstSegment, type Step } from '../../api/rate-limit/budget-store.ts'
import type { Clock } from '../../base/clock.ts'
import { RetryableError, reach } from '../../base/errors.ts'
import { beforeOthers, type Database, type Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { budget, routeBucket } from '../tables/state.ts'

/** How often a change is tried when the database asks for another try or cuts the connection. */
const TRIES = 3

/** How long to wait before the next try, ms. */
const PAUSE_MS = 100

/** A row is locked for a few round trips: a longer wait is for a process that is frozen; ms. */
const LOCK_WAIT_MS = 3000

/** The budgets of each embedded database that this process has begun to use, whichever client was first. */
const takenOver = new WeakMap<Database, Set<string>>()

/**
 * The name under which every process that uses this credential at this server finds its budgets.
 * @param token null or undefined: a guest, who is counted by address
 */
export function accountOf(baseUrl: string, token: string | null | undefined): string {
  const who = token ? hash('sha256', token).slice(0, 16) : 'guest'
  return `${new URL(baseUrl).origin} ${who}`
}

/**
 * The budgets of one account in the database, shared by all processes that use it. Each change is a transaction of its
 * own on one row: no lock is held during a wait or a request, and none for a second row, so that there is no
 * deadlock. It is one statement where the row is as this process left it, which it is between polls of one process; else the row
 * is locked and read first. The processes are taken to agree on the time to about a second.
 * @param options.lockWaitMs how long one try waits for a row that another process holds, in ms of the real time
 */
export function databaseBudget(
  db: Database,
  options: { readonly account: string; readonly clock: Clock; readonly lockWaitMs?: number },
): BudgetStore {
  const { account, clock, lockWaitMs = LOCK_WAIT_MS } = options
  // A crash of the server loses a request or two, which the next response's headers correct: not worth a wait for the disk.
  const settings = `set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '${Math.round(lockWaitMs)}', true)`
  /** What this process left in a row. It is taken out for a change: another one at the same time locks the row. */
  const left = new Map<string, BudgetState>()

  async function change<T>(bucket: string, step: (state: BudgetState | null) => Step<T>): Promise<T> {
    for (let tried = 1; ; tried++) {
      try {
        // It is brief, and others wait for the slot of each request.
        return await beforeOthers(() => changeOnce(bucket, step))
      } catch (error) {
        if (!(error instanceof RetryableError) || tried >= TRIES) throw error
        reach('recovery: the budget is asked again')
        await clock.sleep(PAUSE_MS)
      }
    }
  }

  async function changeOnce<T>(bucket: string, step: (state: BudgetState | null) => Step<T>): Promise<T> {
    const known = left.get(bucket)
    left.delete(bucket)
    const made =
      (known && (await changeKnown(bucket, known, step))) ??
      (await db.transaction((sql) => changeLocked(sql, bucket, step)))
    left.set(bucket, made.state)
    return made.result
  }

  /** Changes a row that is still as it is known; undefined where it is not. */
  async function changeKnown<T>(bucket: string, known: BudgetState, step: (state: BudgetState) => Step<T>) {
    const made = step(known)
    const changed = await db.query(
      `with settings as materialized (select ${settings})
       update sync.budget set state = $1, changed_at = $2 from settings
        where account = $3 and bucket = $4 and state = $5 returning 1`,
      [made.state, new Date(clock.now()), account, bucket, known],
    )
    return changed.length > 0 ? made : undefined
  }

  async function changeLocked<T>(sql: Sql, bucket: string, step: (state: BudgetState | null) => Step<T>) {
    await sql.query(`select ${settings}`)
    const stored = (await lockRow(sql, bucket)) ?? (await createRow(sql, bucket))
    const made = step(beginWith(readBudgetState(stored), bucket))
    await typed(sql)
      .update(budget)
      .set({ state: made.state, changedAt: new Date(clock.now()) })
      .where(is(bucket))
    return made
  }

  /** Only this process has the embedded database open: what it did not reserve itself was reserved by one that is dead. */
  function beginWith(stored: BudgetState | null, bucket: string): BudgetState | null {
    if (db.kind === 'server') return stored
    const name = `${account} ${bucket}`
    const own = takenOver.get(db) ?? new Set()
    takenOver.set(db, own)
    if (own.has(name)) return stored
    own.add(name)
    return stored === null ? null : expireAllReservations(stored, clock.now())
  }

  const is = (bucket: string) => and(eq(budget.account, account), eq(budget.bucket, bucket))

  async function lockRow(sql: Sql, bucket: string): Promise<unknown> {
    const [row] = await typed(sql).select({ state: budget.state }).from(budget).where(is(bucket)).for('update')
    return row?.state
  }

  /** Another process may create the same row first: then its state counts. */
  async function createRow(sql: Sql, bucket: string): Promise<unknown> {
    const row = { account, bucket, state: {}, changedAt: new Date(clock.now()) }
    await typed(sql).insert(budget).values(row).onConflictDoNothing()
    return await lockRow(sql, bucket)
  }

  return { change, ...routesIn(db, account, clock) }
}

/** Which bucket each route of an account draws from. */
function routesIn(db: Database, account: string, clock: Clock): Omit<BudgetStore, 'change'> {
  const ofAccount = eq(routeBucket.account, account)
  return {
    async bucketOf(route) {
      const [row] = await typed(db)
        .select({ bucket: routeBucket.bucket })
        .from(routeBucket)
        .where(and(ofAccount, eq(routeBucket.route, route)))
      return row?.bucket ?? null
    },
    async bucketsNear(route) {
      const rows = await typed(db)
        .selectDistinct({ bucket: routeBucket.bucket })
        .from(routeBucket)
        .where(and(ofAccount, eq(sqlText`split_part(${routeBucket.route}, '/', 2)`, firstSegment(route))))
      return rows.map(({ bucket }) => bucket)
    },
    async learn(route, bucket) {
      const learned = { bucket, learnedAt: new Date(clock.now()) }
      await typed(db)
        .insert(routeBucket)
        .values({ account, route, ...learned })
        .onConflictDoUpdate({ target: [routeBucket.account, routeBucket.route], set: learned })
    },
  }
}
