import type { Database } from '../../../src/db/database.ts'
import { callsOf } from './calls.ts'
import type { Extent } from './draws.ts'
import { countRows, fillYear } from './fill.ts'
import { type Latency, measureCall } from './latency.ts'

/** How often each question is asked. */
const ROUNDS = 40

/**
 * A year of 500 guilds, with profiles of a part of their players: about a twentieth of the rows that a token's whole budget
 * keeps in a year. The bench makes less of it unless it is told to.
 */
export const wholeYear = { days: 365, guilds: 500, territories: 400, items: 6616, seed: 1 }

/**
 * Fills an empty database and asks it everything.
 * @param told called with tables as soon as they are known: the rows, then how long each question took
 */
export async function measureYear(
  db: Database,
  extent: Extent,
  told: (title: string, rows: readonly object[]) => void,
): Promise<Latency[]> {
  const filled: object[] = []
  await fillYear(db, extent, (what, ms) => filled.push({ what, s: Number((ms / 1000).toFixed(1)) }))
  told(`A history of ${extent.days} days and ${extent.guilds} guilds, made in`, filled)
  told('Rows', await countRows(db))
  const latencies: Latency[] = []
  for (const call of await callsOf(db, extent)) latencies.push(await measureCall(db, call, ROUNDS))
  told(`Questions, in ms of ${ROUNDS} calls over one warm connection`, latencies)
  return latencies
}
