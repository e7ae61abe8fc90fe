import { instantText } from '../../db/bulk/values.ts'
import type { Sql } from '../../db/database.ts'
import { historyShape } from '../../db/history.ts'
import type { Answered, History, RelatedHistory, ResourceBase, Row } from '../declare/resource.ts'
import {
  corroborate,
  forgetClaims,
  forgetContradicted,
  mayClaim,
  type PendingClaim,
  pendingClaims,
  type Witness,
} from '../evidence/claims.ts'
import { isBurst, NEW_AT_ONCE, policiesOf, UNLISTED_AT_ONCE } from '../evidence/policies.ts'
import { appendQuarantine } from '../ledger/ledger.ts'
import type { Json } from '../normalize/hash.ts'
import { type Prepared, rootsOf } from '../normalize/prepare.ts'
import { type LoadedBefore, notLoadedBefore } from '../normalize/prepared-before.ts'
import type { Touched } from '../outbox/outbox.ts'
import { bulkTable } from '../sql/history-sql.ts'
import { carryForward, carryOdd, carryUnsent, withoutReturns } from './carry.ts'
import { corroborateValues, forgetValuesOf, rememberShown } from './corroborate-values.ts'
import { appendFieldChanges, documentChanges } from './field-changes.ts'
import {
  absenceActions,
  appearedActions,
  type GuardAction,
  type Lacking,
  olderActions,
  zeroActions,
} from './guard-actions.ts'
import type { Appeared, Loaded, NewKeys, Order, Withdrawn } from './load.ts'
import { type Absence, closeAbsent, closePreviousSpells, countCurrent, findMissingKeys } from './missing-keys.ts'
import { loadAndRemember, takeBackOfGone } from './pending-versions.ts'
import { loadSamples } from './samples.ts'
import { lostBy, recordDrift } from './shape-changes.ts'
import { judgeUnread } from './unread-keys.ts'
import type { IncomingResponse } from './validate-response.ts'

interface Among {
  /** The records of the response, or what hangs on its key. */
  readonly of: readonly Prepared[]
  /** The instant that the last accepted response speaks for. */
  readonly lastSeen: Date
  /** Key of a worklist that they all hang on. */
  readonly scope?: string | undefined
}

/** What is new in responses that are further apart did not come at once; ms. */
const longestMoment = 24 * 3_600_000

const firstPart = (key: string) => key.split('/', 1)[0]

/** What is before the last part of a key, such as the class and the kind of an ability. */
const parentOf = ({ key }: Prepared) => key.slice(0, Math.max(0, key.lastIndexOf('/')))

const countOf = (parents: readonly string[]) =>
  parents.reduce((counts, one) => counts.set(one, (counts.get(one) ?? 0) + 1), new Map<string, number>())

/**
 * Judges keys without a current version. Where a history asks for two responses (`corroboratesNew`), or no earlier response showed most keys,
 * or most of one class, one response alone shows none of them: it may be that of another resource or class, or spell keys otherwise.
 */
async function judgeNewKeys(
  sql: Sql,
  witness: Witness,
  { corroboratesNew = false }: History,
  appeared: readonly Appeared[],
  { of, lastSeen, scope }: Among,
): Promise<NewKeys> {
  const isAtOnce = witness.at.getTime() - lastSeen.getTime() <= longestMoment
  const entities = appeared.flatMap(({ entity, isBack }) => (corroboratesNew || !isBack ? [entity] : []))
  const isDoubted = corroboratesNew || (isAtOnce && isBurst(entities.length, of.length, NEW_AT_ONCE))
  const before = new Set((await pendingClaims(sql, witness, 'appeared', scope)).map(({ subject }) => subject))
  const [newOf, allOf] = [countOf(entities.map(parentOf)), countOf(of.map(parentOf))]
  const isBurstOf = ([parent, count]: [string, number]) => isBurst(count, allOf.get(parent) ?? count, NEW_AT_ONCE)
  const burstParts = isAtOnce ? [...newOf].filter(isBurstOf).map(([parent]) => firstPart(parent)) : []
  const doubted = entities.filter(({ key }) => isDoubted || before.has(key) || burstParts.includes(firstPart(key)))
  const claims = doubted.map(({ key }) => ({ subject: key }))
  const { confirmed } = await corroborate(sql, witness, 'appeared', claims)
  const since = new Map(confirmed.map(({ subject, firstAt }) => [subject, instantText(firstAt)]))
  return new Map(doubted.map((entity) => [entity, since.get(entity.key) ?? null]))
}

/** So long after a new key was shown a response without it contradicts it even where it may lack others; ms. */
const longestClaim = 3_600_000

interface Shown {
  /** All keys that the response has. */
  readonly seen: ReadonlySet<string>
  readonly isComplete: boolean
  /** Those that are still held back. */
  readonly held: readonly Prepared[]
  readonly scope?: string | undefined
}

/** Forgets what is claimed of keys and not pending any more. Returns those that the response before showed and this one lacks. */
async function forgetNewKeys(
  sql: Sql,
  witness: Witness,
  { seen, isComplete, held, scope }: Shown,
): Promise<readonly PendingClaim[]> {
  const isHeld = new Set(held.map(({ key }) => key))
  const over = (await pendingClaims(sql, witness, 'appeared', scope)).filter(
    ({ subject, firstAt }) =>
      !isHeld.has(subject) &&
      (isComplete || seen.has(subject) || witness.at.getTime() - firstAt.getTime() > longestClaim),
  )
  await forgetClaims(sql, witness.resource, 'appeared', over)
  return over.filter(({ subject }) => !seen.has(subject))
}

const nothingAbsent = { gone: [], closed: [], waiting: [], unknown: false }

/** Loads an accepted response: versions, tombstones, samples, changed fields, quarantine, drift, and the events that follow. */
export async function loadAccepted(sql: Sql, resource: ResourceBase, response: IncomingResponse, witness: Witness) {
  const { preparation, last, runId, guards } = response
  const { at } = witness
  const found = { resource: resource.name, at, runId }
  const { contradicted, ...loaded } = await loadRoots(sql, resource, response, witness)
  const there = withoutHeld(resource, response, loaded.held)
  const { gone, closed, waiting, unknown } =
    response.scope === undefined ? await tombstoneMissingRoots(sql, resource, response, witness, loaded) : nothingAbsent
  if (response.scope !== undefined && (last?.goneAt || mayClaim(witness, 'returned')))
    await countReturn(sql, witness, response.scope, last?.goneAt ?? null)
  await judgeUnread(sql, witness, resource.history, { came: rootsOf(preparation), isWhole: !unknown }, response)
  const touched: Touched = { keys: new Set(closed.map(({ key }) => key)), concerns: new Set() }
  addTouched(touched, resource.history, loaded)
  const related = await loadRelated(sql, resource, there, witness, { goneRoots: gone, isWhole: !unknown, touched })
  const { sampled, samples, content } = await loadSamples(sql, resource, withoutSamplesOf(there, related.held), witness)
  const named = waiting.toSorted().slice(0, 3)
  const missed = { what: 'records', waiting: waiting.length, named, ended: closed.length }
  const guarded = [
    ...related.guarded,
    ...absenceActions(
      [missed, ...related.lacking],
      policiesOf(witness.guards)[response.isShrunken ? 'missing from shrunken' : 'missing'],
    ),
    ...zeroActions(sampled, guards.zeroShare),
    ...appearedActions(loaded.held.length, rootsOf(preparation).length),
  ]
  // The first response is where history begins: nothing in it is known to have changed.
  if (resource.changeLog && (last || (await hasVersionsBefore(sql, resource, at))))
    await appendFieldChanges(sql, resource.name, [...documentChanges(loaded, at), ...closed])
  await appendQuarantine(sql, found, preparation.quarantined)
  const volatile = [...loaded.volatile.begun, ...related.volatile]
  const drift = await recordDrift(sql, resource, found, { response, loaded, volatile })
  const withdrawn = [...related.withdrawn, ...neverThere(contradicted)]
  const events = await deriveEvents(sql, resource, there, { witness, withdrawn })
  const versions = loaded.inserted.length + loaded.changed.length + closed.length
  return {
    inserted: loaded.inserted.length,
    changed: loaded.changed.length + content,
    closed: closed.length,
    unchanged: loaded.unchanged,
    awaitsAbsences: unknown || waiting.length > 0,
    awaitsKeys: there !== response,
    currentKeys: await currentKeysAfter(sql, resource, response, loaded.inserted.length - closed.length),
    // What the first response shows did not happen then.
    events: last ? related.written + events : 0,
    hasChanged: versions + related.written + related.corrected + samples + events > 0,
    drift,
    touched: last && !resource.personal ? touched : undefined,
    lost: response.scope === undefined ? [] : [...lostBy(loaded.changed).values()].flat(),
    guarded,
  }
}

/** Counts responses that show a key again which had a tombstone: what one alone shows is taken back where it is refused again. */
async function countReturn(sql: Sql, witness: Witness, key: string, goneAt: Date | null): Promise<void> {
  const claims = goneAt
    ? [{ subject: key, value: instantText(goneAt) }]
    : await pendingClaims(sql, witness, 'returned', key)
  await corroborate(sql, witness, 'returned', claims)
}

/**
 * A response without what belongs to keys that are not there yet. Worlds are counted all the same: what they had is forgotten where they
 * never were.
 */
function withoutHeld({ history }: ResourceBase, response: IncomingResponse, held: Loaded['held']): IncomingResponse {
  if (held.length === 0 || history.corroboratesNew) return response
  const keys = new Set(held.map(({ key }) => key))
  const entities = response.preparation.entities.filter(({ key }) => !keys.has(key))
  return { ...response, preparation: { ...response.preparation, entities } }
}

/** A response without the samples of what hangs on its key and is not there yet: those that have its values in all columns of its key. */
function withoutSamplesOf(response: IncomingResponse, held: readonly Row[]): IncomingResponse {
  if (held.length === 0) return response
  const isOfHeld = (row: Row) => held.some((key) => Object.entries(key).every(([name, value]) => row[name] === value))
  const withoutHeldIn = (samples: Prepared['samples']) =>
    Object.fromEntries(
      Object.entries(samples ?? {}).map(([name, rows]) => [name, rows.filter((row) => !isOfHeld(row))]),
    )
  const entities = response.preparation.entities.map((one) => {
    return { ...one, samples: withoutHeldIn(one.samples), lists: withoutHeldIn(one.lists) }
  })
  return { ...response, preparation: { ...response.preparation, entities } }
}

/** New keys that no response shows any more, as versions that are in their tables no longer. */
function neverThere(contradicted: readonly PendingClaim[]) {
  return contradicted.map(({ subject, firstAt }) => ({ key: subject, validFrom: instantText(firstAt) }))
}

/** Works out what follows from a response but is no version of a record. Returns how many events it wrote. */
async function deriveEvents(
  sql: Sql,
  resource: ResourceBase,
  { extraction, preparation, last, unsent }: IncomingResponse,
  { witness, withdrawn }: { readonly witness: Witness; readonly withdrawn: Answered['withdrawn'] },
): Promise<number> {
  if (!resource.derive) return 0
  return await resource.derive(sql, {
    at: witness.at,
    latestAt: new Date(witness.at.getTime() + aheadBy(extraction)),
    previousAt: last ? new Date(last.observedAt) : null,
    facts: extraction.facts ?? null,
    complete: extraction.complete,
    recordFacts: new Map(
      rootsOf(preparation).map((entity) => [entity.key, unsent?.dependents.hasFacts ? null : (entity.facts ?? null)]),
    ),
    corroborate: async (kind, subjects, scope, policy) => {
      const claims = subjects.map((subject) => ({ subject }))
      await forgetContradicted(sql, witness, kind, claims, scope)
      return (await corroborate(sql, witness, kind, claims, policy)).confirmed
    },
    isBurst: (count, of, what) => isBurst(count, of, what && UNLISTED_AT_ONCE[what]),
    pendingClaims: (kind) => pendingClaims(sql, witness, kind),
    withdrawn,
  })
}

/** How far the clock of the API is ahead of the one of this machine where a response is dated by the latter, ms. */
function aheadBy({ clockSkew, dating = [] }: IncomingResponse['extraction']): number {
  const isByMachine = dating.some(({ guard, action }) => guard === 'clock' && action === 'accepted')
  return isByMachine ? Math.max(0, clockSkew ?? 0) : 0
}

/** Counts the current keys where the last accepted response does not say how many it left. @param more those since then */
async function currentKeysAfter(sql: Sql, { history }: ResourceBase, { last, scope }: IncomingResponse, more: number) {
  const before = last?.currentKeys ?? (scope === undefined ? null : 0)
  return before === null ? await countCurrent(sql, history) : before + more
}

/** Loads the versions of the records. Those that the last accepted response had too are current: they are not compared again. */
async function loadRoots(
  sql: Sql,
  resource: ResourceBase,
  { preparation, last, scope, unsent, followsUnsent, extraction, guards: { accept = false } }: IncomingResponse,
  witness: Witness,
): Promise<Loaded & { readonly contradicted: readonly PendingClaim[] }> {
  const { history } = resource
  const lastSeen = last ? new Date(last.observedAt) : null
  const before = preparation.repetition?.before
  const came = rootsOf(preparation)
  const sent = accept ? came : await carryOdd(sql, witness, resource, preparation, came)
  const leftOut = unsent && { ...unsent.dependents.root, fields: unsent.fields }
  const carried = leftOut ? await carryUnsent(sql, history, leftOut, sent) : sent
  const roots = followsUnsent ? await withoutReturns(sql, history, carried) : carried
  const isAfterLast = last && !last.reload && before && Buffer.compare(before.contentHash, last.contentHash) === 0
  const others = isAfterLast && !history.compare ? await notAsBefore(sql, witness, history, { roots, before }) : roots
  const judgeNew = async (appeared: readonly Appeared[]) =>
    await judgeNewKeys(sql, witness, history, appeared, { of: roots, lastSeen: lastSeen ?? witness.at })
  // What the first response shows was there before, and what a person accepts is.
  const isJudged = lastSeen !== null && !accept && scope === undefined
  const order = { lastSeen, scope, judgeNew: isJudged ? judgeNew : undefined }
  const loaded = await loadAndRemember(sql, witness, history, others, order)
  const shown = { seen: preparation.seen, isComplete: extraction.complete, held: loaded.held }
  const contradicted = mayClaim(witness, 'appeared') ? await forgetNewKeys(sql, witness, shown) : []
  return { ...loaded, contradicted, unchanged: loaded.unchanged + roots.length - others.length }
}

/** Records that the response before did not have like this. What one response showed, or showed again, counts for this one, too. */
async function notAsBefore(
  sql: Sql,
  witness: Witness,
  { reopens = false }: History,
  { roots, before }: { readonly roots: readonly Prepared[]; readonly before: LoadedBefore },
): Promise<readonly Prepared[]> {
  const kinds = ['appeared', ...(reopens ? (['shown', 'returned'] as const) : [])] as const
  const pending = new Set<string>()
  for (const kind of kinds) for (const { subject } of await pendingClaims(sql, witness, kind)) pending.add(subject)
  const found = notLoadedBefore(roots, before)
  const fresh = new Set(found)
  return pending.size === 0 ? found : roots.filter((entity) => pending.has(entity.key) || fresh.has(entity))
}

/** Tombstones the records that enough responses have lacked. `unknown`: what the response lacks is unknown. */
async function tombstoneMissingRoots(
  sql: Sql,
  { history }: ResourceBase,
  { extraction, preparation, last, isShrunken }: IncomingResponse,
  witness: Witness,
  { inserted, held }: Loaded,
) {
  const { quarantined, seen } = preparation
  const unreadable = quarantined.some(({ key }) => key === undefined)
  const isComplete = extraction.complete && !unreadable && last !== undefined
  // When all current keys are there, none is missing, and a search would only read the table; where one was missed before, that may be over.
  const isFull =
    !mayClaim(witness, 'missing') &&
    quarantined.length === 0 &&
    rootsOf(preparation).length - held.length - inserted.length === last?.currentKeys
  const among = { history, seen, covers: extraction.covers, isComplete: isComplete && !isFull, isShrunken }
  const { gone, waiting } = await findMissingKeys(sql, witness, among)
  const closed = await closeAbsent(sql, history, gone, witness.at)
  await takeBackOfGone(sql, witness, history, gone)
  return { gone, closed, waiting, unknown: !isComplete }
}

/** Loads the related histories and tombstones what is absent from them; counts versions that began or ended. */
async function loadRelated(
  sql: Sql,
  resource: ResourceBase,
  response: IncomingResponse,
  ofRoot: Witness,
  { goneRoots, isWhole, touched }: { goneRoots: readonly Absence[]; isWhole: boolean; touched: Touched },
): Promise<{
  written: number
  corrected: number
  lacking: Lacking[]
  guarded: GuardAction[]
  withdrawn: Withdrawn[]
  volatile: readonly string[]
  held: readonly Row[]
}> {
  const { preparation, guards, scope, unsent } = response
  const withdrawn: Withdrawn[] = []
  const held: Row[] = []
  const volatile: string[] = []
  let written = 0
  let corrected = 0
  const guarded: GuardAction[] = []
  const lacking: Lacking[] = []
  for (const [name, history] of Object.entries(resource.relatedHistories ?? {})) {
    const came = preparation.entities.flatMap((entity) => entity.relatedEntities[name] ?? [])
    // Of a field that all records lack, sync.unsent says what cannot be read.
    const leftOut = unsent?.dependents.related.get(name)
    const carried = leftOut ? await carryUnsent(sql, history, leftOut, came) : came
    const found = response.followsUnsent ? await withoutReturns(sql, history, carried) : carried
    const witness = { ...ofRoot, resource: `${resource.name}/${name}` }
    const believed = await believedOf(sql, witness, history, found, response)
    const { entities } = believed
    corrected += believed.withdrawn
    for (const one of believed.guarded) guarded.push(one)
    let waiting = 0
    let ended = 0
    if (history.spellColumn !== undefined && scope !== undefined) {
      ended = await closePreviousSpells(sql, witness, { history, scope }, history.spellColumn, entities)
      written += ended
    }
    const lastSeen = response.last ? new Date(response.last.observedAt) : null
    const judgeNew = relatedJudge(sql, witness, history, entities, response)
    const loaded = await loadAndRemember(sql, witness, history, entities, { lastSeen, scope, judgeNew })
    for (const { root } of loaded.held) held.push(keyIn(history, root))
    for (const one of appearedActions(loaded.held.length, entities.length)) guarded.push(one)
    await rememberShown(sql, witness, believed.shown)
    written += loaded.inserted.length + loaded.changed.length + loaded.withdrawn.length
    for (const one of loaded.withdrawn) withdrawn.push(one)
    for (const path of loaded.volatile.begun) volatile.push(`/${name}/*${path}`)
    addTouched(touched, history, loaded)
    for (const one of olderActions(name, loaded, guards.absences)) guarded.push(one)
    if (history.absence === 'with-root') {
      if (goneRoots.length > 0) written += (await closeAbsent(sql, history, goneRoots, witness.at)).length
      for (const one of await takeBackOfGone(sql, witness, history, goneRoots)) withdrawn.push(one)
      if (!leftOut) await judgeUnread(sql, witness, history, { came, isWhole, name }, response)
      continue
    }
    // What is in quarantine was there.
    const kept = preparation.quarantined.flatMap(({ key }) => key ?? [])
    const isComplete = kept.length === preparation.quarantined.length
    const seen = new Set([...came.map((entity) => entity.key), ...kept])
    if (scope !== undefined && mayClaim(witness, 'appeared'))
      await forgetNewKeys(sql, witness, { seen, isComplete, held: loaded.held, scope })
    for (const root of preparation.entities) {
      if (root.incomplete?.includes(name)) continue
      const missing = await findMissingKeys(sql, witness, { history, seen, scope: root.key, isComplete })
      const closed = await closeAbsent(sql, history, missing.gone, witness.at)
      const endedKeys = closed.map(({ key }) => key)
      await forgetValuesOf(sql, witness, history, endedKeys)
      waiting += missing.waiting.length
      ended += closed.length
      written += closed.length
    }
    if (!leftOut) await judgeUnread(sql, witness, history, { came, isWhole, name }, response)
    // Their keys are people: the ledger counts them and does not name them.
    lacking.push({ what: name, waiting, named: [], ended })
  }
  return { written, corrected, lacking, guarded, withdrawn, volatile, held }
}

/** Judges new keys that hang on a key of a worklist. What the first response about it shows was there before, and what a person accepts is. */
function relatedJudge(
  sql: Sql,
  witness: Witness,
  history: RelatedHistory,
  of: readonly Prepared[],
  { last, scope, guards: { accept = false } }: IncomingResponse,
): Order['judgeNew'] {
  if (history.absence !== 'own' || !last || scope === undefined || accept) return undefined
  const among = { of, lastSeen: new Date(last.observedAt), scope }
  return async (appeared) => await judgeNewKeys(sql, witness, history, appeared, among)
}

/** The values of an entity in the key of its history. */
const keyIn = ({ root }: RelatedHistory, values: Row): Row =>
  Object.fromEntries(root[historyShape].key.map((name) => [name, values[name]]))

/** What of the entities of a related history is believed from this response. */
async function believedOf(
  sql: Sql,
  witness: Witness,
  history: RelatedHistory,
  found: readonly Prepared[],
  { scope, last, preparation, guards: { accept = false } }: IncomingResponse,
): ReturnType<typeof corroborateValues> {
  const { spellColumn, corroborated } = history
  const entities = spellColumn === undefined ? found : await carryForward(sql, history, spellColumn, found)
  // The first response is where history begins.
  if (!corroborated || !last || scope === undefined) return { entities, guarded: [], withdrawn: 0, shown: [] }
  const lastSeen = new Date(last.observedAt)
  const samples = preparation.entities[0]?.samples
  return await corroborateValues(sql, witness, { history, entities, samples, scope, lastSeen, accept })
}

/** An import brings versions before its ledger, so that the first response that is known may not be where history begins. */
async function hasVersionsBefore(sql: Sql, { history }: ResourceBase, at: Date): Promise<boolean> {
  const earlier = `select from ${bulkTable(history.root).name} where valid_from < $1 limit 1`
  return (await sql.query(earlier, [at])).length > 0
}

function addTouched(touched: Touched, history: History | RelatedHistory, loaded: Loaded): void {
  const concerns = 'concerns' in history ? history.concerns : undefined
  const add = (key: string, documents: readonly (Json | undefined)[]) => {
    touched.keys.add(key)
    for (const document of concerns ? documents : [])
      if (document !== undefined) for (const one of concerns?.(document) ?? []) touched.concerns.add(one)
  }
  const appeared = loaded.inserted.map((entity) => ({ entity, before: undefined }))
  for (const { entity, before } of [...appeared, ...loaded.changed])
    add(entity.key, [before, JSON.parse(entity.documentText) as Json])
  for (const { key, document, before } of loaded.withdrawn) add(key, [document, before])
}
