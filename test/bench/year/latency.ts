import type { Database } from '../../../src/db/database.ts'
import { timedAsync } from '../measure.ts'
import type { Call } from './calls.ts'
import { largeScans } from './scans.ts'

/** How long one call takes, in ms, and what it reads. */
export interface Latency {
  readonly question: string
  readonly of: string
  readonly rows: number
  readonly p50: number
  readonly p95: number
  /** Empty, or what is wrong: `slow` (p95 above 100 ms), large tables that are read as a whole. */
  readonly remark: string
}

/** An answer should be there before somebody notices that it was not, ms. */
export const NOTICED = 100

/** A table with more rows is not to be read as a whole for a question about a part of it. */
const LARGE = 100_000

/** Calls that take longer are not repeated as often, ms. */
const PATIENCE = 4000

/**
 * Asks one question again and again over one connection, after one time that is not counted.
 * @param rounds how often, unless that would take more than a few seconds
 */
export async function measureCall(db: Database, call: Call, rounds: number): Promise<Latency> {
  const first = await timedAsync(() => db.values(call.text, call.values))
  const times: number[] = []
  for (let round = 0; round < rounds && (round === 0 || sum(times) < PATIENCE); round++)
    times.push((await timedAsync(() => db.values(call.text, call.values))).ms)
  const scans = await largeScans(db, call, { large: LARGE })
  const p95 = share(times, 0.95)
  return {
    question: call.question,
    of: call.of,
    rows: first.result.length,
    p50: rounded(share(times, 0.5)),
    p95: rounded(p95),
    remark: [p95 > NOTICED ? 'slow' : [], scans.map((table) => `reads all of ${table}`)].flat().join('; '),
  }
}

/** The value that so large a share of some numbers does not exceed. */
function share(numbers: readonly number[], part: number): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)] ?? Number.NaN
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
const rounded = (ms: number) => Number(ms.toFixed(1))
