import { and, gt } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { anyOf, typed } from '../../db/typed.ts'
import type { Target } from '../archive/erase-archived.ts'
import type { ResourceBase } from '../declare/resource.ts'
import type { Witness } from '../evidence/claims.ts'
import { copySecondsOf } from '../evidence/policies.ts'
import { appendQuarantine, type Counts, noCounts, type RunStatus } from '../ledger/ledger.ts'
import { fingerprintOf, rootsOf } from '../normalize/prepare.ts'
import type { Touched } from '../outbox/outbox.ts'
import { applyPrivacyRules, hiddenIn, hideUnloaded } from '../privacy/privacy.ts'
import { bulkTable } from '../sql/history-sql.ts'
import { tier } from '../tables/retention.ts'
import { forgetRefusals } from './checked-keys.ts'
import { ignoredActions, walkActions } from './guard-actions.ts'
import { loadAccepted } from './load-accepted.ts'
import { judgeUnsent, restorePresence } from './unsent-fields.ts'
import { type IncomingResponse, type Validation, validateResponse } from './validate-response.ts'

/** Averaging waits for responses that write samples, and they wait for it. */
export const averagingLock = 'averages'

/**
 * Invalidates averages that were made ahead, from the hour of an accepted response on, where it came late. In the transaction
 * of the response, after its rows: averaging waits for it, or it for averaging.
 */
async function averageAgain(
  sql: Sql,
  { samples = {} }: Pick<ResourceBase, 'samples'>,
  observedAt: Date,
): Promise<void> {
  await averageTablesAgain(
    sql,
    Object.values(samples).map(({ table }) => bulkTable(table).name),
    observedAt,
  )
}

/** The same of tables of samples, from the hour of the oldest new one on. */
export async function averageTablesAgain(sql: Sql, tables: readonly string[], observedAt: Date): Promise<void> {
  await lockForTransaction(sql, averagingLock, 'shared')
  await typed(sql)
    .update(tier)
    .set({ averagedUntil: new Date(observedAt.getTime() - (observedAt.getTime() % 3_600_000)) })
    .where(and(anyOf(tier.sampleTable, tables), gt(tier.averagedUntil, observedAt)))
}

export interface LoadResult extends Counts, Pick<Validation, 'reason' | 'normalized' | 'guarded'> {
  readonly status: RunStatus
  /** The instant that it speaks for; null when its own headers contradict that. */
  readonly observedAt: Date | null
  /** Current keys after it; null when it was not accepted. */
  readonly currentKeys: number | null
  readonly contentHash: Buffer
  /** The next response is loaded even where it is the same. */
  readonly reload: boolean
  /** Restricted fields that it shows: they are in no table, and may stay nowhere else. */
  readonly hidden: readonly Target[]
  /** It hides for the first time something that is kept. */
  readonly hidesKept?: boolean
  /** Fields that the record of a worklist had before and has not any more. */
  readonly lost?: readonly string[]
  /** What it changed, where that may be named. */
  readonly touched?: Touched | undefined
  /** What is new to the program, for the log. */
  readonly drift: readonly { readonly kind: string; readonly path: string; readonly member: string }[]
}

const noneHidden = { hidesKept: false, guarded: [] }

/** Validates a response and loads what of it is accepted. Belongs into the transaction that records it. */
export async function loadResponse(sql: Sql, resource: ResourceBase, incoming: IncomingResponse): Promise<LoadResult> {
  const { extraction, preparation, scope } = incoming
  const { quarantined, seen } = preparation
  const records = seen.size + quarantined.filter(({ key }) => key === undefined).length
  const contentHash = fingerprintOf(extraction, preparation)
  const { fields: known } = incoming
  const witness = witnessOf(resource, incoming)
  const isOfOther = scope !== undefined && !seen.has(scope)
  // Whatever comes of it: it shows the key.
  if (scope !== undefined && !isOfOther && incoming.claims.size > 0)
    await forgetRefusals(sql, resource.name, [scope], incoming.receivedAt)
  const validation = await validateResponse(sql, resource, incoming, witness, { records, contentHash })
  const { status, reason, normalized } = validation
  const guarded = [...(extraction.dating ?? []), ...validation.guarded]
  const observedAt = extraction.clockError === undefined ? new Date(extraction.observedAt) : null
  const found = { ...noCounts, records, contentHash, reload: false, observedAt, normalized }
  const base = { ...found, currentKeys: null, drift: [], hidden: [] }
  if (status === 'stale') return { ...base, status, reason, guarded }
  if (status === 'rejected') {
    const hidden = await hiddenIn(sql, resource, validation.response)
    const isOfKey = scope === undefined || rootsOf(preparation).some(({ key }) => key === scope)
    const { hidesKept, ...unloaded } = isOfKey ? await hideUnloaded(sql, resource, validation.response) : noneHidden
    // Why nothing in it is of the key may be that the key cannot be read.
    const unread = isOfOther ? quarantined : []
    const at = new Date(incoming.receivedAt)
    await appendQuarantine(sql, { resource: resource.name, at, runId: incoming.runId }, unread)
    const counts = { rejected: 1, quarantined: unread.length }
    const rejected = { ...base, ...counts, hidden, status, reason, guarded: [...guarded, ...unloaded.guarded] }
    return hidesKept ? { ...rejected, hidesKept } : rejected
  }
  const isNewer = incoming.last === undefined || extraction.observedFrom > incoming.last.observedAt
  const unsent = await judgeUnsent(sql, resource, validation.response, witness, known, {
    isNewer,
    isSame: status === 'unchanged',
  })
  const followsUnsent = known.wasUnsent || known.open.length + known.pending.length > 0
  // What was imported has no hash.
  const before = incoming.last?.contentHash.subarray(0, 4)
  const listsOthers = before !== undefined && Buffer.compare(contentHash.subarray(0, 4), before) !== 0
  const response = { ...validation.response, ...(unsent ? { unsent } : {}), followsUnsent, listsOthers }
  const judged = { ...validation, response }
  const { awaitsAbsences, awaitsKeys, ...accepted } = await loadUnlessKnown(sql, resource, judged, witness)
  // It may be another list: its fields say nothing of this one.
  if (awaitsKeys) await restorePresence(sql, witness, known)
  if (scope !== undefined) await averageAgain(sql, resource, new Date(extraction.observedAt))
  preparation.repetition?.remember({ loaded: { contentHash, entities: rootsOf(preparation) } })
  const actions = [...walkActions(extraction, records), ...guarded, ...accepted.guarded]
  // Later ones are still compared with the last one of plausible size.
  const isDoubted = awaitsKeys || (awaitsAbsences && validation.response.isShrunken === true)
  const compared = isDoubted ? (incoming.last?.records ?? normalized) : normalized
  return {
    ...base,
    normalized: compared,
    quarantined: quarantined.length,
    ...accepted,
    guarded: actions,
  }
}

function witnessOf(resource: ResourceBase, incoming: IncomingResponse): Witness {
  const { extraction, receivedAt, runId, guards, claims } = incoming
  const at = new Date(extraction.observedAt)
  const { name } = resource
  const cacheSeconds = copySecondsOf(resource, extraction)
  const shrunkenHours = Math.min(guards.shrunkenHours ?? 6, resource.shrunkenHours ?? Number.POSITIVE_INFINITY)
  const { isOrderOnly = false } = extraction
  const of = { resource: name, cacheSeconds, at, isOrderOnly, receivedAt: new Date(receivedAt), runId }
  return { ...of, guards: { ...guards, shrunkenHours }, open: new Set(claims) }
}

const nothingAwaited = { awaitsAbsences: false, awaitsKeys: false }

/** Loads a response that is accepted; one that is the same as the last one changes nothing. */
async function loadUnlessKnown(
  sql: Sql,
  resource: ResourceBase,
  { status: verdict, reason, response }: Validation,
  witness: Witness,
) {
  const { preparation, last, extraction } = response
  const partial = partialReason(response) ?? reason
  const statusOf = (otherwise: 'ok' | 'unchanged'): RunStatus => (partial ? 'partial' : otherwise)
  const { hidden, isNews, eraseHidden, ...privacy } = await applyPrivacyRules(sql, resource, response)
  // Only a response that is newer in all its pages is another one, and then it counts for what is pending.
  const isEvidence = response.claims.size > 0 && !(last && extraction.observedFrom <= last.observedAt)
  if (verdict === 'unchanged' && !isNews && !isEvidence && response.unsent === undefined) {
    const currentKeys = last?.currentKeys ?? null
    const known = { unchanged: rootsOf(preparation).length, currentKeys, ...nothingAwaited, ...privacy }
    return { ...known, status: statusOf('unchanged'), reason: partial, hidden }
  }
  const { hasChanged, guarded, ...loaded } = await loadAccepted(sql, resource, response, witness)
  await eraseHidden()
  return {
    ...loaded,
    status: statusOf(hasChanged ? 'ok' : 'unchanged'),
    reason: partial,
    hidden,
    hidesKept: privacy.hidesKept,
    // Once all of it may be loaded, and while it is shrunken.
    reload: hidden.length > 0 || (response.isShrunken === true && loaded.awaitsAbsences),
    guarded: [...(verdict === 'load' ? ignoredActions(preparation.ignored) : []), ...privacy.guarded, ...guarded],
  }
}

function partialReason({ extraction, preparation, unsent }: IncomingResponse): string | null {
  const { length } = preparation.quarantined
  if (unsent?.reason) return unsent.reason
  if (length > 0) return `${length} records could not be understood; see sync.quarantine`
  if (extraction.lacks !== undefined) return `${extraction.lacks} (${preparation.came} records came)`
  if (extraction.complete) return null
  if (extraction.unsteady !== undefined) return `${extraction.unsteady} (${preparation.came} records came)`
  return `the walk saw another number of records than the API counts (${preparation.came} came)`
}
