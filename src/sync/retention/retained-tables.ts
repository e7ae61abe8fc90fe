import type { AnyPgTable } from 'drizzle-orm/pg-core'

/** A table of samples that grows for ever, partitioned by month: what of its older months stays when they go. */
export interface RetainedTable {
  /** Primary key: the key columns, then `observed_at`. */
  readonly table: AnyPgTable
  /** Property names of the columns that say what is measured. */
  readonly key: readonly string[]
  /** The last row of a key in each of these (UTC) stays, and its first in a month. */
  readonly cell: 'hour' | 'day' | 'month'
  /** SQL conditions: of the rows that fulfil one, the last in each cell stays too, with the one after it. */
  readonly last?: readonly string[]
  /** SQL conditions: every row that fulfils one stays, with the one after it. */
  readonly every?: readonly string[]
  /** A column of which the highest value in each cell stays too. */
  readonly highest?: string
  /** Averages by the hour, made before the samples go. */
  readonly averages?: Averages
  /**
   * A query that gives `since` and `until`, between which responses to come change nothing, and all that averages are made
   * of is still there: those of its full hours are made ahead, for questions about weeks.
   */
  readonly finalRange?: string
}

/** Numbers by the hour that stay when what they are made of goes. */
export interface Averages {
  readonly table: AnyPgTable
  /** A query that gives the columns of `table` for the hours of `[$1, $2)`. */
  readonly of: string
}

/**
 * What stays of the instants of accepted responses when they are older than the retention of the ledger. `spans`: from when
 * to when they came at most so many seconds apart. `days`: of each key the first and the last of a day (UTC); what rests on
 * the others is made before they go.
 */
export type RetainedObservations = { readonly spans: number } | { readonly days: Averages }

/** A table of events of which questions know nothing coarser: what is older than its retention goes. */
export interface ExpiringTable {
  readonly table: AnyPgTable
  /** The property that says when a row was over; an index leads there. NULL: it is not over. */
  readonly over: string
}
