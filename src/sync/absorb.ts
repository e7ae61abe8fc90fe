import type { Sql } from '../db/database.ts'
import { type Absence, closeAbsent, countAbsences, findAbsent, forgetAbsences, pendingAbsences } from './absent.ts'
import { type Novelty, unknownFieldNovelties, unknownMembers } from './drift.ts'
import { appendFieldChanges, type DocumentChange } from './field-changes.ts'
import { judge } from './guard.ts'
import { contentHash, type Json } from './hash.ts'
import { appendDrift, appendQuarantine, appendRun, lastAccepted, type RunRow, type RunStatus } from './ledger.ts'
import { type Loaded, loadVersions } from './load.ts'
import type { Preparation, Prepared } from './prepare.ts'
import type { Extraction, Resource } from './resource.ts'

/** What a person may set about the guards. */
export interface Guards {
  /** An answer with fewer records than this share (0..1) of the last good one is rejected. */
  readonly plausibleShare: number
  /** In how many consecutive complete answers a key must be missing before its version ends. */
  readonly absences: number
  /** Take the next answer although it looks implausible. */
  readonly accept?: boolean
}

/** What an answer came to, for the ledger row and for the caller. */
export interface Absorbed {
  readonly status: RunStatus
  readonly reason: string | null
  /** Novelties reported for the first time, for the log. */
  readonly drift: readonly { readonly kind: string; readonly path: string; readonly member: string }[]
  readonly row: RunRow
}

type Heading = Pick<RunRow, 'runId' | 'startedAt' | 'requests' | 'program'>

/**
 * Takes one answer into the database. Everything it says and its ledger row are one transaction, the caller's: all of
 * it is there or none.
 */
export async function absorb(
  sql: Sql,
  resource: Resource,
  answer: {
    extraction: Extraction
    preparation: Preparation
    guards: Guards
    heading: Heading
    finishedAt: () => Date
  },
): Promise<Absorbed> {
  const { extraction, preparation, guards, heading } = answer
  const { entities, quarantined, seen } = preparation
  const at = new Date(extraction.observedAt)
  const fingerprint = contentHash([...entities, ...quarantined].map((one) => one.hash))
  const records = seen.size + quarantined.filter((one) => one.key === undefined).length
  const last = await lastAccepted(sql, resource.name)
  const pending = await pendingAbsences(sql, resource.name)
  const verdict = judge({ ...extraction, records, contentHash: fingerprint }, last, guards)
  const finish = async (
    status: RunStatus,
    reason: string | null,
    counts: Partial<RunRow>,
    drift: Absorbed['drift'] = [],
  ) => {
    const row: RunRow = {
      ...heading,
      resource: resource.name,
      status,
      reason,
      finishedAt: answer.finishedAt(),
      observedFrom: new Date(extraction.observedFrom),
      observedAt: at,
      complete: extraction.complete,
      pages: extraction.pages,
      records,
      quarantined: quarantined.length,
      contentHash: fingerprint,
      ...counts,
    }
    await appendRun(sql, row)
    return { status, reason, drift, row }
  }

  const believed = quarantined.length > 0 || !extraction.complete ? 'partial' : undefined
  const doubt = believed && doubtOf(extraction, quarantined.length)
  if (verdict.status === 'stale' || verdict.status === 'rejected') {
    return await finish(verdict.status, verdict.reason, { rejected: verdict.status === 'rejected' ? 1 : 0 })
  }
  const repeated =
    verdict.status === 'unchanged' && (pending.length === 0 || extraction.observedAt === last?.observedAt)
  if (repeated) {
    return await finish(believed ?? 'unchanged', doubt ?? null, {
      unchanged: entities.length,
      living: last?.living ?? null,
    })
  }

  const found = { resource: resource.name, at, runId: heading.runId }
  const loaded = await loadVersions(sql, resource.history, entities, at)
  const closed = await settleAbsences(sql, resource, { extraction, preparation, loaded, pending, last, guards, at })
  // The first answer is where memory begins: nothing in it is known to have changed.
  if (last) await appendFieldChanges(sql, resource.name, [...documentChanges(loaded, at), ...closed])
  await appendQuarantine(sql, found, quarantined)
  const drift = await appendDrift(sql, found, novelties(resource, loaded))
  const written = loaded.inserted.length + loaded.changed.length + closed.length
  return await finish(
    believed ?? (written === 0 ? 'unchanged' : 'ok'),
    doubt ?? null,
    {
      inserted: loaded.inserted.length,
      changed: loaded.changed.length,
      closed: closed.length,
      unchanged: loaded.unchanged,
      living: (last?.living ?? 0) + loaded.inserted.length - closed.length,
    },
    drift,
  )
}

function doubtOf(extraction: Extraction, quarantined: number): string {
  if (quarantined > 0) return `${quarantined} records could not be understood; see sync.quarantine`
  return `the walk saw another number of records than the API counts (${extraction.records.length} came)`
}

/** Ends the versions of keys that enough complete answers have lacked. Nothing is absent from an incomplete answer. */
async function settleAbsences(
  sql: Sql,
  resource: Resource,
  seen: {
    extraction: Extraction
    preparation: Preparation
    loaded: Loaded
    pending: readonly Absence[]
    last: { living: number } | undefined
    guards: Guards
    at: Date
  },
): Promise<DocumentChange[]> {
  const { extraction, preparation, loaded, pending, last, guards, at } = seen
  const back = pending.filter(({ key }) => preparation.seen.has(key)).map(({ key }) => key)
  await forgetAbsences(sql, resource.name, back)
  const unreadable = preparation.quarantined.some((one) => one.key === undefined)
  if (!last || !extraction.complete || unreadable) return []
  const matched = preparation.entities.length - loaded.inserted.length
  if (matched === last.living) return []
  const missing = await findAbsent(sql, resource.history, preparation.seen)
  if (missing.length === 0) return []
  const gone = (await countAbsences(sql, resource.name, missing, at)).filter(({ times }) => times >= guards.absences)
  if (gone.length === 0) return []
  const closed = await closeAbsent(sql, resource.history, gone)
  await forgetAbsences(
    sql,
    resource.name,
    gone.map(({ key }) => key),
  )
  return closed
}

function documentChanges(loaded: Loaded, at: Date): DocumentChange[] {
  return [
    ...loaded.inserted.map((entity) => ({ key: entity.key, at, before: undefined, after: documentOf(entity) })),
    ...loaded.changed.map(({ entity, before }) => ({ key: entity.key, at, before, after: documentOf(entity) })),
  ]
}

function novelties(resource: Resource, loaded: Loaded): (Novelty & { readonly key: string })[] {
  const once = new Map<string, Novelty & { readonly key: string }>()
  for (const entity of [...loaded.inserted, ...loaded.changed.map((one) => one.entity)]) {
    const document = documentOf(entity)
    const fields = unknownFieldNovelties(resource.unknownFields(document))
    for (const one of [...fields, ...unknownMembers(document, resource.vocabulary)]) {
      const name = `${one.kind} ${one.path} ${one.member}`
      if (!once.has(name)) once.set(name, { ...one, key: entity.key })
    }
  }
  return [...once.values()]
}

function documentOf(entity: Prepared): Json {
  return JSON.parse(entity.documentText) as Json
}
