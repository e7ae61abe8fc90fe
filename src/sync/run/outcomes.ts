import { randomUUID } from 'node:crypto'
import type { Sql } from '../../db/database.ts'
import { type RecordingClient, successfulExchanges } from '../archive/archive.ts'
import { reshaped } from '../drift/shape-changes.ts'
import type { Engine } from '../engine.ts'
import { loadResponse } from '../load/load-response.ts'
import { isAccepted, lastAccepted, noCounts } from '../record/ledger.ts'
import type { Outcome } from '../record/record-outcome.ts'
import type { ResourceBase } from '../resource.ts'
import { type LastReasons, missingAction, movedActions, newActions } from '../validate/guard-actions.ts'
import type { IncomingResponse } from '../validate/incoming-response.ts'
import { noteRefusal, type Refusal, type RefusalKind, type RefusalState } from '../worklist/refusals.ts'
import { lastOfKey } from '../worklist/work-items.ts'
import type { Target } from './extract.ts'

/** A target within a run. */
export type IngestContext = Target & {
  readonly engine: Engine
  readonly runId: string
  readonly startedAt: Date
  /** What guards reported in this run, where it may request a key more than once. */
  readonly lastReasons?: LastReasons
}

/** The context of a run that begins now. */
export function startRun<T extends { readonly resource: ResourceBase }>(target: T, engine: Engine) {
  return { ...target, engine, runId: engine.runId ?? randomUUID(), startedAt: new Date(engine.clock.now()) }
}

/** What became of a target. */
export interface IngestResult extends Outcome {
  /** Of a refused key: how far its refusals have come. What follows from them, the run decides. */
  readonly refusal?: Refusal & RefusalState
  /** Fields that the record of a key had before and has not any more. */
  readonly lost?: readonly string[]
  /** Why it failed. */
  readonly error?: unknown
  /** When another request may bring something new, ms since the epoch. */
  readonly renewAt?: number
}

/** Validates and loads a response; describes what became of it. */
export async function responseOutcome(
  sql: Sql,
  context: IngestContext,
  client: RecordingClient,
  received: Pick<IncomingResponse, 'extraction' | 'preparation' | 'receivedAt'>,
): Promise<IngestResult> {
  const { resource, key, runId, lastReasons, engine } = context
  const { guards, privacy, clock } = engine
  const last = key === undefined ? await lastAccepted(sql, resource.name) : await lastOfKey(sql, resource.name, key)
  const incoming = { ...received, last, guards, privacy, runId }
  const loaded = await loadResponse(sql, resource, key === undefined ? incoming : { ...incoming, scope: key })
  const { status, hidden, observedAt, contentHash, records, lost, ...rest } = loaded
  const archive = { exchanges: client.exchanges, status, hidden, accepted: guards.accept, personal: resource.personal }
  const outcome = { ...headingOf(context), ...rest, status, observedAt, records, archive }
  if (key === undefined) {
    const at = new Date(clock.now())
    const { observedFrom, complete, pages, renewAt } = received.extraction
    const extent = { observedFrom: observedAt && new Date(observedFrom), complete, pages }
    const run = { ...runRow(context, client, at), ...loaded, living: loaded.currentKeys, ...extent }
    return { ...outcome, at, run, cacheSeconds: resource.cacheSeconds, ...(renewAt ? { renewAt } : {}) }
  }
  const now = received.receivedAt
  return {
    ...outcome,
    at: new Date(now),
    guarded: newActions(lastReasons, key, loaded.guarded),
    isObservation: true,
    workItem: {
      now,
      shown: status === 'stale' ? 'long ago' : 'now',
      ...(isAccepted(status) && observedAt ? { accepted: { observedAt, contentHash, records } } : {}),
    },
    ...(lost ? { lost } : {}),
  }
}

/** Notes a refusal. A single one changes no history: hidden is not gone, and either may be wrong. */
export async function refusalOutcome(
  sql: Sql,
  context: IngestContext,
  client: RecordingClient,
  {
    kind,
    reason,
    respondedAt,
    receivedAt,
  }: {
    readonly kind: RefusalKind
    readonly reason: string
    readonly respondedAt: number | null
    readonly receivedAt: number
  },
): Promise<IngestResult> {
  const { resource, key, engine, lastReasons } = context
  if (key === undefined) throw new Error(`${resource.name} has no keys`)
  const { absences, accept } = engine.guards
  const refusal = { key, kind, at: Math.min(respondedAt ?? receivedAt, receivedAt), receivedAt }
  const noted = await noteRefusal(sql, resource, refusal, absences)
  const isMissing = kind === 'gone' && noted.state === 'pending'
  return {
    ...headingOf(context),
    status: kind,
    reason,
    at: new Date(receivedAt),
    observedAt: null,
    guarded: newActions(lastReasons, key, isMissing ? [missingAction(absences)] : []),
    isObservation: true,
    workItem: { now: receivedAt },
    archive: {
      exchanges: client.exchanges,
      status: noted.state === 'concluded' ? kind : 'unconfirmed',
      accepted: accept,
      personal: resource.personal,
    },
    refusal: { ...refusal, ...noted },
  }
}

/** Describes a request, or a load, that failed. */
export function failureOutcome(context: IngestContext, client: RecordingClient, error: unknown): IngestResult {
  const at = new Date(context.engine.clock.now())
  const message = error instanceof Error ? error.message : String(error)
  return {
    ...headingOf(context),
    status: 'failed',
    reason: message,
    at,
    observedAt: null,
    guarded: movedActions(error),
    novelties: reshaped(error, context.key),
    archive: { exchanges: successfulExchanges(client), status: 'failed', personal: context.resource.personal },
    ...(context.key === undefined ? { run: { ...runRow(context, client, at), status: 'failed', error: message } } : {}),
    error,
  }
}

function headingOf({ resource, key, runId }: IngestContext) {
  return { ...noCounts, resource: resource.name, ...(key === undefined ? {} : { key }), runId, drift: [] }
}

function runRow({ resource, runId, startedAt, engine }: IngestContext, { api }: RecordingClient, finishedAt: Date) {
  const { program } = engine
  return { runId, resource: resource.name, startedAt, finishedAt, requests: api.requestsSent(), program }
}
