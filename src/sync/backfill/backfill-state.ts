import { messageOf } from '../../base/errors.ts'

/** What a backfill knows between two steps. Pure data: `nextStep` says what to do, `reduce` what came of it. */
export interface BackfillState {
  /** At most that many keys in this call. */
  readonly limit: number
  /** Requests in flight at once. */
  readonly concurrency: number
  /** Keys that are leased and wait for their request. */
  readonly ready: readonly string[]
  readonly running: readonly string[]
  /** Keys that failed and are requested again when no other is ready. */
  readonly retries: readonly string[]
  /** Keys that failed too often; whether the service or the key is at fault is not known yet. */
  readonly suspects: readonly FailedKey[]
  readonly givenUp: readonly FailedKey[]
  readonly tries: ReadonlyMap<string, number>
  readonly failuresInARow: number
  /** Different keys that were requested. */
  readonly requested: number
  readonly responses: number
  /** The last claim brought no key; reset by whatever may have freed one. */
  readonly isExhausted: boolean
  /** A step failed because the API or the database is away. */
  readonly isInterrupted: boolean
  readonly failure?: { readonly error: unknown }
}

interface FailedKey {
  readonly key: string
  readonly reason: string
}

export type BackfillEvent =
  | { readonly type: 'claimed'; readonly keys: readonly string[] }
  | { readonly type: 'requested'; readonly key: string }
  /** Another process holds the key, or it had a response meanwhile. */
  | { readonly type: 'retry-dropped' }
  | { readonly type: 'response'; readonly key: string }
  /** `temporary`: no response; `refused`: the API responds, but not about this key; `fatal`: everything else. */
  | {
      readonly type: 'failed'
      readonly key: string
      readonly cause: 'temporary' | 'refused' | 'fatal'
      readonly error: unknown
    }
  | { readonly type: 'interrupted' }
  /** The API and the database respond again. `wasAway`: they had not for a while, so that no key is at fault. */
  | { readonly type: 'recovered'; readonly wasAway: boolean }
  | { readonly type: 'waited' }

export type BackfillStep =
  | { readonly type: 'claim'; readonly limit: number; readonly except: readonly string[] }
  | { readonly type: 'request'; readonly key: string; readonly isRetry: boolean }
  | { readonly type: 'wait' }
  /** Find out whether the service is away or the keys are at fault. */
  | { readonly type: 'recover' }
  /** No key is free: end when none is open, wait for other processes otherwise. */
  | { readonly type: 'count'; readonly except: readonly string[] }
  | { readonly type: 'end' }

/** After so many failures in a row the service or the database is taken to be away. */
const patience = 5
/** How often one key is requested before it is given up, while others have responses. */
const maxTries = 3
/** Keys leased at once: enough to keep the requests going, few enough to be requested within their lease. */
const batch = 20

export function initialState({ limit, concurrency }: Pick<BackfillState, 'limit' | 'concurrency'>): BackfillState {
  const none = { ready: [], running: [], retries: [], suspects: [], givenUp: [], tries: new Map<string, number>() }
  const counts = { failuresInARow: 0, requested: 0, responses: 0 }
  return { limit, concurrency, ...none, ...counts, isExhausted: false, isInterrupted: false }
}

export function nextStep(state: BackfillState): BackfillStep {
  const { limit, ready, running, retries, suspects, givenUp, requested } = state
  if (state.failure) return { type: 'end' }
  if (state.isInterrupted || state.failuresInARow >= patience || suspects.length > 0) return { type: 'recover' }
  if (running.length >= state.concurrency) return { type: 'wait' }
  const dead = givenUp.map(({ key }) => key)
  if (ready.length === 0 && requested < limit && !state.isExhausted)
    return { type: 'claim', limit: Math.min(batch, limit - requested), except: [...retries, ...dead, ...running] }
  const key = ready[0] ?? retries[0]
  if (key !== undefined) return { type: 'request', key, isRetry: ready.length === 0 }
  if (running.length > 0) return { type: 'wait' }
  return requested >= limit ? { type: 'end' } : { type: 'count', except: dead }
}

export function reduce(state: BackfillState, event: BackfillEvent): BackfillState {
  switch (event.type) {
    case 'claimed':
      return { ...state, ready: event.keys, isExhausted: event.keys.length === 0 }
    case 'requested':
      return requested(state, event.key)
    case 'retry-dropped':
      return { ...state, retries: state.retries.slice(1) }
    case 'response':
      return { ...ended(state, event.key), failuresInARow: 0, responses: state.responses + 1 }
    case 'failed':
      return failed(ended(state, event.key), event)
    case 'interrupted':
      return { ...state, isInterrupted: true }
    case 'recovered':
      return recovered(state, event.wasAway)
    case 'waited':
      return { ...state, isExhausted: false }
  }
}

function requested(state: BackfillState, key: string): BackfillState {
  return {
    ...state,
    ready: state.ready.filter((other) => other !== key),
    retries: state.retries.filter((other) => other !== key),
    running: [...state.running, key],
    requested: state.requested + (state.tries.has(key) ? 0 : 1),
    isExhausted: false,
  }
}

function ended(state: BackfillState, key: string): BackfillState {
  return { ...state, running: state.running.filter((other) => other !== key), isExhausted: false }
}

function failed(
  state: BackfillState,
  { key, cause, error }: Extract<BackfillEvent, { type: 'failed' }>,
): BackfillState {
  const failuresInARow = state.failuresInARow + 1
  // The API that refuses one key after the other refuses all of them.
  if (cause === 'fatal' || (cause === 'refused' && failuresInARow >= patience))
    return { ...state, failuresInARow, failure: { error } }
  const times = (state.tries.get(key) ?? 0) + 1
  const next = { ...state, failuresInARow, tries: new Map(state.tries).set(key, times) }
  const failedKey = { key, reason: messageOf(error) }
  if (cause === 'refused') return { ...next, givenUp: [...state.givenUp, failedKey] }
  if (times < maxTries) return { ...next, retries: [...state.retries, key] }
  return { ...next, suspects: [...state.suspects, failedKey] }
}

/** Leases may have run out meanwhile: what was ready is claimed anew. */
function recovered(state: BackfillState, wasAway: boolean): BackfillState {
  const { retries, suspects, givenUp, tries } = state
  return {
    ...state,
    ready: [],
    suspects: [],
    failuresInARow: 0,
    isExhausted: false,
    isInterrupted: false,
    ...(wasAway
      ? {
          retries: [...retries, ...suspects.map(({ key }) => key)],
          tries: new Map([...tries.keys()].map((key) => [key, 0])),
        }
      : { givenUp: [...givenUp, ...suspects] }),
  }
}
