import type { Sql } from '../../db/database.ts'
import type { Answer } from '../answer.ts'
import type { Recorded } from '../resource.ts'
import type { GuardAction } from './actions.ts'
import { objectionToClock } from './clock.ts'
import { judge, type Verdict } from './guard.ts'
import { agreesWithRejected, countRecords } from './plausibility.ts'

/** What becomes of a response, and what the guards did about it. */
export interface Judged {
  readonly status: Verdict['status']
  /** Why it is not loaded; null when it is. */
  readonly reason: string | null
  readonly guarded: readonly GuardAction[]
  /** The number of records that later responses are compared with; null when its clock cannot be trusted. */
  readonly normalized: number | null
}

/** Judges a response before anything of it is written: its clock, its age and how plausible it is. */
export async function judgeResponse(
  sql: Sql,
  resource: Recorded,
  answer: Answer,
  { records, contentHash }: { readonly records: number; readonly contentHash: Uint8Array },
): Promise<Judged> {
  const { extraction, preparation, last, guards, scope } = answer
  const { accept = false } = guards
  const share = guards.plausibleShares?.[resource.name] ?? resource.plausibleShare ?? guards.plausibleShare
  const { normalized, came } =
    scope === undefined ? await countRecords(sql, resource, preparation) : { normalized: records, came: records }
  const candidate = { ...extraction, records, counted: came, contentHash }
  const verdict = judge(candidate, last, { plausibleShare: share, accept })
  if (verdict.status === 'stale') {
    const { status, reason } = verdict
    return { status, reason, normalized: null, guarded: [{ guard: 'staleness', action: 'ignored', reason }] }
  }
  const wrongClock = accept ? undefined : await objectionToClock(sql, resource.name, answer)
  if (wrongClock !== undefined) return rejected('clock', wrongClock, null)
  if (verdict.status === 'rejected') {
    const isNewer = last === undefined || extraction.observedAt > last.observedAt
    const response = { ...extraction, normalized }
    if (!verdict.shrunken || !isNewer || !(await agreesWithRejected(sql, resource.name, response)))
      return rejected('plausibility', verdict.reason, normalized)
    const reason = `${verdict.reason}; accepted, because three complete responses in a row agree`
    const agreed = { guard: 'plausibility', action: 'accepted after agreement', reason } as const
    return { status: 'load', reason: null, normalized, guarded: [agreed] }
  }
  const objection = (verdict.status === 'load' ? verdict.overruled : undefined) ?? extraction.objection
  if (objection === undefined) return { status: verdict.status, reason: null, normalized, guarded: [] }
  if (!accept) return rejected('plausibility', objection, normalized)
  const reason = `${objection}; taken, because a person accepts it`
  return {
    status: verdict.status,
    reason: null,
    normalized,
    guarded: [{ guard: 'plausibility', action: 'accepted', reason }],
  }
}

function rejected(guard: 'clock' | 'plausibility', reason: string, normalized: number | null): Judged {
  return { status: 'rejected', reason, normalized, guarded: [{ guard, action: 'rejected', reason }] }
}
