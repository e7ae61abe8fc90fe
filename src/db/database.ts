import { AsyncLocalStorage } from 'node:async_hooks'

/** A value on its way to or from Postgres. Objects go into jsonb columns as JSON. */
export type SqlValue = string | number | bigint | boolean | null | Date | Uint8Array | object

/** One column value of a bulk row: `null` is NULL, an object or array becomes JSON, a Date an ISO instant, bytes a bytea. */
export type CopyValue = SqlValue | undefined

/** Something that runs SQL: a database, or one transaction of it. Parameters only, never text pasted into SQL. */
export interface Sql {
  /**
   * Runs one statement and returns its rows as objects.
   * Comes back the same from both databases: int8 and numeric as number (text where a whole number is beyond
   * 2^53), timestamptz as Date, json parsed, uuid as text,
   * bytea as Uint8Array. Goes in the same: string, number, boolean, null, Date, Uint8Array, arrays of these
   * (`$1::text[]`, `uuid[]`, `bytea[]`, `timestamptz[]`), and plain objects for jsonb.
   */
  query<Row = Record<string, unknown>>(text: string, params?: readonly SqlValue[]): Promise<Row[]>
  /** The same as arrays in select order; what a query builder needs. */
  values(text: string, params?: readonly SqlValue[]): Promise<unknown[][]>
  /** Bulk insert with COPY. `table` is schema-qualified and comes from code. Streams `rows`; returns how many went in. */
  copy(table: string, columns: readonly string[], rows: Iterable<readonly CopyValue[]>): Promise<number>
  /** The same of a CSV file of this machine, of a few megabytes: UTF-8, without header, `\N` for NULL and all text in quotes. */
  copyCsv(table: string, columns: readonly string[], path: string): Promise<void>
  /**
   * Runs `copy ... to stdout` and passes on its lines, in UTF-8, at the pace at which they are taken. A server alone has it: the
   * embedded database would hold the whole output in memory.
   */
  copyOut?(statement: string, onLines: (lines: Buffer) => Promise<void>): Promise<void>
}

/** A held lock; `release` gives it back, and so does the end of the process. */
export interface Lock {
  release(): Promise<void>
}

/** Marks a transaction that only reads and may be run again. */
interface QuestionLimits {
  /**
   * On the embedded database, which has one session: how long it may take with its waiting, ms. It waits for all that are not limited, and fails with
   * SQLSTATE 57014 when its time is over. On a server the caller sets statement_timeout.
   */
  readonly limitMs?: number
  /**
   * On the embedded database: it begins only when the session was free for a second, and gives way to every other user of it, to begin anew
   * afterwards. It fails when this is aborted, and at once where another process has the database.
   */
  readonly whileIdle?: AbortSignal
}

const first = new AsyncLocalStorage<true>()

/**
 * Runs work whose statements come before all others that wait for the embedded database: those of a poll, whose instant does not come
 * again, and brief ones that a poll may wait for. A server has a connection for each.
 */
export function beforeOthers<T>(work: () => Promise<T>): Promise<T> {
  return first.run(true, work)
}

/** Whether this is called inside of `beforeOthers`. */
export function isBeforeOthers(): boolean {
  return first.getStore() === true
}

/** A database of either kind. */
export interface Database extends Sql {
  readonly kind: 'server' | 'embedded'
  /** For messages: host and database name, or the data folder. Never a password. */
  readonly place: string
  /** Runs `work` in one transaction: committed when it resolves, rolled back when it rejects. */
  transaction<T>(work: (sql: Sql) => Promise<T>, limits?: QuestionLimits): Promise<T>
  /** Takes the named lock for this process, or returns null at once when another holds it. */
  tryLock(name: string): Promise<Lock | null>
  /** Called after what must not come back was removed: the copies that the embedded database keeps of itself are replaced. A server has none. */
  outdateCopies?(): Promise<void>
  close(): Promise<void>
}
