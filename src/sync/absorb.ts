import type { Sql } from '../db/database.ts'
import { closeAbsent, pendingAbsences } from './absent.ts'
import { appendFieldChanges, type DocumentChange } from './field-changes.ts'
import { judge, type LastAccepted } from './guard.ts'
import { contentHash, type Json, sha256 } from './hash.ts'
import { appendDrift, appendQuarantine, type RunStatus } from './ledger.ts'
import { type Loaded, loadVersions } from './load.ts'
import { documentOf, noveltiesOf } from './novelties.ts'
import type { Preparation } from './prepare.ts'
import type { Extraction, Recorded } from './resource.ts'
import { appendSamples } from './samples.ts'
import { endFormerStays, settleAbsences } from './settle.ts'

/** What a person may set about the guards. */
export interface Guards {
  /** An answer with fewer records than this share (0..1) of the last good one is rejected. */
  readonly plausibleShare: number
  /** In how many consecutive complete answers a key must be missing before its version ends. */
  readonly absences: number
  /** Take the next answer although it looks implausible. */
  readonly accept?: boolean
}

/** One answer, understood as far as it can be, and what is known of the one before it. */
export interface Answer {
  readonly extraction: Extraction
  readonly preparation: Preparation
  readonly last: (LastAccepted & { readonly living: number }) | undefined
  readonly guards: Guards
  readonly runId: string
  /** The one key that the answer is about, where a resource is asked for key by key: it says nothing of other keys. */
  readonly scope?: string
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
  /** Novelties seen for the first time, for the log. */
  readonly drift: readonly { readonly kind: string; readonly path: string; readonly member: string }[]
}

/** Takes one answer into the database, inside the caller's transaction: all of what it says is there or none. */
export async function absorb(sql: Sql, resource: Recorded, answer: Answer): Promise<Absorbed> {
  const { extraction, preparation, last, guards } = answer
  const { entities, quarantined, seen } = preparation
  const records = seen.size + quarantined.filter((one) => one.key === undefined).length
  const fingerprint = fingerprintOf(answer)
  const none = { inserted: 0, changed: 0, closed: 0, unchanged: 0, events: 0, rejected: 0, living: null, drift: [] }
  const outcome = { ...none, records, quarantined: quarantined.length, contentHash: fingerprint }

  const verdict = judge({ ...extraction, records, contentHash: fingerprint }, last, guards)
  if (verdict.status === 'stale') return { ...outcome, quarantined: 0, status: 'stale', reason: verdict.reason }
  const objection = verdict.status === 'rejected' ? verdict.reason : guards.accept ? undefined : extraction.objection
  if (objection) return { ...outcome, quarantined: 0, status: 'rejected', reason: objection, rejected: 1 }

  const doubt = doubtOf(answer)
  if (verdict.status === 'unchanged' && !(await isWitness(sql, resource, answer))) {
    const status = doubt ? 'partial' : 'unchanged'
    return { ...outcome, status, reason: doubt, unchanged: entities.length, living: last?.living ?? null }
  }
  const { anything, ...written } = await write(sql, resource, answer)
  return { ...outcome, ...written, status: doubt ? 'partial' : anything ? 'ok' : 'unchanged', reason: doubt }
}

/** Whether an unchanged answer still says something: that what was missing before is missing again. */
async function isWitness(sql: Sql, resource: Recorded, { extraction, last, scope }: Answer): Promise<boolean> {
  // Only an answer that is newer in all its pages is another witness.
  if (last && extraction.observedFrom <= last.observedAt) return false
  const counted = [resource.name, ...Object.keys(resource.others ?? {}).map((name) => `${resource.name}/${name}`)]
  for (const name of counted) if ((await pendingAbsences(sql, name, scope)).length > 0) return true
  return false
}

async function write(sql: Sql, resource: Recorded, answer: Answer) {
  const { extraction, preparation, last, runId } = answer
  const { entities, quarantined } = preparation
  const at = new Date(extraction.observedAt)
  const found = { resource: resource.name, at, runId }
  const loaded = await loadVersions(sql, resource.history, entities, at)
  const closed = answer.scope === undefined ? await settleRoots(sql, resource, answer, loaded, at) : []
  const others = await writeOthers(sql, resource, answer, closed, at)
  let sampled = 0
  for (const [name, sample] of Object.entries(resource.samples ?? {})) {
    const rows = entities.flatMap((entity) => entity.samples?.[name] ?? [])
    sampled += await appendSamples(sql, sample, rows, at)
  }
  // The first answer is where memory begins: nothing in it is known to have changed.
  if (last && resource.changeLog)
    await appendFieldChanges(sql, resource.name, [...documentChanges(loaded, at), ...closed])
  await appendQuarantine(sql, found, quarantined)
  // What came with an unchanged record may be new all the same.
  const fresh = resource.others ? entities : [...loaded.inserted, ...loaded.changed.map((one) => one.entity)]
  const drift = await appendDrift(sql, found, noveltiesOf(resource, fresh))
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
    anything: versions + others + sampled + events > 0,
    drift,
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

/** Loads the further histories that the records feed, and ends what is absent from them; returns how many versions began or ended. */
async function writeOthers(
  sql: Sql,
  resource: Recorded,
  answer: Answer,
  goneRoots: readonly DocumentChange[],
  at: Date,
): Promise<number> {
  const { preparation, guards } = answer
  let written = 0
  for (const [name, history] of Object.entries(resource.others ?? {})) {
    const entities = preparation.entities.flatMap((entity) => entity.also[name] ?? [])
    if (history.stay !== undefined && answer.scope !== undefined) {
      const among = { counted: `${resource.name}/${name}`, history, scope: answer.scope }
      written += await endFormerStays(sql, among, history.stay, entities)
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
      written += (await settleAbsences(sql, among, { complete, absences: guards.absences, at })).length
    }
  }
  return written
}

/** Fingerprint of a whole answer. */
function fingerprintOf({ extraction, preparation }: Answer): Buffer {
  // With its key: another entity under the same words is another answer.
  const parts: Uint8Array[] = preparation.entities.map((one) => Buffer.concat([one.fingerprint, Buffer.from(one.key)]))
  parts.push(...preparation.quarantined.map((one) => one.hash))
  // Completeness is part of it: the same records say more about what they lack when they are known to be all.
  if (!extraction.complete) parts.push(Buffer.from('incomplete'))
  if (extraction.facts !== undefined) parts.push(sha256(JSON.stringify(extraction.facts)))
  return contentHash(parts)
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
