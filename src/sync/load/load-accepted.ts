import type { Sql } from '../../db/database.ts'
import { documentOf } from '../drift/novelties.ts'
import { lostBy, recordDrift } from '../drift/shape-changes.ts'
import { rootsOf } from '../normalize/prepare.ts'
import { addTouched, type Touched } from '../outbox/touched.ts'
import { appendQuarantine } from '../record/ledger.ts'
import type { ResourceBase } from '../resource.ts'
import { absenceActions, type GuardAction, type Lacking, olderActions, zeroActions } from '../validate/guard-actions.ts'
import { enough } from '../validate/plausibility.ts'
import type { IncomingResponse } from '../validate/validate-snapshot.ts'
import { closeAbsent, confirmMissing, pendingAbsences } from './absent.ts'
import { carryForward } from './carry.ts'
import { appendFieldChanges, type DocumentChange } from './field-changes.ts'
import type { Loaded, Withdrawn } from './load.ts'
import { type AbsenceRule, closePreviousSpells, countCurrent, reconcileMissingKeys } from './missing-keys.ts'
import { appendSamples, type Sampled } from './samples.ts'
import { loadUnconfirmed, takeBackOfGone } from './unconfirmed.ts'

const nothingAbsent = { closed: [], waiting: [], unknown: false }
const hour = 3_600_000

/** When what a response lacks is gone: after responses of other cache windows, of a shrunken one only after hours. */
function absenceRule({ cacheSeconds }: ResourceBase, { guards, isShrunken = false }: IncomingResponse): AbsenceRule {
  const { absences, shrunkenHours = 6 } = guards
  const apart = 1000 * cacheSeconds
  if (!isShrunken) return { absences, apart }
  return { absences: Math.max(absences, enough), apart, span: shrunkenHours * hour }
}

/** Loads an accepted response: versions, tombstones, samples, changed fields, quarantine, drift, and the events that follow. */
export async function loadAccepted(sql: Sql, resource: ResourceBase, response: IncomingResponse) {
  const { extraction, preparation, last, runId, guards } = response
  const { entities, quarantined } = preparation
  const roots = rootsOf(preparation)
  const at = new Date(extraction.observedAt)
  const apart = 1000 * resource.cacheSeconds
  const receivedAt = new Date(response.receivedAt)
  const found = { resource: resource.name, at, runId }
  const loaded = await loadRoots(sql, resource, response, at)
  const { closed, waiting, unknown } =
    response.scope === undefined ? await reconcileMissingRoots(sql, resource, response, loaded) : nothingAbsent
  const touched: Touched = { keys: new Set(closed.map(({ key }) => key)), concerns: new Set() }
  addTouched(touched, resource.history, loaded)
  const related = await loadRelated(sql, resource, response, { goneRoots: closed, at, touched })
  const { written: others, lacking } = related
  const sampled: Sampled[] = []
  let content = 0
  for (const [name, sample] of Object.entries(resource.samples ?? {})) {
    const rows = entities.flatMap((entity) => entity.samples?.[name] ?? [])
    const appended = await appendSamples(sql, sample, rows, at)
    sampled.push(appended)
    // The first response changes nothing.
    if (sample.isContent && last) content += appended.written
  }
  const samples = sampled.reduce((sum, { written }) => sum + written, 0)
  const named = waiting.toSorted().slice(0, 3)
  const missed = { what: 'records', waiting: waiting.length, named, ended: closed.length }
  const guarded = [
    ...related.guarded,
    ...absenceActions([missed, ...lacking], absenceRule(resource, response)),
    ...zeroActions(sampled, guards.zeroShare),
  ]
  // The first response is where history begins: nothing in it is known to have changed.
  if (last && resource.changeLog)
    await appendFieldChanges(sql, resource.name, [...documentChanges(loaded, at), ...closed])
  await appendQuarantine(sql, found, quarantined)
  const drift = await recordDrift(sql, resource, found, { preparation, loaded, isWhole: response.scope === undefined })
  const events = resource.derive
    ? await resource.derive(sql, {
        at,
        previousAt: last ? new Date(last.observedAt) : null,
        facts: extraction.facts ?? null,
        complete: extraction.complete,
        recordFacts: new Map(roots.map((entity) => [entity.key, entity.facts ?? null])),
        confirmMissing: (missing, scope) =>
          confirmMissing(sql, resource.name, missing, { scope, responses: guards.absences, apart, at, receivedAt }),
        pendingMissing: (scope) => pendingAbsences(sql, resource.name, scope),
        withdrawn: related.withdrawn,
      })
    : 0
  const versions = loaded.inserted.length + loaded.changed.length + closed.length
  return {
    inserted: loaded.inserted.length,
    changed: loaded.changed.length + content,
    closed: closed.length,
    unchanged: loaded.unchanged,
    awaitsAbsences: unknown || waiting.length > 0,
    currentKeys: await currentKeysAfter(sql, resource, response, loaded.inserted.length - closed.length),
    // What the first response shows did not happen then.
    events: last ? others + events : 0,
    hasChanged: versions + others + samples + events > 0,
    drift,
    touched: last && !resource.personal ? touched : undefined,
    lost: response.scope === undefined ? [] : [...lostBy(loaded.changed).values()].flat(),
    guarded,
  }
}

/** Counts the current keys where the last accepted response does not say how many it left. @param more those since then */
async function currentKeysAfter(sql: Sql, { history }: ResourceBase, { last, scope }: IncomingResponse, more: number) {
  const before = last?.currentKeys ?? (scope === undefined ? null : 0)
  return before === null ? await countCurrent(sql, history) : before + more
}

/** Loads the versions of the records. Those that the last accepted response had too are current: they are not compared again. */
async function loadRoots(
  sql: Sql,
  { name, history }: ResourceBase,
  { preparation, last, guards }: IncomingResponse,
  at: Date,
): Promise<Loaded> {
  const order = { at, lastSeen: last ? new Date(last.observedAt) : null, responses: guards.absences }
  const of = { counted: name, history }
  const before = preparation.repetition?.before
  const roots = rootsOf(preparation)
  const isAfterLast = last && before && Buffer.compare(before.contentHash, last.contentHash) === 0
  if (!isAfterLast || history.compare) return await loadUnconfirmed(sql, of, roots, order)
  const others = roots.filter((entity) => !before.entities.has(entity))
  const loaded = await loadUnconfirmed(sql, of, others, order)
  return { ...loaded, unchanged: loaded.unchanged + roots.length - others.length }
}

/** Tombstones the records that enough responses have lacked. `unknown`: what the response lacks is unknown. */
async function reconcileMissingRoots(sql: Sql, resource: ResourceBase, response: IncomingResponse, loaded: Loaded) {
  const { extraction, preparation, last } = response
  const { quarantined, seen } = preparation
  const unreadable = quarantined.some(({ key }) => key === undefined)
  const complete = extraction.complete && !unreadable && last !== undefined
  // When all current keys are there, none is missing, and a search would only read the table.
  const isFull = quarantined.length === 0 && rootsOf(preparation).length - loaded.inserted.length === last?.currentKeys
  const among = { counted: resource.name, history: resource.history, seen, covers: extraction.covers }
  const [at, receivedAt] = [new Date(extraction.observedAt), new Date(response.receivedAt)]
  const rule = { ...absenceRule(resource, response), complete: complete && !isFull, at, receivedAt }
  const reconciled = await reconcileMissingKeys(sql, among, rule)
  await takeBackOfGone(
    sql,
    among,
    reconciled.closed.map(({ key }) => key),
  )
  return { ...reconciled, unknown: !complete }
}

/** Loads the related histories and tombstones what is absent from them; counts versions that began or ended. */
async function loadRelated(
  sql: Sql,
  resource: ResourceBase,
  response: IncomingResponse,
  { goneRoots, at, touched }: { readonly goneRoots: readonly DocumentChange[]; readonly at: Date; touched: Touched },
): Promise<{ written: number; lacking: Lacking[]; guarded: GuardAction[]; withdrawn: Withdrawn[] }> {
  const { preparation, guards } = response
  const apart = 1000 * resource.cacheSeconds
  const receivedAt = new Date(response.receivedAt)
  const withdrawn: Withdrawn[] = []
  let written = 0
  const guarded: GuardAction[] = []
  const lacking: Lacking[] = []
  for (const [name, history] of Object.entries(resource.relatedHistories ?? {})) {
    const found = preparation.entities.flatMap((entity) => entity.relatedEntities[name] ?? [])
    const entities =
      history.spellColumn === undefined ? found : await carryForward(sql, history, history.spellColumn, found)
    const counted = `${resource.name}/${name}`
    let waiting = 0
    let ended = 0
    if (history.spellColumn !== undefined && response.scope !== undefined) {
      const among = { counted, history, scope: response.scope }
      ended = await closePreviousSpells(sql, among, history.spellColumn, entities, at)
      written += ended
    }
    const lastSeen = response.last ? new Date(response.last.observedAt) : null
    const order = { at, lastSeen, responses: guards.absences }
    const loaded = await loadUnconfirmed(sql, { counted, history }, entities, order)
    written += loaded.inserted.length + loaded.changed.length + loaded.withdrawn.length
    for (const one of loaded.withdrawn) withdrawn.push(one)
    addTouched(touched, history, loaded)
    for (const one of olderActions(name, loaded, guards.absences)) guarded.push(one)
    if (history.absence === 'with-root') {
      const gone = goneRoots.map(({ key, at: firstMissedAt }) => ({ key, firstMissedAt, times: guards.absences }))
      if (gone.length > 0) written += (await closeAbsent(sql, history, gone, at)).length
      await takeBackOfGone(
        sql,
        { counted, history },
        gone.map(({ key }) => key),
      )
      continue
    }
    // What is in quarantine was there.
    const kept = preparation.quarantined.flatMap(({ key }) => key ?? [])
    const complete = kept.length === preparation.quarantined.length
    const seen = new Set([...entities.map((entity) => entity.key), ...kept])
    for (const root of preparation.entities) {
      if (root.incomplete?.includes(name)) continue
      const among = { counted, history, seen, scope: root.key }
      const rule = { complete, absences: guards.absences, apart, at, receivedAt }
      const reconciled = await reconcileMissingKeys(sql, among, rule)
      waiting += reconciled.waiting.length
      ended += reconciled.closed.length
      written += reconciled.closed.length
    }
    // Their keys are people: the ledger counts them and does not name them.
    lacking.push({ what: name, waiting, named: [], ended })
  }
  return { written, lacking, guarded, withdrawn }
}

function documentChanges(loaded: Loaded, at: Date): DocumentChange[] {
  const appeared = loaded.inserted.map((entity) => ({ entity, before: undefined }))
  return [...appeared, ...loaded.changed].map(({ entity, before }) => {
    return { key: entity.key, at, before, after: documentOf(entity) }
  })
}
