import { randomUUID } from 'node:crypto'
import { messageOf } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import { type RecordingClient, successfulExchanges } from '../archive/archive.ts'
import type { ResourceBase } from '../declare/resource.ts'
import { isAccepted, lastAccepted, noCounts, statusOfError } from '../ledger/ledger.ts'
import { namesInResponses } from '../outbox/notifications.ts'
import { lastOfKey } from '../respond/checked-keys.ts'
import { type LastReasons, missingAction, movedActions, newActions } from '../respond/guard-actions.ts'
import { type LoadResult, loadResponse } from '../respond/load-response.ts'
import type { Outcome } from '../respond/record-outcome.ts'
import { reshaped } from '../respond/shape-changes.ts'
import type { IncomingResponse } from '../respond/validate-snapshot.ts'
import { noteRefusal, type Refusal, type RefusalState } from '../worklist/refusals.ts'
import type { Engine } from './engine.ts'
import type { RefusedTarget, Target } from './extract.ts'
import { loadKnown } from './load-known.ts'

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

export interface IngestResult extends Outcome {
  /** Of a refused key: how far its refusals have come. What follows from them, the run decides. */
  readonly refusal?: Refusal & RefusalState
  /** Fields that the record of a key had before and has not any more. */
  readonly lost?: readonly string[]
  /** It hides for the first time something that is kept. */
  readonly hidesKept?: boolean
  readonly error?: unknown
  /** When another request may bring something new, ms since the epoch. */
  readonly renewAt?: number
}

/** A response; without its records where its body is that of the last accepted one. */
type Received = Pick<IncomingResponse, 'extraction' | 'receivedAt'> & Partial<Pick<IncomingResponse, 'preparation'>>

/**
 * Validates and loads a response; describes what became of it.
 * @throws MustParse when it comes without records and needs them
 */
export async function responseOutcome(
  sql: Sql,
  context: IngestContext,
  client: RecordingClient,
  received: Received,
): Promise<IngestResult> {
  const { resource, key, lastReasons, engine } = context
  const { clock, guards } = engine
  const loaded = await load(sql, context, client, received)
  const { status, hidden, observedAt, contentHash, records, lost, hidesKept, ...rest } = loaded
  const archive = { exchanges: client.exchanges, status, hidden, accepted: guards.accept, personal: resource.personal }
  const outcome = { ...headingOf(context), ...rest, status, observedAt, records, archive }
  if (key === undefined) {
    const at = new Date(clock.now())
    const { observedFrom, complete, pages, renewAt } = received.extraction
    const extent = { observedFrom: observedAt && new Date(observedFrom), complete, pages }
    const bodyHash = isReusable(received, loaded) ? client.bodies?.hashWith(contentHash) : undefined
    const run = { ...runRow(context, client, at), ...loaded, living: loaded.currentKeys, ...extent, bodyHash }
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
      ...(isAccepted(status) && observedAt
        ? { accepted: { observedAt, contentHash, records, credential: client.credential() } }
        : {}),
    },
    ...(lost ? { lost } : {}),
    ...(hidesKept ? { hidesKept } : {}),
  }
}

async function load(
  sql: Sql,
  { resource, key, runId, engine }: IngestContext,
  client: RecordingClient,
  received: Received,
) {
  const { guards, privacy } = engine
  const { preparation, ...response } = received
  const credential = client.credential()
  const rest = { ...response, credential, isReplay: engine.runId !== undefined }
  if (key !== undefined && preparation) {
    const last = await lastOfKey(sql, resource.name, key)
    return await loadResponse(sql, resource, { ...rest, preparation, last, guards, privacy, runId, scope: key })
  }
  const last = await lastAccepted(sql, resource.name)
  const incoming = { ...rest, last, guards, privacy, runId }
  if (preparation) return await loadResponse(sql, resource, { ...incoming, preparation })
  return await loadKnown(sql, resource, incoming, client.bodies?.isBodyOf(last) ? last : undefined)
}

/** Whether the same body, at a later instant, gives the same: nothing of it was doubtful, or depended on when it came. */
function isReusable({ extraction, preparation }: Received, { status, reason }: LoadResult): boolean {
  const { clockError, validationError } = extraction
  const isWhole = isAccepted(status) && status !== 'partial' && reason === null
  return isWhole && !clockError && !validationError && !preparation?.ignored.length
}

/** Notes a refusal. A single one changes no history: hidden is not gone, and either may be wrong. */
export async function refusalOutcome(
  sql: Sql,
  context: IngestContext,
  client: RecordingClient,
  { kind, reason, respondedAt, receivedAt }: RefusedTarget & { readonly receivedAt: number },
): Promise<IngestResult> {
  const { resource, key, engine, lastReasons } = context
  if (key === undefined) throw new Error(`${resource.name} has no keys`)
  const { absences, accept } = engine.guards
  const credential = client.credential()
  const refusal = { key, kind, at: Math.min(respondedAt ?? receivedAt, receivedAt), receivedAt, credential }
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
  const [message, status] = [messageOf(error), statusOfError(error)]
  return {
    ...headingOf(context),
    status,
    reason: message,
    at,
    observedAt: null,
    guarded: movedActions(error),
    novelties: reshaped(error, context.key),
    archive: { exchanges: successfulExchanges(client), status: 'failed', personal: context.resource.personal },
    ...(context.key === undefined ? { run: { ...runRow(context, client, at), status, error: message } } : {}),
    error,
  }
}

function headingOf({ resource, key, runId, engine }: IngestContext) {
  const { name } = resource
  const news = { people: namesInResponses(resource), isLate: engine.isLate }
  return { ...noCounts, ...news, resource: name, ...(key === undefined ? {} : { key }), runId, drift: [] }
}

function runRow({ resource, runId, startedAt, engine }: IngestContext, { api }: RecordingClient, finishedAt: Date) {
  const { program } = engine
  return { runId, resource: resource.name, startedAt, finishedAt, requests: api.requestsSent(), program }
}
