import type { Sql } from '../../db/database.ts'
import { pendingAbsences } from '../load/absent.ts'
import { loadAccepted } from '../load/load-accepted.ts'
import { type Counts, noCounts } from '../load/load-counts.ts'
import { fingerprintOf } from '../normalize/fingerprint.ts'
import { sha256 } from '../normalize/hash.ts'
import type { Target } from '../privacy/erase-person.ts'
import { applyPrivacyRules, hiddenIn } from '../privacy/privacy.ts'
import type { RunStatus } from '../record/ledger.ts'
import type { Extraction, ResourceBase } from '../resource.ts'
import { type GuardAction, ignoredActions, walkActions } from '../validate/guard-actions.ts'
import { validateResponse } from '../validate/verdict.ts'
import type { IncomingResponse } from './incoming-response.ts'

/** What an answer came to, for the ledger and for the caller. */
export interface LoadResult extends Counts {
  readonly status: RunStatus
  readonly reason: string | null
  /** The number of records that plausibility compares with later ones; null when its clock cannot be trusted. */
  readonly normalized: number | null
  /** Current keys after it; null when the answer was not taken. */
  readonly living: number | null
  readonly contentHash: Buffer
  /** What it shows of people although it is hidden: it is in no table, and may stay nowhere else. */
  readonly hidden: readonly Target[]
  /** What guards did about it, for `sync.guard_action`. */
  readonly guarded: readonly GuardAction[]
  /** Fields that the record of a worklist had before and has not any more; whether all lose them, only many answers tell. */
  readonly lost?: readonly string[]
  /** Novelties seen for the first time, for the log. */
  readonly drift: readonly { readonly kind: string; readonly path: string; readonly member: string }[]
}

/** Takes one answer into the database, inside the caller's transaction: all of what it says is there or none. */
export async function loadResponse(sql: Sql, resource: ResourceBase, came: IncomingResponse): Promise<LoadResult> {
  const { extraction, preparation } = came
  const { entities, quarantined, seen } = preparation
  const records = seen.size + quarantined.filter((one) => one.key === undefined).length
  const fingerprint = fingerprintOf(extraction, preparation)
  const counts = { ...noCounts, records, quarantined: quarantined.length }
  const outcome = { ...counts, normalized: null, living: null, drift: [], hidden: [], contentHash: fingerprint }

  const judged = await validateResponse(sql, resource, came, { records, contentHash: fingerprint })
  const { status: verdict, reason, normalized, answer } = judged
  const { last } = answer
  if (verdict === 'stale') return { ...outcome, quarantined: 0, status: verdict, reason, guarded: judged.guarded }
  if (verdict === 'rejected') {
    const hidden = await hiddenIn(sql, resource, answer)
    const { guarded } = judged
    return { ...outcome, normalized, hidden, quarantined: 0, status: verdict, reason, rejected: 1, guarded }
  }
  const guarded = [...walkActions(extraction, records), ...judged.guarded]
  if (verdict === 'load') guarded.push(...ignoredActions(preparation.ignored))
  const doubt = partialReason(answer) ?? reason
  const { hidden, isNews, settle } = await applyPrivacyRules(sql, resource, answer)
  if (verdict === 'unchanged' && !isNews && !(await confirmsPendingDeletion(sql, resource, answer))) {
    const status = doubt ? 'partial' : 'unchanged'
    return {
      ...outcome,
      normalized,
      hidden,
      status,
      reason: doubt,
      unchanged: entities.length,
      living: last?.living ?? null,
      guarded,
    }
  }
  const { anything, guarded: found, ...written } = await loadAccepted(sql, resource, answer)
  await settle()
  const status = doubt ? 'partial' : anything ? 'ok' : 'unchanged'
  // Under another fingerprint: the same answer must not count as known once it may be taken in whole.
  const contentHash = hidden.length > 0 ? sha256(fingerprint) : fingerprint
  return {
    ...outcome,
    ...written,
    normalized,
    contentHash,
    hidden,
    status,
    reason: doubt,
    guarded: [...guarded, ...found],
  }
}

/** The instant that the ledger gives a response: null for one that was rejected because its own headers contradict it. */
export function observedBy({ observedAt, clockError }: Extraction, status: RunStatus): Date | null {
  return status === 'rejected' && clockError !== undefined ? null : new Date(observedAt)
}

/** Whether an unchanged answer still says something: that what was missing before is missing again. */
async function confirmsPendingDeletion(
  sql: Sql,
  resource: ResourceBase,
  { extraction, last, scope }: IncomingResponse,
): Promise<boolean> {
  // Only an answer that is newer in all its pages is another witness.
  if (last && extraction.observedFrom <= last.observedAt) return false
  const counted = [
    resource.name,
    ...Object.keys(resource.relatedHistories ?? {}).map((name) => `${resource.name}/${name}`),
  ]
  for (const name of counted) if ((await pendingAbsences(sql, name, scope)).length > 0) return true
  return false
}

function partialReason({ extraction, preparation }: IncomingResponse): string | null {
  const { length } = preparation.quarantined
  if (length > 0) return `${length} records could not be understood; see sync.quarantine`
  if (extraction.complete) return null
  return `the walk saw another number of records than the API counts (${extraction.records.length} came)`
}
