import type { HttpExchange } from '../../api/http/http-exchange.ts'
import type { Sql } from '../../db/database.ts'
import { type ArchiveEntry, archiveResponse, lockArchive } from '../archive/archive.ts'
import type { Engine } from '../engine.ts'
import { noCounts } from '../load/load-counts.ts'
import { loadWithoutRefused } from '../load/load-without-refused.ts'
import type { Preparation } from '../normalize/prepare.ts'
import { appendObservation, type RunStatus } from '../record/ledger.ts'
import { type Notification, notifyChannel } from '../record/notifications.ts'
import type { Extraction, Worklist } from '../resource.ts'
import { averageAgain } from '../retention/rollup.ts'
import {
  appendGuardActions,
  type GuardAction,
  type LastSaid,
  missingAction,
  notSaidYet,
} from '../validate/guard-actions.ts'
import { noteRefusal, type Refusal, type RefusalKind, type RefusalState } from '../worklist/refusals.ts'
import { lastOfKey, recordChecked } from '../worklist/work-items.ts'
import { type LoadResult, loadResponse, observedBy } from './load-response.ts'

/** The response about a key, or the refusal in its place. */
export type Reply =
  | { readonly kind: 'answer'; readonly extraction: Extraction; readonly preparation: Preparation }
  | { readonly kind: RefusalKind; readonly reason: string; readonly respondedAt: number | null }

interface IngestInput {
  readonly runId: string
  readonly key: string
  readonly reply: Reply
  /** The raw exchanges; empty when the archive is off. */
  readonly heard: readonly HttpExchange[]
  /** The latest reason of each guard in this run. */
  readonly said: LastSaid
}

/** An input with its transaction and its row of the ledger. */
interface IngestContext extends IngestInput {
  readonly sql: Sql
  readonly resource: Worklist
  readonly engine: Engine
  /** ms since the epoch */
  readonly now: number
  readonly ledger: {
    readonly resource: string
    readonly key: string
    readonly runId: string
    readonly receivedAt: Date
  }
}

/** The outcome. `observedAt`: the instant that an accepted response speaks for, ms since the epoch; otherwise 0. */
export type IngestResult = Omit<LoadResult, 'contentHash' | 'living' | 'normalized' | 'status'> & {
  readonly status: RunStatus | RefusalKind
  readonly observedAt: number
  /** Of a refused key: how far its refusals have come. What follows from them, the run decides. */
  readonly refusal?: Refusal & RefusalState
}

/** Loads the response about a key: tables, ledger, worklist and archive in one transaction. */
export async function ingestKey(resource: Worklist, engine: Engine, input: IngestInput): Promise<IngestResult> {
  const { runId, key, reply, heard } = input
  const now = engine.clock.now()
  const ledger = { resource: resource.name, key, runId, receivedAt: new Date(now) }
  const load = (said: Reply) =>
    engine.db.transaction(async (sql) => {
      await lockArchive(sql, heard)
      const context = { ...input, sql, resource, engine, now, ledger }
      return said.kind === 'answer' ? await ingestResponse(context, said) : await ingestRefusal(context, said)
    })
  if (reply.kind !== 'answer') return await load(reply)
  const loading = { resource, preparation: reply.preparation, at: new Date(reply.extraction.observedAt) }
  return await loadWithoutRefused(engine.db, loading, (preparation) => load({ ...reply, preparation }))
}

/** A single refusal changes no history: hidden is not gone, and either may be wrong. */
async function ingestRefusal(
  context: IngestContext,
  reply: Exclude<Reply, { readonly kind: 'answer' }>,
): Promise<IngestResult> {
  const { sql, resource, engine, key, now, ledger } = context
  const { kind, reason, respondedAt } = reply
  const { absences } = engine.guards
  const refusal = { key, kind, at: Math.min(respondedAt ?? now, now), receivedAt: now }
  const state = await noteRefusal(sql, resource, refusal, absences)
  await appendObservation(sql, { ...ledger, status: kind, reason })
  await recordChecked(sql, resource.name, { key, now })
  await archive(context, { observedAt: null, status: state.state === 'concluded' ? kind : 'unconfirmed' })
  const isMissing = kind === 'gone' && state.state === 'pending'
  const guarded = await recordGuards(context, isMissing ? [missingAction(absences)] : [])
  const result = { ...nothing, status: kind, guarded, refusal: { ...refusal, ...state } }
  await notify(context, { ...result, observedAt: null })
  return result
}

async function ingestResponse(
  context: IngestContext,
  reply: Reply & { readonly kind: 'answer' },
): Promise<IngestResult> {
  const { sql, resource, engine, runId, key, now, ledger } = context
  const { guards, privacy } = engine
  const last = await lastOfKey(sql, resource.name, key)
  const { extraction, preparation } = reply
  const answer = { extraction, preparation, last, receivedAt: now, guards, privacy, runId, scope: key }
  const loaded = await loadResponse(sql, resource, answer)
  const { status, reason, contentHash, records, hidden } = loaded
  const accepted = status === 'ok' || status === 'unchanged' || status === 'partial'
  const observedAt = new Date(extraction.observedAt)
  const told = observedBy(extraction, status)
  await appendObservation(sql, { ...ledger, observedAt: told, status, reason })
  if (accepted) await averageAgain(sql, resource, observedAt)
  const shown = status === 'stale' ? 'long ago' : 'now'
  const checked = { key, now, shown, ...(accepted ? { accepted: { observedAt, contentHash, records } } : {}) } as const
  await recordChecked(sql, resource.name, checked)
  const guarded = await recordGuards(context, loaded.guarded)
  await archive(context, { observedAt: told, status, hidden })
  await notify(context, { ...loaded, guarded, observedAt: told })
  return { ...loaded, observedAt: accepted ? extraction.observedAt : 0, guarded }
}

async function archive(
  context: IngestContext,
  result: Pick<ArchiveEntry, 'observedAt' | 'status' | 'hidden'>,
): Promise<void> {
  const { sql, resource, heard, ledger, engine } = context
  await archiveResponse(sql, heard, {
    ...ledger,
    personal: resource.personal,
    takenAt: ledger.receivedAt,
    accepted: engine.guards.accept,
    ...result,
  })
}

/** Records the actions of guards; one that repeats its reason within a run is left out. */
async function recordGuards(
  { sql, said, key, ledger }: IngestContext,
  actions: readonly GuardAction[],
): Promise<GuardAction[]> {
  const news = notSaidYet(said, key, actions)
  await appendGuardActions(sql, { ...ledger, at: ledger.receivedAt }, news)
  return news
}

type NotificationContent = Pick<Notification, 'status' | 'observedAt' | 'guarded' | 'drift'> &
  NonNullable<Notification['counts']>

async function notify({ sql, engine, ledger }: IngestContext, told: NotificationContent): Promise<void> {
  if (engine.notifies) await notifyChannel(sql, { ...ledger, at: ledger.receivedAt, ...told, counts: told })
}

const nothing: Omit<IngestResult, 'status'> = {
  ...noCounts,
  reason: null,
  guarded: [],
  drift: [],
  hidden: [],
  observedAt: 0,
}
