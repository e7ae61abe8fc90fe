import { randomUUID } from 'node:crypto'
import type { Database } from '../../db/database.ts'
import { appendRun } from '../ledger/ledger.ts'
import type { Admission } from './admission.ts'

/** When a resource could not be synced because its database could not be used; ms since the epoch. */
export interface Outage {
  readonly from: number
  readonly to: number
  readonly message: string
}

/** Remembers outages of the database until it is back, because the ledger cannot. */
export interface Outages {
  /** A run of the resource failed because of the database. */
  note(resource: string, at: number, message: string): void
  read(resource: string): Outage | undefined
  forget(resource: string): void
}

/** One more failure of an outage, or the first of one. */
export function extended(known: Outage | undefined, at: number, message: string): Outage {
  return { from: Math.min(known?.from ?? at, at), to: Math.max(known?.to ?? at, at), message }
}

/** Records that the database was away, as a failed run, so that the gap that the next response closes has its reason. */
export async function recordOutage(
  {
    db,
    outages,
    program,
    admission,
  }: { db: Database; outages?: Outages | undefined; program: string; admission?: Admission | undefined },
  resource: string,
): Promise<void> {
  const outage = outages?.read(resource)
  if (!outage) return
  await admission?.checkSchema(db)
  const startedAt = new Date(outage.from)
  const finishedAt = new Date(outage.to)
  const error = `database unreachable from ${startedAt.toISOString()} to ${finishedAt.toISOString()}: ${outage.message}`
  await db.transaction((sql) =>
    appendRun(sql, { runId: randomUUID(), resource, status: 'failed', error, startedAt, finishedAt, program }),
  )
  outages?.forget(resource)
}
