import type { Sql } from '../../db/database.ts'
import { lastAccepted } from '../record/ledger.ts'
import type { ResourceBase } from '../resource.ts'
import type { IncomingResponse } from '../run/incoming-response.ts'
import { lastOfKey } from '../worklist/work-items.ts'
import { judgeClock } from './clock-guard.ts'
import { giveUp } from './give-up.ts'
import type { GuardAction } from './guard-actions.ts'
import { agreesWithRejected, agreesWithRejectedKey, countRecords } from './plausibility.ts'
import { type Verdict, validateSnapshot } from './validate-snapshot.ts'

/** What becomes of a response, and what the guards did about it. */
export interface Validation {
  readonly status: Verdict['status']
  /** Why it is not loaded, or only in part; null when it is loaded whole. */
  readonly reason: string | null
  readonly guarded: readonly GuardAction[]
  /** The response, with the last accepted one as it is after the clocks were judged. */
  readonly answer: IncomingResponse
  /** The number of records that later responses are compared with; null when its clock cannot be trusted. */
  readonly normalized: number | null
}

/** What of a response is compared with others. */
interface Found {
  readonly records: number
  readonly contentHash: Uint8Array
}

/** Judges a response before anything of it is written: its clock, its age and how plausible it is. */
export async function validateResponse(
  sql: Sql,
  resource: ResourceBase,
  answer: IncomingResponse,
  found: Found,
): Promise<Validation> {
  const { extraction, last } = answer
  const clock = await judgeClock(sql, resource, answer)
  if (clock.kind === 'rejected') return { ...rejected('clock', clock.reason, null), answer }
  if (clock.kind === 'contradicts') {
    const { reason } = clock
    const status = last && extraction.observedFrom < last.observedAt ? 'stale' : 'rejected'
    return { status, reason, normalized: null, answer, guarded: [{ guard: 'clock', action: 'pending', reason }] }
  }
  const current = clock.kind === 'give-up' ? await withoutGivenUp(sql, resource, answer, clock) : answer
  const judged = await judgePlausibility(sql, resource, current, found)
  if (clock.kind === 'fine') return judged
  const action = clock.kind === 'agreed' ? 'accepted after agreement' : 'given up'
  return { ...judged, guarded: [{ guard: 'clock', action, reason: clock.reason }, ...judged.guarded] }
}

/** The same response, of which nothing follows from what it lacks. */
function withoutAbsences({ relatedHistories: others = {} }: ResourceBase, answer: IncomingResponse): IncomingResponse {
  const incomplete = Object.keys(others)
  const entities = answer.preparation.entities.map((entity) => ({ ...entity, incomplete }))
  return { ...answer, preparation: { ...answer.preparation, entities } }
}

/** The response after the stored instants that it contradicts are given up. */
async function withoutGivenUp(
  sql: Sql,
  resource: ResourceBase,
  answer: IncomingResponse,
  { after, reason }: { readonly after: number; readonly reason: string },
): Promise<IncomingResponse> {
  const { scope, receivedAt } = answer
  await giveUp(sql, resource, { after: new Date(after), now: new Date(receivedAt), scope, reason })
  const last = scope === undefined ? await lastAccepted(sql, resource.name) : await lastOfKey(sql, resource.name, scope)
  return { ...answer, last }
}

async function judgePlausibility(
  sql: Sql,
  resource: ResourceBase,
  answer: IncomingResponse,
  { records, contentHash }: Found,
): Promise<Validation> {
  const { extraction, preparation, last, guards, scope } = answer
  const { accept = false } = guards
  const share = guards.plausibleShares?.[resource.name] ?? resource.plausibleShare ?? guards.plausibleShare
  const { normalized, came } = scope === undefined ? await countRecords(sql, resource, preparation) : ofOneKey(records)
  const candidate = { ...extraction, records, counted: came, contentHash }
  const verdict = validateSnapshot(candidate, last, { plausibleShare: share, accept })
  const isNewer = last === undefined || extraction.observedAt > last.observedAt
  const agreed = (reason: string) => ({ guard: 'plausibility', action: 'accepted after agreement', reason }) as const
  if (verdict.status === 'stale') {
    const { status, reason } = verdict
    return { status, reason, normalized: null, answer, guarded: [{ guard: 'staleness', action: 'ignored', reason }] }
  }
  if (verdict.status === 'rejected') {
    const response = { ...extraction, normalized }
    if (!verdict.shrunken || !isNewer || !(await agreesWithRejected(sql, resource.name, response)))
      return { ...rejected('plausibility', verdict.reason, normalized), answer }
    const reason = `${verdict.reason}; accepted, because three complete responses in a row agree`
    return { status: 'load', reason: null, normalized, answer, guarded: [agreed(reason)] }
  }
  const { status } = verdict
  const objection = (status === 'load' ? verdict.overruled : undefined) ?? extraction.validationError
  if (objection === undefined) return { status, reason: null, normalized, answer, guarded: [] }
  if (accept) {
    const reason = `${objection}; taken, because a person accepts it`
    return {
      status,
      reason: null,
      normalized,
      answer,
      guarded: [{ guard: 'plausibility', action: 'accepted', reason }],
    }
  }
  const response = { key: scope ?? '', observedAt: extraction.observedAt, reason: objection }
  if (scope === undefined || !isNewer || !(await agreesWithRejectedKey(sql, resource.name, response)))
    return { ...rejected('plausibility', objection, normalized), answer }
  const reason = `${objection}; accepted, because three responses in a row agree, but nothing it lacks is ended`
  const part = withoutAbsences(resource, answer)
  return { status, reason: objection, normalized, answer: part, guarded: [agreed(reason)] }
}

/** A response about one key is one record, however many pieces of it are in quarantine. */
function ofOneKey(records: number): { readonly normalized: number; readonly came: number } {
  const one = Math.min(records, 1)
  return { normalized: one, came: one }
}

function rejected(
  guard: 'clock' | 'plausibility',
  reason: string,
  normalized: number | null,
): Omit<Validation, 'answer'> {
  return { status: 'rejected', reason, normalized, guarded: [{ guard, action: 'rejected', reason }] }
}
