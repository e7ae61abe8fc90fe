import { and, eq } from 'drizzle-orm'
import type { HttpExchange } from '../../api/http/http-exchange.ts'
import { reach } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { type ArchiveEntry, archiveResponse } from '../archive/archive.ts'
import { invalidateCoverage, recordGap } from '../ledger/gaps.ts'
import type { RunRow, RunStatus } from '../ledger/ledger.ts'
import { appendDrift, appendObservation, appendRun, type Counts, isAccepted } from '../ledger/ledger.ts'
import type { Novelty } from '../normalize/drift.ts'
import { type Notification, notifyChannel } from '../outbox/notifications.ts'
import { rawAnswer } from '../tables/archive.ts'
import { guardAction } from '../tables/state.ts'
import type { RefusalKind } from '../worklist/refusals.ts'
import { type Checked, forgetRefusals, recordChecked } from './checked-keys.ts'
import type { GuardAction } from './guard-actions.ts'

/**
 * What became of a response, a refusal, a failed request, a conclusion or a run over keys. Accepted, partial, rejected,
 * stale, hidden, gone and failed differ only in this description: `recordOutcome` writes all of them.
 */
export interface Outcome extends Counts, Pick<Notification, 'resource' | 'runId' | 'people' | 'touched' | 'isLate'> {
  /** Of a worklist. */
  readonly key?: string
  readonly status: RunStatus | RefusalKind
  readonly reason: string | null
  /** By the clock of this machine. */
  readonly at: Date
  /** The instant that the response speaks for; null without a response that can be trusted. */
  readonly observedAt: Date | null
  readonly guarded: readonly GuardAction[]
  /** What is new to the program, as the load recorded it. */
  readonly drift: readonly RecordedDrift[]
  /** What else is new; recorded here. */
  readonly novelties?: readonly (Novelty & { readonly key: string })[]
  readonly run?: RunRow
  /** The run is one response: the seconds that the API keeps one copy of it. */
  readonly cacheSeconds?: number
  /** A row for the response about the key. */
  readonly isObservation?: boolean
  readonly workItem?: Omit<Checked, 'key'>
  readonly archive?: Pick<ArchiveEntry, 'status' | 'hidden' | 'accepted' | 'personal'> & {
    /** Empty when the archive is off. */
    readonly exchanges: readonly HttpExchange[]
  }
  /** A refusal of this run that is confirmed. */
  readonly concludes?: RefusalKind
}

export type RecordedDrift = Pick<Novelty, 'path' | 'member'> & { readonly kind: string }

/**
 * Writes an outcome, in the transaction of what it loaded: coverage, ledger, worklist, drift, guard actions, archive and
 * notification. Returns it with the drift that was new.
 */
export async function recordOutcome(sql: Sql, outcome: Outcome, notifies = false): Promise<Outcome> {
  const { resource, key, runId, at, observedAt, archive, guarded } = outcome
  await recordInLedger(sql, outcome)
  if (key !== undefined && outcome.workItem) await recordChecked(sql, resource, { key, ...outcome.workItem })
  if (key !== undefined && outcome.concludes)
    await recordConclusion(sql, { resource, key, runId, kind: outcome.concludes })
  const found = { resource, runId, at: observedAt ?? at }
  const drift = [...outcome.drift, ...(await appendDrift(sql, found, outcome.novelties ?? []))]
  await appendGuardActions(sql, outcome, guarded)
  for (const { guard, action } of guarded) reach(`guard ${guard}: ${action}`)
  if (archive) {
    const { exchanges, ...entry } = archive
    await archiveResponse(sql, exchanges, { resource, key, runId, takenAt: at, observedAt, ...entry })
  }
  const recorded = { ...outcome, drift }
  if (notifies) await notifyChannel(sql, { ...recorded, error: outcome.run?.error })
  return recorded
}

async function recordInLedger(sql: Sql, outcome: Outcome): Promise<void> {
  const { resource, key, runId, at, observedAt, status, reason, run, cacheSeconds } = outcome
  if (cacheSeconds !== undefined && run) {
    const accepted = isAccepted(status) ? observedAt : null
    await invalidateCoverage(sql, resource, accepted ?? run.startedAt)
    // Before the row itself: the gap reaches back to the one before.
    if (accepted) {
      const waitedSince = waitedFor(run, at) ? run.startedAt : null
      await recordGap(sql, { resource, cacheSeconds, observedAt: accepted, receivedAt: at, waitedSince })
    }
  }
  if (run) await appendRun(sql, run)
  if (outcome.isObservation && key !== undefined && status !== 'failed')
    await appendObservation(sql, { resource, key, runId, receivedAt: at, observedAt, status, reason })
}

/** Headers of a response come sooner, ms. */
const longestResponse = 30_000

/** Whether the requests of a run waited before they were sent: none was repeated, and still they took long. */
function waitedFor({ startedAt, requests = 0, pages = 0 }: RunRow, at: Date): boolean {
  const once = Math.max(1, pages)
  return requests <= once && at.getTime() - startedAt.getTime() > longestResponse * once
}

/** What a confirmed refusal waited for is over. */
async function recordConclusion(
  sql: Sql,
  { resource, key, runId, kind }: { resource: string; key: string; runId: string; kind: RefusalKind },
): Promise<void> {
  await forgetRefusals(sql, resource, [key])
  const ofRun = and(eq(rawAnswer.resource, resource), eq(rawAnswer.key, key), eq(rawAnswer.runId, runId))
  await typed(sql)
    .update(rawAnswer)
    .set({ status: kind })
    .where(and(ofRun, eq(rawAnswer.status, 'unconfirmed')))
}

async function appendGuardActions(
  sql: Sql,
  { resource, at, runId }: Pick<Outcome, 'resource' | 'at' | 'runId'>,
  actions: readonly GuardAction[],
): Promise<void> {
  if (actions.length === 0) return
  const rows = actions.map((action) => ({ key: null, ...action, at, resource, runId }))
  await typed(sql).insert(guardAction).values(rows)
}
