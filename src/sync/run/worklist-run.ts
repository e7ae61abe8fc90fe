import { randomUUID } from 'node:crypto'
import { messageOf } from '../../base/errors.ts'
import type { Worklist } from '../declare/resource.ts'
import { isBurst } from '../evidence/policies.ts'
import { type Counts, isAccepted, noCounts, type RunStatus, statusOfError } from '../ledger/ledger.ts'
import { namesInResponses } from '../outbox/outbox.ts'
import { holdWhere } from '../privacy/restrictions/pending-restrictions.ts'
import type { GuardAction, LastReasons } from '../respond/guard-actions.ts'
import { type Outcome, recordOutcome } from '../respond/record-outcome.ts'
import { countLosses } from '../respond/shape-changes.ts'
import { concludeRefusal, rejectRefusals } from '../worklist/conclude.ts'
import { earlierResponses } from '../worklist/refusals.ts'
import { addKey, endOfKeys, noRefusals, takeReady } from '../worklist/run-refusals.ts'
import type { Engine, RunLog } from './engine.ts'
import type { IngestContext, IngestResult } from './ingest.ts'
import { logDrift, logFailure, logOfRun } from './run-log.ts'
import { type RunResult, resultOf } from './run-result.ts'

/** A run over keys of a worklist, in any order, several at once. */
export class WorklistRun {
  readonly runId = randomUUID()
  readonly startedAt: Date
  readonly log: RunLog
  readonly #resource: Worklist
  readonly #engine: Engine
  readonly #window: number | undefined
  readonly #requestsBefore: number
  readonly #lastReasons: LastReasons = new Map()
  readonly #losses = countLosses()
  #summary = emptySummary
  #refusals = noRefusals
  #earlier: ReturnType<typeof earlierResponses> | undefined
  #restrictions: RunRestrictions = { responded: new Set(), hiding: new Set(), until: new Date(0) }

  /** Starts a run. @param window after so many other keys a confirmed refusal is concluded; 0: at once, and many of them do not end the run */
  constructor(resource: Worklist, engine: Engine, window?: number) {
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
    const { refusal } = result
    const earlier = refusal && refusal.state !== 'concluded' ? await this.#recall(refusal.receivedAt) : []
    this.#refusals = addKey(this.#refusals, key, refusal, this.#engine.guards.accept, earlier)
    await this.#concludeReady(this.#window)
    // Of what was recorded, the next response may be of years later.
    if (this.#window === 0) await this.#rejectMass()
    return result
  }

  /** What the runs before came to, once: many refusals at once are as many in several short runs. */
  async #recall(at: number): ReturnType<typeof earlierResponses> {
    if (this.#earlier) return []
    this.#earlier = earlierResponses(this.#engine.db, this.#resource, { runId: this.runId, until: new Date(at) })
    return await this.#earlier
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
    // What was recorded may go on where this ends: it is judged where something is concluded.
    if (this.#window !== 0) this.#refusals = endOfKeys(this.#refusals, this.#engine.guards.accept)
    if (isSound) await this.#concludeReady(0)
    await this.#rejectMass()
  }

  /** Rejects all that was refused, also in the runs before, where it is too much to be believed. */
  async #rejectMass(): Promise<void> {
    const { massRefusal, refused, window } = this.#refusals
    if (massRefusal === undefined) return
    const shown = window.filter(({ response }) => response === 'shown')
    this.#refusals = { ...noRefusals, window: shown }
    const others = ((await this.#earlier) ?? []).filter((one) => window.includes(one) && !shown.includes(one))
    const since = new Date(Math.min(this.startedAt.getTime(), ...others.map(({ receivedAt }) => receivedAt.getTime())))
    const runs = { runIds: [this.runId, ...new Set(others.map(({ runId }) => runId))], since }
    const reason = `${massRefusal}: taken for a failure of the service; nothing was concluded from it`
    await rejectRefusals(this.#resource, this.#engine, runs, [...refused, ...others.map(({ key }) => key)], reason)
    this.#summary = rejectKeys(this.#summary, refused.size, { guard: 'mass-refusal', action: 'stopped', reason })
    this.log.warn({ keys: refused.size }, `mass-refusal: ${reason}`)
  }

  /**
   * Writes the ledger row of the run.
   * @param failure what ended the run early; undefined when nothing did
   * @throws what the database throws
   */
  async close(requested: number, failure?: unknown): Promise<RunResult> {
    const { db, api, clock, program, notifies, sourceId = null } = this.#engine
    const { counts, observedAt, rejection, guarded } = this.#summary
    const { runId, startedAt } = this
    const status = failure === undefined ? statusOf(this.#summary) : statusOfError(failure)
    const at = new Date(clock.now())
    const reason = reasonOf(this.#summary)
    const latest = observedAt > 0 ? new Date(observedAt) : null
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
      sourceId,
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

  /** When many keys hid something at once, in this run or with those before, nothing is removed before responses hours apart say the same. */
  async #holdRestrictions(): Promise<void> {
    const { accept } = this.#engine.guards
    if (accept || (this.#restrictions.hiding.size === 0 && this.#restrictions.ofResponse === undefined)) return
    const { db } = this.#engine
    const { name } = this.#resource
    const { runId } = this
    let mass: string | undefined
    await holdWhere(db, name, { until: this.#restrictions.until, runId }, (before) => {
      mass = massRestriction(this.#restrictions, before)
      return mass !== undefined
    })
    if (mass === undefined) return
    this.#summary = rejectKeys(this.#summary, 0, { guard: 'mass-restriction', action: 'pending', reason: mass })
    this.log.warn({ keys: this.#restrictions.hiding.size }, `mass-restriction: ${mass}`)
  }

  async #concludeReady(window: number | undefined): Promise<void> {
    const { state, ready } = takeReady(this.#refusals, window)
    if (ready.length === 0) return
    const { massRefusal } = endOfKeys(state, this.#engine.guards.accept)
    this.#refusals = massRefusal === undefined ? state : { ...state, massRefusal }
    if (massRefusal !== undefined) return
    for (const refusal of ready) {
      const outcome = await concludeRefusal(this.#resource, this.#engine, this.runId, refusal)
      if (outcome) this.#summary = addOutcome(this.#summary, outcome)
    }
  }
}

/** A run over the keys of a worklist, summed up key by key. */
interface RunSummary {
  readonly counts: Counts
  readonly statuses: ReadonlySet<Outcome['status']>
  /** The first ones. */
  readonly reasons: readonly string[]
  readonly guarded: readonly GuardAction[]
  /** The latest instant that an accepted response speaks for, ms since the epoch; 0 without one. */
  readonly observedAt: number
  /** Keys whose request failed. */
  readonly missed: number
  /** Why all refusals of the run were rejected. */
  readonly rejection?: GuardAction
}

export const emptySummary: RunSummary = {
  counts: noCounts,
  statuses: new Set(),
  reasons: [],
  guarded: [],
  observedAt: 0,
  missed: 0,
}

/** So many reasons stand in the ledger row. */
const mostReasons = 5

export function addOutcome(summary: RunSummary, outcome: Outcome & { readonly refusal?: unknown }): RunSummary {
  const { key, status, observedAt, guarded, reason, refusal } = outcome
  const counts = Object.entries(summary.counts).map(([name, sum]) => [name, sum + outcome[name as keyof Counts]])
  const added = {
    ...summary,
    counts: Object.fromEntries(counts) as Counts,
    statuses: summary.statuses.has(status) ? summary.statuses : new Set([...summary.statuses, status]),
    guarded: guarded.length === 0 ? summary.guarded : [...summary.guarded, ...guarded],
    observedAt: isAccepted(status) ? Math.max(summary.observedAt, observedAt?.getTime() ?? 0) : summary.observedAt,
  }
  // The reason of a refusal stands with its observation.
  return reason && !refusal ? withReason(added, `${key}: ${reason}`) : added
}

export function addMissed(summary: RunSummary, key: string, reason: string): RunSummary {
  return withReason({ ...summary, missed: summary.missed + 1 }, `${key}: ${reason}`)
}

/** Rejects the refusals of so many keys: the whole run counts as rejected. */
export function rejectKeys(summary: RunSummary, keys: number, rejection: GuardAction): RunSummary {
  const { counts, guarded, reasons } = summary
  return {
    ...summary,
    rejection,
    counts: { ...counts, rejected: counts.rejected + keys },
    guarded: [...guarded, rejection],
    reasons: [rejection.reason, ...reasons],
  }
}

/** The status of a run that nothing ended early. */
export function statusOf({ counts, statuses, missed, rejection }: RunSummary): RunStatus {
  if (rejection) return 'rejected'
  if (counts.rejected + counts.quarantined + missed > 0 || statuses.has('partial')) return 'partial'
  if (counts.inserted + counts.changed + counts.closed + counts.events > 0) return 'ok'
  return statuses.size === 1 && statuses.has('stale') ? 'stale' : 'unchanged'
}

/** The first reasons, as the ledger row has them. */
export function reasonOf({ reasons }: RunSummary): string | null {
  return reasons.length > 0 ? reasons.slice(0, mostReasons).join('; ') : null
}

function withReason(summary: RunSummary, reason: string): RunSummary {
  const { reasons } = summary
  return reasons.length < mostReasons ? { ...summary, reasons: [...reasons, reason] } : summary
}

/** The keys of one run, and those that hide something for the first time. */
interface RunRestrictions {
  readonly responded: Set<string>
  readonly hiding: Set<string>
  /** Why one response alone hides too much at once. */
  readonly ofResponse?: string | undefined
  /** When the last of them came, by the clock of this machine. */
  readonly until: Date
}

/** Counts a key in place: a run may have a hundred thousand. */
function addRestriction(
  { responded, hiding, ofResponse }: RunRestrictions,
  key: string,
  { hidesKept = false, guarded, at }: Pick<IngestResult, 'hidesKept' | 'guarded' | 'at'>,
): RunRestrictions {
  const mass = guarded.find(({ guard }) => guard === 'mass-restriction')
  responded.add(key)
  if (hidesKept) hiding.add(key)
  return { responded, hiding, ofResponse: ofResponse ?? (mass && `${key}: ${mass.reason}`), until: at }
}

/** Why the restrictions of a run are not credible; undefined when they are. @param before the keys of those before it */
function massRestriction(
  { responded, hiding, ofResponse }: RunRestrictions,
  before: readonly { readonly key: string; readonly hides: boolean }[],
): string | undefined {
  const keys = new Set(responded)
  const hidden = new Set(hiding)
  for (const { key, hides } of before) {
    keys.add(key)
    if (hides) hidden.add(key)
  }
  for (const [of, many] of [
    [responded, hiding],
    [keys, hidden],
  ] as const)
    if (isBurst(many.size, of.size))
      return `${many.size} of ${of.size} keys hide at once what they showed; nothing is removed before responses hours apart say the same`
  return ofResponse
}
