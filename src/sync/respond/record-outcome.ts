import { and, eq, type SQL } from 'drizzle-orm'
import type { HttpExchange } from '../../api/http/http-exchange.ts'
import { reach } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import { together, typed } from '../../db/typed.ts'
import { type ArchiveEntry, archivedRows } from '../archive/archive.ts'
import { gapRows, invalidation, type LastObserved } from '../ledger/gaps.ts'
import type { RunRow, RunStatus } from '../ledger/ledger.ts'
import { appendDrift, type Counts, isAccepted } from '../ledger/ledger.ts'
import type { Novelty } from '../normalize/drift.ts'
import { type Notification, notificationOf } from '../outbox/outbox.ts'
import { rawAnswer } from '../tables/archive.ts'
import { observation, run } from '../tables/ledger.ts'
import { guardAction } from '../tables/state.ts'
import type { RefusalKind } from '../worklist/refusals.ts'
import { checkedRow, forgetRefusals } from './checked-keys.ts'
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
  readonly workItem?: Omit<Parameters<typeof checkedRow>[2], 'key'>
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
 * notification, in one statement where nothing of it has to be looked up. Returns it with the drift that was new.
 * @param observed the observation before it, of an outcome that is one; the transaction has the lock of counting
 */
export async function recordOutcome(
  sql: Sql,
  outcome: Outcome,
  notifies = false,
  observed?: LastObserved,
): Promise<Outcome> {
  const { resource, key, runId, at, observedAt, archive, guarded, workItem } = outcome
  if (key !== undefined && outcome.concludes)
    await recordConclusion(sql, { resource, key, runId, kind: outcome.concludes })
  const found = { resource, runId, at: observedAt ?? at }
  const drift = [...outcome.drift, ...(await appendDrift(sql, found, outcome.novelties ?? []))]
  for (const { guard, action } of guarded) reach(`guard ${guard}: ${action}`)
  const recorded = { ...outcome, drift }
  const news = notifies ? notificationOf({ ...recorded, error: outcome.run?.error }) : undefined
  const rows = {
    ...(observed && (await observationRows(sql, outcome, observed))),
    ...(outcome.run && { run: typed(sql).insert(run).values(outcome.run).getSQL() }),
    ...(key !== undefined && workItem && { checked: checkedRow(sql, resource, { key, ...workItem }) }),
    ...(guarded.length > 0 && { guarded: guardRows(sql, outcome, guarded) }),
    ...(archive &&
      (await archivedRows(sql, archive.exchanges, { resource, key, runId, takenAt: at, observedAt, ...archive }))),
    ...news?.parts,
  }
  if (Object.keys(rows).length > 0) await together(sql, rows, news?.send)
  return recorded
}

/** What invalidates coverage, and records the gap before an observation and, of a worklist, the observation itself. */
async function observationRows(sql: Sql, outcome: Outcome, last: LastObserved): Promise<Readonly<Record<string, SQL>>> {
  const { resource, key, runId, at, observedAt, status, reason, run: row, cacheSeconds } = outcome
  if (cacheSeconds !== undefined && row) {
    const accepted = isAccepted(status) ? observedAt : null
    const waitedSince = waitedFor(row, at) ? row.startedAt : null
    const observed = accepted && { resource, cacheSeconds, observedAt: accepted, receivedAt: at, waitedSince }
    return {
      ...invalidation(resource, accepted ?? row.startedAt),
      ...(observed && (await gapRows(sql, observed, last))),
    }
  }
  if (!outcome.isObservation || key === undefined || status === 'failed') return {}
  const isSeen = status !== 'rejected' && status !== 'stale'
  const observed = { resource, cacheSeconds: 0, observedAt: at, receivedAt: at, waitedSince: null }
  return {
    ...invalidation(resource, at),
    ...(isSeen && (await gapRows(sql, observed, last))),
    observation: typed(sql)
      .insert(observation)
      .values({ resource, key, runId, receivedAt: at, observedAt, status, reason })
      .getSQL(),
  }
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

function guardRows(
  sql: Sql,
  { resource, at, runId }: Pick<Outcome, 'resource' | 'at' | 'runId'>,
  actions: readonly GuardAction[],
): SQL {
  const rows = actions.map((action) => ({ key: null, ...action, at, resource, runId }))
  return typed(sql).insert(guardAction).values(rows).getSQL()
}
