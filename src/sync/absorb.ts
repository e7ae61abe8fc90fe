import type { Sql } from '../db/database.ts'
import { closeAbsent, pendingAbsences } from './absent.ts'
import { lostBy, noteDrift } from './drift/changes.ts'
import { documentOf } from './drift/novelties.ts'
import { appendFieldChanges, type DocumentChange } from './field-changes.ts'
import { fingerprintOf } from './fingerprint.ts'
import { absenceActions, type GuardAction, type Lacking, walkActions, zeroActions } from './guard/actions.ts'
import { objectionToClock } from './guard/clock.ts'
import { type Guards, judge, type LastAccepted } from './guard/guard.ts'
import { type Json, sha256 } from './hash.ts'
import { appendQuarantine, type RunStatus } from './ledger.ts'
import { type Loaded, loadVersions } from './load.ts'
import type { Preparation } from './prepare.ts'
import type { Target } from './privacy/erase.ts'
import { hearPrivacy, hiddenIn, type Telling } from './privacy/privacy.ts'
import type { Recorded } from './resource.ts'
import { appendSamples, type Sampled } from './samples.ts'
import { endFormerStays, type Settled, settleAbsences } from './settle.ts'

/** One answer, understood as far as it can be, and what is known of the one before it. */
export interface Answer extends Telling {
  readonly preparation: Preparation
  readonly last: (LastAccepted & { readonly living: number }) | undefined
  /** When it came, by the clock of this machine; ms since the epoch. */
  readonly receivedAt: number
  readonly guards: Guards
}

/** What an answer came to, for the ledger and for the caller. */
export interface Absorbed {
  readonly status: RunStatus
  readonly reason: string | null
  readonly records: number
  readonly inserted: number
  readonly changed: number
  readonly closed: number
  readonly unchanged: number
  readonly events: number
  readonly rejected: number
  readonly quarantined: number
  /** Current keys after it; null when the answer was not taken. */
  readonly living: number | null
  readonly contentHash: Buffer
  /** What it shows of people although it is hidden: it is in no table, and may stay nowhere else. */
  readonly hidden: readonly Target[]
  /** What guards did about it, for `sync.guard_action`. */
  readonly guarded: readonly GuardAction[]
  /** Fields that the record of a worklist had before and has not any more; whether all lose them, only many answers tell. */
  readonly lost?: readonly string[]
  /** Novelties seen for the first time, for the log. */
  readonly drift: readonly { readonly kind: string; readonly path: string; readonly member: string }[]
}

/** Takes one answer into the database, inside the caller's transaction: all of what it says is there or none. */
export async function absorb(sql: Sql, resource: Recorded, answer: Answer): Promise<Absorbed> {
  const { extraction, preparation, last, guards } = answer
  const { entities, quarantined, seen } = preparation
  const records = seen.size + quarantined.filter((one) => one.key === undefined).length
  const fingerprint = fingerprintOf(extraction, preparation)
  const none = { inserted: 0, changed: 0, closed: 0, unchanged: 0, events: 0, rejected: 0, living: null, drift: [] }
  const outcome = { ...none, hidden: [], records, quarantined: quarantined.length, contentHash: fingerprint }

  const plausibleShare = guards.plausibleShares?.[resource.name] ?? resource.plausibleShare ?? guards.plausibleShare
  const candidate = { ...extraction, records, contentHash: fingerprint }
  const verdict = judge(candidate, last, { plausibleShare, accept: guards.accept ?? false })
  if (verdict.status === 'stale') {
    const { status, reason } = verdict
    return { ...outcome, quarantined: 0, status, reason, guarded: [{ guard: 'staleness', reason }] }
  }
  const objection = verdict.status === 'load' ? (verdict.overruled ?? extraction.objection) : extraction.objection
  const implausible = verdict.status === 'rejected' ? verdict.reason : guards.accept ? undefined : objection
  const future = guards.accept ? undefined : await objectionToClock(sql, resource.name, answer)
  const reason = future ?? implausible
  if (reason !== undefined) {
    const guarded = [{ guard: future ? 'clock' : 'plausibility', reason }] as const
    const hidden = await hiddenIn(sql, resource, answer)
    return { ...outcome, hidden, quarantined: 0, status: 'rejected', reason, rejected: 1, guarded }
  }
  const guarded = walkActions(extraction, records)
  if (objection) guarded.push({ guard: 'plausibility', reason: `${objection}; taken, because a person accepts it` })
  const doubt = doubtOf(answer)
  const { hidden, isNews, settle } = await hearPrivacy(sql, resource, answer)
  if (verdict.status === 'unchanged' && !isNews && !(await isWitness(sql, resource, answer))) {
    const status = doubt ? 'partial' : 'unchanged'
    return {
      ...outcome,
      hidden,
      status,
      reason: doubt,
      unchanged: entities.length,
      living: last?.living ?? null,
      guarded,
    }
  }
  const { anything, guarded: found, ...written } = await write(sql, resource, answer)
  await settle()
  const status = doubt ? 'partial' : anything ? 'ok' : 'unchanged'
  // Under another fingerprint: the same answer must not count as known once it may be taken in whole.
  const contentHash = hidden.length > 0 ? sha256(fingerprint) : fingerprint
  return { ...outcome, ...written, contentHash, hidden, status, reason: doubt, guarded: [...guarded, ...found] }
}

/** Whether an unchanged answer still says something: that what was missing before is missing again. */
async function isWitness(sql: Sql, resource: Recorded, { extraction, last, scope }: Answer): Promise<boolean> {
  // Only an answer that is newer in all its pages is another witness.
  if (last && extraction.observedFrom <= last.observedAt) return false
  const counted = [resource.name, ...Object.keys(resource.others ?? {}).map((name) => `${resource.name}/${name}`)]
  for (const name of counted) if ((await pendingAbsences(sql, name, scope)).length > 0) return true
  return false
}

const nothingAbsent: Settled = { closed: [], waiting: [] }

async function write(sql: Sql, resource: Recorded, answer: Answer) {
  const { extraction, preparation, last, runId, guards } = answer
  const { entities, quarantined } = preparation
  const at = new Date(extraction.observedAt)
  const found = { resource: resource.name, at, runId }
  const loaded = await loadVersions(sql, resource.history, entities, at)
  const { closed, waiting } =
    answer.scope === undefined ? await settleRoots(sql, resource, answer, loaded, at) : nothingAbsent
  const { written: others, lacking } = await writeOthers(sql, resource, answer, closed, at)
  const sampled: Sampled[] = []
  for (const [name, sample] of Object.entries(resource.samples ?? {})) {
    const rows = entities.flatMap((entity) => entity.samples?.[name] ?? [])
    sampled.push(await appendSamples(sql, sample, rows, at))
  }
  const samples = sampled.reduce((sum, one) => sum + one.written, 0)
  const roots = {
    what: 'records',
    waiting: waiting.length,
    named: waiting.toSorted().slice(0, 3),
    ended: closed.length,
  }
  const guarded = [...absenceActions([roots, ...lacking], guards.absences), ...zeroActions(sampled, guards.zeroShare)]
  // The first answer is where memory begins: nothing in it is known to have changed.
  if (last && resource.changeLog)
    await appendFieldChanges(sql, resource.name, [...documentChanges(loaded, at), ...closed])
  await appendQuarantine(sql, found, quarantined)
  const drift = await noteDrift(sql, resource, found, { preparation, loaded, isWhole: answer.scope === undefined })
  const events = resource.derive
    ? await resource.derive(sql, {
        at,
        previousAt: last ? new Date(last.observedAt) : null,
        facts: extraction.facts ?? null,
        recordFacts: new Map(entities.map((entity) => [entity.key, entity.facts ?? null])),
      })
    : 0
  const versions = loaded.inserted.length + loaded.changed.length + closed.length
  return {
    inserted: loaded.inserted.length,
    changed: loaded.changed.length,
    closed: closed.length,
    unchanged: loaded.unchanged,
    living: (last?.living ?? 0) + loaded.inserted.length - closed.length,
    // What the first answer shows did not happen then.
    events: last ? others + events : 0,
    anything: versions + others + samples + events > 0,
    drift,
    lost: answer.scope === undefined ? [] : [...lostBy(loaded.changed).values()].flat(),
    guarded,
  }
}

/** Ends the versions of records that enough answers have lacked. */
async function settleRoots(sql: Sql, resource: Recorded, answer: Answer, loaded: Loaded, at: Date) {
  const { extraction, preparation, last, guards } = answer
  const { entities, quarantined, seen } = preparation
  const unreadable = quarantined.some((one) => one.key === undefined)
  const complete = extraction.complete && !unreadable && last !== undefined
  // When every current key came, none is missing, and looking for absent ones would only read the table.
  const allCame = quarantined.length === 0 && entities.length - loaded.inserted.length === last?.living
  const among = { counted: resource.name, history: resource.history, seen }
  return await settleAbsences(sql, among, { complete: complete && !allCame, absences: guards.absences, at })
}

/** Loads the further histories that the records feed, and ends what is absent from them; counts versions that began or ended. */
async function writeOthers(
  sql: Sql,
  resource: Recorded,
  answer: Answer,
  goneRoots: readonly DocumentChange[],
  at: Date,
): Promise<{ written: number; lacking: Lacking[] }> {
  const { preparation, guards } = answer
  let written = 0
  const lacking: Lacking[] = []
  for (const [name, history] of Object.entries(resource.others ?? {})) {
    const entities = preparation.entities.flatMap((entity) => entity.also[name] ?? [])
    let waiting = 0
    let ended = 0
    if (history.stay !== undefined && answer.scope !== undefined) {
      const among = { counted: `${resource.name}/${name}`, history, scope: answer.scope }
      ended = await endFormerStays(sql, among, history.stay, entities)
      written += ended
    }
    const loaded = await loadVersions(sql, history, entities, at)
    written += loaded.inserted.length + loaded.changed.length
    if (history.absence === 'with-root') {
      const gone = goneRoots.map((one) => ({ key: one.key, firstMissedAt: one.at, times: guards.absences }))
      if (gone.length > 0) written += (await closeAbsent(sql, history, gone)).length
      continue
    }
    // What is set aside was there, only not understood.
    const kept = preparation.quarantined.flatMap((one) => one.key ?? [])
    const complete = kept.length === preparation.quarantined.length
    const seen = new Set([...entities.map((entity) => entity.key), ...kept])
    for (const root of preparation.entities) {
      if (root.incomplete?.includes(name)) continue
      const among = { counted: `${resource.name}/${name}`, history, seen, scope: root.key }
      const settled = await settleAbsences(sql, among, { complete, absences: guards.absences, at })
      waiting += settled.waiting.length
      ended += settled.closed.length
      written += settled.closed.length
    }
    // Their keys are people: the ledger counts them and does not name them.
    lacking.push({ what: name, waiting, named: [], ended })
  }
  return { written, lacking }
}

function doubtOf({ extraction, preparation }: Answer): string | null {
  const { length } = preparation.quarantined
  if (length > 0) return `${length} records could not be understood; see sync.quarantine`
  if (extraction.complete) return null
  return `the walk saw another number of records than the API counts (${extraction.records.length} came)`
}

function documentChanges(loaded: Loaded, at: Date): DocumentChange[] {
  const one = (before: Json | undefined, entity: Loaded['inserted'][number]) => ({
    key: entity.key,
    at,
    before,
    after: documentOf(entity),
  })
  return [
    ...loaded.inserted.map((entity) => one(undefined, entity)),
    ...loaded.changed.map(({ entity, before }) => one(before, entity)),
  ]
}
