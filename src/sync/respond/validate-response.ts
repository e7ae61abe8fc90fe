import type { Sql } from '../../db/database.ts'
import type { ResourceBase } from '../declare/resource.ts'
import type { Witness } from '../evidence/claims.ts'
import type { GuardAction } from './guard-actions.ts'
import {
  agreesWithDoubted,
  agreesWithFlawed,
  agreesWithShrunken,
  countRecords,
  forgetImplausible,
} from './plausibility.ts'
import type { IncomingResponse } from './validate-snapshot.ts'
import { type Verdict, validateSnapshot } from './validate-snapshot.ts'

/** What becomes of a response, and what the guards did about it. */
export interface Validation {
  readonly status: Verdict['status']
  /** Why it is not loaded, or only in part; null when it is loaded whole. */
  readonly reason: string | null
  readonly guarded: readonly GuardAction[]
  readonly response: IncomingResponse
  /** The number of records that later responses are compared with; null when its clock cannot be trusted. */
  readonly normalized: number | null
}

interface Found {
  readonly records: number
  readonly contentHash: Uint8Array
}

/** Validates a response before anything of it is written: its clock, its age and how plausible it is. */
export async function validateResponse(
  sql: Sql,
  resource: ResourceBase,
  response: IncomingResponse,
  witness: Witness,
  found: Found,
): Promise<Validation> {
  const { clockError } = response.extraction
  if (clockError !== undefined) return rejected(response, null, { guard: 'clock', reason: clockError })
  const validation = await judgePlausibility(sql, resource, response, witness, found)
  return await withoutDoubted(sql, validation, witness)
}

/** Takes the count of a response that is hard to believe for none, until enough responses agree in it. */
async function withoutDoubted(sql: Sql, validation: Validation, witness: Witness): Promise<Validation> {
  const { response, status } = validation
  const { extraction, last, guards } = response
  const { doubt } = extraction
  if (doubt === undefined || status === 'stale' || guards.accept) return validation
  const isNewer = last === undefined || extraction.observedAt > last.observedAt
  const agreed = isNewer ? await agreesWithDoubted(sql, witness, doubt.gap) : { count: false, list: false }
  if (agreed.count) return validation
  const { reason, facts } = doubt
  const pending = `${reason}; its count is not believed before three responses in a row say the same`
  return {
    ...validation,
    guarded: [...validation.guarded, { guard: 'plausibility', action: 'pending', reason: pending }],
    response: {
      ...response,
      extraction: { ...extraction, complete: agreed.list && extraction.complete, lacks: reason, facts },
    },
  }
}

async function judgePlausibility(
  sql: Sql,
  resource: ResourceBase,
  response: IncomingResponse,
  witness: Witness,
  { records, contentHash }: Found,
): Promise<Validation> {
  const { extraction, preparation, last, guards, scope } = response
  const { accept = false, plausibleShares = {} } = guards
  const plausibleShare = plausibleShares[resource.name] ?? resource.plausibleShare ?? guards.plausibleShare
  // A response about one key is one record, however many pieces of it are in quarantine.
  const one = Math.min(records, 1)
  const counted = scope === undefined ? await countRecords(sql, resource, preparation) : { normalized: one, came: one }
  const { normalized, came } = counted
  const candidate = { ...extraction, records, counted: came, contentHash }
  const verdict = validateSnapshot(candidate, last, { plausibleShare, accept })
  const isNewer = last === undefined || extraction.observedAt > last.observedAt
  if (verdict.status === 'stale') {
    const { status, reason } = verdict
    return { status, reason, normalized: null, response, guarded: [{ guard: 'staleness', action: 'ignored', reason }] }
  }
  const validation = { reason: null, normalized, response }
  if (verdict.status === 'rejected') {
    const { reason } = verdict
    const { complete } = extraction
    if (
      scope !== undefined ||
      !isNewer ||
      !(await agreesWithShrunken(sql, witness, { normalized: records && normalized, complete }))
    )
      return rejected(response, normalized, { guard: 'plausibility', reason })
    const because = 'because three complete responses in a row, each of another cache window, agree'
    const guarded = [accepted(`${reason}; loaded, ${because}; what it lacks is not ended yet`, 'agreement')]
    return { ...validation, reason, status: 'load', response: { ...response, isShrunken: true }, guarded }
  }
  const { status } = verdict
  const error = (status === 'load' ? verdict.overruled : undefined) ?? extraction.validationError
  if (error === undefined) {
    if (isNewer) await forgetImplausible(sql, witness, scope, { isDoubted: extraction.doubt !== undefined })
    return { ...validation, status, guarded: [] }
  }
  if (accept) return { ...validation, status, guarded: [accepted(`${error}; accepted, because a person accepts it`)] }
  if (scope === undefined || !isNewer || !(await agreesWithFlawed(sql, witness, scope, error)))
    return rejected(response, normalized, { guard: 'plausibility', reason: error })
  const reason = `${error}; accepted, because three responses in a row agree, but nothing it lacks is ended`
  const partial = { ...validation, reason: error, response: withoutAbsences(resource, response) }
  return { ...partial, status, guarded: [accepted(reason, 'agreement')] }
}

/** The same response, of which nothing follows from what it lacks. */
function withoutAbsences({ relatedHistories = {} }: ResourceBase, response: IncomingResponse): IncomingResponse {
  const incomplete = Object.keys(relatedHistories)
  const entities = response.preparation.entities.map((entity) => ({ ...entity, incomplete }))
  return { ...response, preparation: { ...response.preparation, entities } }
}

function accepted(reason: string, by: 'agreement' | 'person' = 'person'): GuardAction {
  return { guard: 'plausibility', action: by === 'agreement' ? 'accepted after agreement' : 'accepted', reason }
}

function rejected(
  response: IncomingResponse,
  normalized: number | null,
  { guard, reason }: Pick<GuardAction, 'guard' | 'reason'>,
): Validation {
  return { status: 'rejected', reason, normalized, response, guarded: [{ guard, action: 'rejected', reason }] }
}
