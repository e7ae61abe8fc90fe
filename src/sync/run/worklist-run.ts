import { randomUUID } from 'node:crypto'
import { messageOf } from '../../base/errors.ts'
import type { Worklist } from '../declare/resource.ts'
import { isAccepted, noCounts, statusOfError } from '../ledger/ledger.ts'
import { namesInResponses } from '../outbox/notifications.ts'
import { holdRestrictions } from '../privacy/restrictions/pending-restrictions.ts'
import type { LastReasons } from '../respond/guard-actions.ts'
import { recordOutcome } from '../respond/record-outcome.ts'
import { countLosses } from '../respond/shape-changes.ts'
import { concludeRefusal, rejectRefusals } from '../worklist/conclude.ts'
import { addKey, endOfKeys, noRefusals, refusalWindow, takeReady } from '../worklist/run-refusals.ts'
import { addRestriction, massRestriction, noRestrictions } from '../worklist/run-restrictions.ts'
import type { Engine, RunLog } from './engine.ts'
import type { IngestContext, IngestResult } from './outcomes.ts'
import { logDrift, logFailure, logOfRun } from './run-log.ts'
import { type RunResult, resultOf } from './run-result.ts'
import { addMissed, addOutcome, emptySummary, reasonOf, rejectKeys, statusOf } from './run-summary.ts'

/** A run over keys of a worklist, in any order, several at once. */
export class WorklistRun {
  readonly runId = randomUUID()
  readonly startedAt: Date
  readonly log: RunLog
  readonly #resource: Worklist
  readonly #engine: Engine
  readonly #window: number
  readonly #requestsBefore: number
  readonly #lastReasons: LastReasons = new Map()
  readonly #losses = countLosses()
  #summary = emptySummary
  #refusals = noRefusals
  #restrictions = noRestrictions

  /** Starts a run. @param window after so many other keys a confirmed refusal is concluded */
  constructor(resource: Worklist, engine: Engine, window = refusalWindow) {
    this.#resource = resource
    this.#engine = engine
    this.#window = window
    this.#requestsBefore = engine.api.requestsSent()
    this.startedAt = new Date(engine.clock.now())
    this.log = logOfRun({ engine, resource, runId: this.runId })
  }

  /** What `ingest` needs to take a key through the pipeline as part of this run. */
  contextOf(key: string, engine = this.#engine, resource = this.#resource): IngestContext {
    const { runId, startedAt } = this
    return { resource, key, engine, runId, startedAt, lastReasons: this.#lastReasons }
  }

  /**
   * Counts what `ingest` returned for a key, and concludes refusals that were held back long enough.
   * @throws why the request failed, or what the database throws
   */
  async add(key: string, result: IngestResult): Promise<IngestResult> {
    this.addProbe(key, result)
    this.#refusals = addKey(this.#refusals, key, result.refusal, this.#engine.guards.accept)
    await this.#concludeReady(this.#window)
    return result
  }

  /** The same for a key that only shows whether the service is up: its refusal counts for nothing. */
  addProbe(key: string, result: IngestResult): void {
    if (result.status === 'failed' || result.status === 'interrupted') throw result.error
    for (const { guard, reason } of result.guarded) {
      this.#lastReasons.set(`${key} ${guard}`, reason)
      if (guard === 'credential') this.log.warn({ key }, reason)
    }
    if (isAccepted(result.status)) this.#losses.add(key, result.lost ?? [])
    this.#summary = addOutcome(this.#summary, result)
    this.#restrictions = addRestriction(this.#restrictions, key, result)
  }

  miss(key: string, reason: string): void {
    this.#summary = addMissed(this.#summary, key, reason)
  }

  hasResponse(): boolean {
    return this.#summary.statuses.size > 0
  }

  /** Why the run must stop: the API refuses many keys at once. */
  massRefusal(): string | undefined {
    return this.#refusals.massRefusal
  }

  /**
   * Before the end: concludes all confirmed refusals, or rejects them when there are many; holds what many keys restrict.
   * @param isSound the run came to its end; after a failure, what is held back waits for the next run
   */
  async endRefusals(isSound: boolean): Promise<void> {
    await this.#holdRestrictions()
    this.#refusals = endOfKeys(this.#refusals, this.#engine.guards.accept)
    const { massRefusal, refused } = this.#refusals
    if (massRefusal === undefined) {
      if (isSound) await this.#concludeReady(0)
      return
    }
    const reason = `${massRefusal}: taken for a failure of the service; nothing was concluded from it`
    await rejectRefusals(this.#resource, this.#engine, this, [...refused], reason)
    this.#summary = rejectKeys(this.#summary, refused.size, { guard: 'mass-refusal', action: 'stopped', reason })
    this.log.warn({ keys: refused.size }, `mass-refusal: ${reason}`)
  }

  /**
   * Writes the ledger row of the run.
   * @param failure what ended the run early; undefined when nothing did
   * @throws what the database throws
   */
  async close(requested: number, failure?: unknown): Promise<RunResult> {
    const { db, api, clock, program, notifies } = this.#engine
    const { counts, observedAt, rejection, guarded } = this.#summary
    const { runId, startedAt } = this
    const status = failure === undefined ? statusOf(this.#summary) : statusOfError(failure)
    const at = new Date(clock.now())
    const [reason, latest] = [reasonOf(this.#summary), observedAt > 0 ? new Date(observedAt) : null]
    const run = { runId, resource: this.#resource.name, status, reason, observedAt: latest }
    const row = {
      ...run,
      ...counts,
      error: failure === undefined ? null : messageOf(failure),
      startedAt,
      finishedAt: at,
      pages: requested,
      requests: api.requestsSent() - this.#requestsBefore,
      program,
    }
    // The counts were notified with each key.
    const outcome = { ...run, ...noCounts, at, people: namesInResponses(this.#resource), drift: [], run: row }
    const recorded = { ...outcome, guarded: rejection ? [rejection] : [], novelties: this.#losses.found() }
    const { drift } = await db.transaction((sql) => recordOutcome(sql, recorded, notifies))
    logDrift(this.log, drift)
    if (failure !== undefined) logFailure(this.log, failure)
    this.log.info({ keys: requested, ...counts }, status)
    return resultOf(row, guarded, failure)
  }

  /** When many keys hid something at once, nothing is removed before responses hours apart say the same. */
  async #holdRestrictions(): Promise<void> {
    const { accept } = this.#engine.guards
    const mass = accept ? undefined : massRestriction(this.#restrictions)
    if (mass === undefined) return
    await holdRestrictions(this.#engine.db, this.#resource.name, this.runId)
    this.#summary = rejectKeys(this.#summary, 0, { guard: 'mass-restriction', action: 'pending', reason: mass })
    this.log.warn({ keys: this.#restrictions.hiding.size }, `mass-restriction: ${mass}`)
  }

  async #concludeReady(window: number): Promise<void> {
    const { state, ready } = takeReady(this.#refusals, window)
    this.#refusals = state
    for (const refusal of ready) {
      const outcome = await concludeRefusal(this.#resource, this.#engine, this.runId, refusal)
      if (outcome) this.#summary = addOutcome(this.#summary, outcome)
    }
  }
}
