import { Forbidden, NotFound } from '../api/errors.ts'
import type { Heard } from '../api/heard.ts'
import type { Sql } from '../db/database.ts'
import { RetryableError } from '../errors.ts'
import { forgetAbsences } from './absent.ts'
import { type Absorbed, absorb } from './absorb.ts'
import { reshaped } from './drift/changes.ts'
import { averageAgain } from './growth/rollup.ts'
import { appendGuardActions, type GuardAction, goneActions, type LastSaid, notSaidYet } from './guard/actions.ts'
import { appendDrift, appendObservation } from './ledger.ts'
import { announce, type News } from './notices.ts'
import { prepare } from './prepare.ts'
import { hearRefusal } from './privacy/privacy.ts'
import { announceRaw, answersIn, keepRaw, listen } from './raw/raw.ts'
import type { ExtractOptions, Worklist } from './resource.ts'
import { type Engine, type RunResult, reportDrift } from './run.ts'
import { logOfRun } from './run-log.ts'
import { endGone } from './settle.ts'
import { openTally } from './tally.ts'
import { claimKeys, claimNamed, lastOfKey, postponeKey, releaseKey, settleKey } from './work-items.ts'

export interface WorklistOptions extends ExtractOptions {
  /** Ask for that many keys instead of what the current budget window allows. */
  readonly limit?: number
  /** Ask for just these keys. */
  readonly keys?: readonly string[]
  /** Go on until this instant (ms since the epoch), as fast as the budget lets requests leave; waits when no key is due. */
  readonly until?: number
  /** No further key is begun once it is aborted; those under way go on. */
  readonly stopping?: AbortSignal
  readonly concurrency: number
}

/** After so many keys in a row that could not be asked for, the service is taken to be away. */
const patience = 5

/** How long to wait before looking again whether a key is due, ms. */
const idle = 5000

/** Requests that one window has for guests (API reference 2.2); for servers that tell nothing of their budget. */
const assumedWindow = 50

/**
 * Refreshes the most urgent keys of a worklist, a few at a time, until the limit is reached or the current budget window
 * is spent. Each key's answer is one transaction with its observation row; a kill loses at most what is in flight.
 */
export async function runWorklist(resource: Worklist, shared: Engine, options: WorklistOptions): Promise<RunResult> {
  // Of a client that several runs use at once, the ledger wants this run's requests.
  const engine = { ...shared, api: shared.api.heardBy(() => {}) }
  const { db, api, clock } = engine
  const tally = openTally(resource, engine)
  const { log } = tally
  const said: LastSaid = new Map()
  let asked = 0
  /** Keys that are being asked for. */
  let underWay = 0
  /** Keys in a row that could not be asked for. */
  let failures = 0
  let lastFailure: unknown
  let failed: unknown

  /** How many more keys may be asked for. Until the first answer tells the budget, one. */
  const allowance = (): number => {
    if (options.until !== undefined) return clock.now() < options.until ? 1 : 0
    if (options.keys) return options.keys.length - asked
    if (options.limit !== undefined) return options.limit - asked
    if (asked === 0) return 1
    // What is under way may have no request in the budget yet: counted twice rather than not at all. The last one knows.
    const left = api.remaining(resource.route)
    return left === null ? assumedWindow - asked : left - underWay
  }
  const next = async (): Promise<string | undefined> => {
    if (options.signal?.aborted || options.stopping?.aborted || failed !== undefined || allowance() <= 0)
      return undefined
    const claimed = await claim()
    if (claimed !== undefined || options.until === undefined) return claimed
    await clock
      .sleep(Math.min(idle, options.until - clock.now()), options.stopping ?? options.signal)
      .catch(() => undefined)
    // At the very start the lists that keys come from may only just have arrived.
    if (asked === 0) await resource.plan(db, new Date(clock.now()))
    return await next()
  }
  const claim = async (): Promise<string | undefined> => {
    asked += 1
    underWay += 1
    const named = options.keys?.[asked - 1]
    const claimed =
      named === undefined
        ? await claimKeys(db, resource.name, 1, clock.now(), tally.runId)
        : await claimNamed(db, resource.name, [named], clock.now(), tally.runId)
    if (claimed[0] === undefined) {
      asked -= 1
      underWay -= 1
    }
    return claimed[0]
  }
  const one = async (key: string): Promise<void> => {
    try {
      tally.add(key, await refresh(resource, engine, tally.runId, key, options, said))
      failures = 0
    } catch (error) {
      if (options.signal?.aborted) return await releaseKey(db, resource.name, key)
      await postponeKey(db, resource.name, key, clock.now())
      if (!(error instanceof RetryableError)) throw error
      failures += 1
      lastFailure = error
      tally.miss(key, error.message)
      log.warn({ key, err: error }, error.message)
      if (failures >= patience) failed = error
    } finally {
      underWay -= 1
    }
  }
  const worker = async (): Promise<void> => {
    for (let key = await next(); key !== undefined; key = await next()) {
      await one(key)
      options.onProgress?.({ page: asked, pages: options.limit ?? null, records: asked, count: options.limit ?? null })
    }
  }
  try {
    await resource.plan(db, new Date(clock.now()))
    // The first answer tells how much may be asked for; then several go side by side.
    const first = await next()
    if (first !== undefined) await one(first)
    await Promise.all(Array.from({ length: options.concurrency }, worker))
  } catch (error) {
    failed = error
    log.error({ err: error }, `failed: ${error instanceof Error ? error.message : String(error)}`)
  }

  // Few keys, and none of them answered: the service is as much away as after many.
  if (asked > 0 && failures === asked) failed ??= lastFailure
  return await tally.close(asked, failed)
}

/**
 * Asks for one key and takes the answer in.
 * @param said what guards said in this run, where a run may ask for a key more than once
 */
export async function refresh(
  resource: Worklist,
  engine: Engine,
  runId: string,
  key: string,
  options: ExtractOptions,
  said: LastSaid = new Map(),
) {
  const { db, clock, guards } = engine
  const log = logOfRun(engine.log, { resource: resource.name, runId })
  const ear = listen(engine)
  let hidden: string | undefined
  const extraction = await resource.extractOne(ear.api, key, options).catch(async (error: unknown) => {
    if (error instanceof Forbidden) hidden = error.message
    else if (!(error instanceof NotFound)) {
      await keepUnread(resource, engine, { runId, key, heard: answersIn(ear), error })
      throw error
    }
    return undefined
  })
  const preparation = extraction && prepare(resource, extraction.records)
  const now = clock.now()
  const ledger = { resource: resource.name, key, runId, receivedAt: new Date(now) }
  const noteGuards = async (sql: Sql, actions: readonly GuardAction[]) => {
    const news = notSaidYet(said, key, actions)
    await appendGuardActions(sql, { ...ledger, at: ledger.receivedAt }, news)
    return news
  }
  const tell = async (sql: Sql, told: Pick<News, 'status' | 'observedAt' | 'guarded' | 'drift'> & News['counts']) => {
    if (engine.announces) await announce(sql, { ...ledger, at: ledger.receivedAt, ...told, counts: told })
  }
  const raw = { resource: resource.name, key, runId, takenAt: new Date(now), accepted: guards.accept }
  const outcome = await db.transaction(async (sql) => {
    await announceRaw(sql, ear.heard)
    if (hidden !== undefined) {
      // Private is not gone: what was known of it is neither confirmed nor ended.
      await appendObservation(sql, { ...ledger, status: 'hidden', reason: hidden })
      const teller = { ...ledger, at: ledger.receivedAt, policy: engine.privacy ?? 'anonymize' }
      if (resource.personal) await hearRefusal(sql, resource.personal, teller)
      await settleKey(sql, resource.name, { key, now })
      await keepRaw(sql, ear.heard, { ...raw, observedAt: null, status: 'hidden' })
      return { ...nothingAbsorbed, closed: 0, observedAt: 0 }
    }
    const last = await lastOfKey(sql, resource.name, key)
    if (!extraction || !preparation) {
      // A refusal has no instant of its own; by a clock that is behind the service's it still comes after the last answer.
      const at = new Date(Math.max(now, (last?.observedAt ?? 0) + 1))
      const { closed, gone } = await endGone(sql, resource, key, { absences: guards.absences, at })
      await appendObservation(sql, { ...ledger, status: 'gone', reason: 'the API does not know it any more' })
      await settleKey(sql, resource.name, { key, now, gone })
      await keepRaw(sql, ear.heard, { ...raw, observedAt: null, status: 'gone' })
      const guarded = await noteGuards(sql, goneActions({ closed, gone }, guards.absences))
      await tell(sql, { ...nothingAbsorbed, status: 'gone', closed, guarded })
      return { ...nothingAbsorbed, closed, observedAt: 0, guarded }
    }
    const { privacy } = engine
    const answer = { extraction, preparation, last, receivedAt: now, guards, privacy, runId, scope: key }
    const absorbed = await absorb(sql, resource, answer)
    const { status, reason, contentHash, records } = absorbed
    await forgetAbsences(sql, resource.name, [key])
    const accepted = status === 'ok' || status === 'unchanged' || status === 'partial'
    const observedAt = new Date(extraction.observedAt)
    await appendObservation(sql, { ...ledger, observedAt, status, reason })
    if (accepted) await averageAgain(sql, resource, observedAt)
    await settleKey(
      sql,
      resource.name,
      accepted ? { key, now, accepted: { observedAt, contentHash, records } } : { key, now },
    )
    const guarded = await noteGuards(sql, absorbed.guarded)
    await keepRaw(sql, ear.heard, { ...raw, observedAt, status, hidden: absorbed.hidden })
    await tell(sql, { ...absorbed, guarded, observedAt })
    return { ...absorbed, observedAt: accepted ? extraction.observedAt : 0, guarded }
  })
  for (const { guard, reason } of outcome.guarded) {
    said.set(`${key} ${guard}`, reason)
    log.info({ guard, key }, `${guard}: ${reason}`)
  }
  reportDrift(log, outcome.drift)
  return outcome
}

/** What could not be understood today may be tomorrow, by `replay`. */
async function keepUnread(
  resource: Worklist,
  engine: Engine,
  { runId, key, heard, error }: { runId: string; key: string; heard: readonly Heard[]; error: unknown },
) {
  const novelties = reshaped(error, key)
  if (heard.length + novelties.length === 0) return
  const { db, clock } = engine
  const log = logOfRun(engine.log, { resource: resource.name, runId })
  const taken = { resource: resource.name, key, runId, takenAt: new Date(clock.now()), observedAt: null }
  await db
    .transaction(async (sql) => {
      await keepRaw(sql, heard, { ...taken, status: 'failed' })
      reportDrift(log, await appendDrift(sql, { ...taken, at: taken.takenAt }, novelties))
    })
    .catch((cause: unknown) => log.warn({ err: cause }, 'an answer that was not understood could not be kept'))
}

const nothingAbsorbed: Omit<Absorbed, 'closed' | 'contentHash' | 'living' | 'status'> = {
  reason: null,
  records: 0,
  inserted: 0,
  changed: 0,
  unchanged: 0,
  events: 0,
  rejected: 0,
  quarantined: 0,
  guarded: [],
  drift: [],
  hidden: [],
}
