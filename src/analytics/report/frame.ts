import type { Sql } from '../../db/database.ts'
import type { Roster } from './roster.ts'

/** What every picture of a report is about. */
export interface Frame {
  readonly from: Date
  /** The end; not part of the period. */
  readonly to: Date
  /** The guild that has a page of its own. */
  readonly guild: string | null
  /** When the report is written; ages are told as of then. */
  readonly writtenAt: Date
  readonly roster: Roster
}

/** A period, before anything is drawn. */
export type Period = Pick<Frame, 'from' | 'to'>

const HOUR = 3_600_000
const MINUTE = 60_000
/** Lengths of a step that people read easily; seconds. */
const lengths = [300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 7 * 86_400, 28 * 86_400]

/**
 * The period of a report: what is wanted, else the last seven days up to the latest observation, or since the first one.
 * Begins at a full hour, unless told otherwise; ends with the minute of the observation, so that it is part of it.
 */
export async function periodOf(sql: Sql, wanted: Partial<Period>, writtenAt: Date): Promise<Period> {
  const [seen] = await sql.query<{ first: Date | null; last: Date | null }>(
    `select min(watch.first_at) as first, max(watch.last_at) as last
       from analytics.freshness cross join lateral analytics.watch(freshness.resource) watch`,
  )
  const to = wanted.to ?? new Date(Math.ceil(((seen?.last ?? writtenAt).getTime() + 1) / MINUTE) * MINUTE)
  if (wanted.from) return { from: wanted.from, to }
  const week = to.getTime() - 7 * 24 * HOUR
  const first = seen?.first?.getTime() ?? week
  // An answer may speak for a moment just before the hour in which it came.
  const from = first < to.getTime() ? Math.max(week, first + MINUTE) : week
  return { from: new Date(Math.floor(from / HOUR) * HOUR), to }
}

/** The smallest readable step, in seconds, that cuts a period into at most `most` parts and is no shorter than `least`. */
export function stepOf({ from, to }: Period, most: number, least = 0): number {
  const seconds = (to.getTime() - from.getTime()) / 1000
  return lengths.find((one) => one >= least && seconds / one <= most) ?? Math.ceil(seconds / most)
}

/** Where the steps of a period begin. */
export function stepsOf({ from, to }: Period, step: number): Date[] {
  const steps: Date[] = []
  for (let at = from.getTime(); at < to.getTime(); at += step * 1000) steps.push(new Date(at))
  return steps
}

/** How often a resource is expected to be observed; seconds, 0 where nobody told. */
export async function expectedEvery(sql: Sql, resource: string): Promise<number> {
  const [row] = await sql.query<{ seconds: number | null }>(
    `select extract(epoch from expected_every)::double precision as seconds from analytics.freshness where resource = $1`,
    [resource],
  )
  return row?.seconds ?? 0
}

/** From when to when a resource was observed; null where it never was. */
export async function observedOf(sql: Sql, resource: string): Promise<{ first: Date; last: Date } | null> {
  const [row] = await sql.query<{ first: Date | null; last: Date | null }>(
    `select first_at as first, last_at as last from analytics.watch($1)`,
    [resource],
  )
  return row?.first && row.last ? { first: row.first, last: row.last } : null
}
