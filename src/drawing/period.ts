import { UsageError } from '../base/errors.ts'
import type { Sql } from '../db/database.ts'
import { boundPeriod, bounds } from '../questions/asking/bounds.ts'

export interface Period {
  readonly from: Date
  /** The end; not part of the period. */
  readonly to: Date
}

const HOUR = 3_600_000
const MINUTE = 60_000
const DAY_SECONDS = 86_400
/** Longer than this, ms, a period begins at a full hour. */
const LONG_PERIOD_MS = 8 * 24 * HOUR
/** Lengths of a step that people read easily; seconds. */
const lengths = [
  300,
  600,
  900,
  1800,
  3600,
  7200,
  10_800,
  21_600,
  43_200,
  DAY_SECONDS,
  7 * DAY_SECONDS,
  28 * DAY_SECONDS,
]

/**
 * The period of a report: what is wanted, as far as anything was observed where it is very long; else the last seven days up to the
 * latest observation, or since the first one. Begins at a full hour, unless another instant is given for a short one; ends with the minute of
 * the observation, so that it is part of it.
 * @param seen from when to when anything was observed, where that is known already
 * @throws UsageError when it has more than 20,000 hours
 */
export async function periodOf(
  sql: Sql,
  wanted: Partial<Period>,
  writtenAt: Date,
  seen?: Seen | null,
): Promise<Period> {
  const { first, last } = (seen === undefined ? await seenOf(sql) : seen) ?? { first: undefined, last: writtenAt }
  const to = wanted.to ?? endAfter(last)
  // Of a long period averages of full hours are read; from another instant on, every sample would be.
  if (wanted.from)
    return await boundHours(sql, { from: isLong(wanted.from, to) ? fullHour(wanted.from) : wanted.from, to })
  return { from: beginOf(to.getTime() - 7 * 24 * HOUR, to, first), to }
}

const isLong = (from: Date, to: Date) => to.getTime() - from.getTime() > LONG_PERIOD_MS
const fullHour = (at: Date) => new Date(Math.floor(at.getTime() / HOUR) * HOUR)

/** From when to when something was observed. */
export interface Seen {
  readonly first: Date
  readonly last: Date
}

/** From when to when anything was observed; null where nothing was. */
async function seenOf(sql: Sql): Promise<Seen | null> {
  const [seen] = await sql.query<{ first: Date | null; last: Date | null }>(
    `select min(watch.first_at) as first, max(watch.last_at) as last
       from analytics.freshness known cross join lateral analytics.watch(known.resource) watch`,
  )
  return seen?.first && seen.last ? { first: seen.first, last: seen.last } : null
}

/** From when to when a resource was observed; null where it never was. */
export async function observedOf(sql: Sql, resource: string): Promise<Seen | null> {
  const [row] = await sql.query<{ first: Date | null; last: Date | null }>(
    `select first_at as first, last_at as last from analytics.watch($1)`,
    [resource],
  )
  return row?.first && row.last ? { first: row.first, last: row.last } : null
}

/** The end of the minute of an observation. */
export function endAfter(observed: Date): Date {
  return new Date(Math.ceil((observed.getTime() + 1) / MINUTE) * MINUTE)
}

/** The full hour at or before `earliest`, ms, or that of the first observation where this is later. */
export function beginOf(earliest: number, to: Date, first: Date | undefined): Date {
  // observed_at of a response may lie just before the hour in which it came.
  const from = first && first < to ? Math.min(to.getTime() - 1, Math.max(earliest, first.getTime() + MINUTE)) : earliest
  return fullHour(new Date(from))
}

async function boundHours(sql: Sql, { from, to }: Period): Promise<Period> {
  if ((to.getTime() - from.getTime()) / HOUR <= bounds.cells) return { from, to }
  const period = await boundPeriod(sql, from.toISOString(), to.toISOString(), '1 hour')
  if (period.cells <= bounds.cells) return { from: new Date(period.from), to: new Date(period.to) }
  const most = bounds.cells.toLocaleString('en-US')
  const hours = period.cells.toLocaleString('en-US')
  throw new UsageError(`--from is too early: a report is about ${most} hours at most, not ${hours}; give a later one`)
}

/** The smallest readable step, in seconds, that cuts a period into at most `most` parts and is no shorter than `least`; of many years whole days. */
export function stepOf({ from, to }: Period, most: number, least = 0): number {
  const seconds = (to.getTime() - from.getTime()) / 1000
  return (
    lengths.find((one) => one >= least && seconds / one <= most) ??
    Math.ceil(seconds / most / DAY_SECONDS) * DAY_SECONDS
  )
}

/** Where the steps of a period begin. */
export function stepsOf({ from, to }: Period, step: number): Date[] {
  const steps: Date[] = []
  for (let at = from.getTime(); at < to.getTime(); at += step * 1000) steps.push(new Date(at))
  return steps
}
