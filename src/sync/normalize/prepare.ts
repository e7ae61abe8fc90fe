import { storable } from '../../api/schemas/form/limits.ts'
import type { CountedRecords, SentFields } from '../../api/schemas/form/presence.ts'
import { type Misfit, misfitOf } from '../../api/schemas/form/record.ts'
import { isRedacted } from '../../api/schemas/people/redacted.ts'
import { RecordError } from '../../base/errors.ts'
import type { IgnoredInstant, ResponseContext } from '../declare/ignored.ts'
import type { Extraction, QuarantinedPart, ResourceBase } from '../declare/resource.ts'
import { base64, canonicalJson, hashOfLines, type Json, sha256 } from './hash.ts'
import { deepJson, tooDeep } from './nesting.ts'
import { type Prepared, preparerOf } from './prepare-entity.ts'
import { type Known, type Lines, type PreparedBefore, placesOfOthers, type Repetition } from './prepared-before.ts'

export type { Prepared } from './prepare-entity.ts'

/** A record that could not be understood, as it goes to quarantine. */
export interface Quarantined {
  /** Its natural key, where it has one that can be read. */
  readonly key: string | undefined
  readonly rawText: string
  readonly hash: Buffer
  /** JSON pointer to what is wrong. */
  readonly path: string
  readonly reason: string
  readonly misfit: Misfit | undefined
}

/** How many of the records that may have a field had it. */
export interface FieldCount {
  /** JSON pointer with `*` for every element and every key of a map. */
  readonly field: string
  readonly had: number
  readonly of: number
}

export interface Preparation {
  /** Records that came, twins included. */
  readonly came: number
  /** Also those of which only the related entities and samples load, see `rootsOf`. */
  readonly entities: readonly Prepared[]
  readonly quarantined: readonly Quarantined[]
  /** Keys that the response holds, also those whose record is in quarantine: none of them is absent. */
  readonly seen: ReadonlySet<string>
  /** Instants that were left out of records that are otherwise good. */
  readonly ignored: readonly IgnoredInstant[]
  /** How many records have each field that the resource watches. */
  readonly presence?: readonly FieldCount[]
  /** Some of the records, as they came. */
  readonly examples?: readonly unknown[]
  /** Where what was made of the response before is remembered. */
  readonly repetition?: Repetition | undefined
}

const roots = new WeakMap<readonly Prepared[], readonly Prepared[]>()
const odd = new WeakMap<readonly Prepared[], readonly Prepared[]>()

/** The entities whose root loads: those of the others are in quarantine. */
export function rootsOf({ entities }: Pick<Preparation, 'entities'>): readonly Prepared[] {
  const known = roots.get(entities)
  if (known) return known
  const found = entities.some(({ withoutRoot }) => withoutRoot) ? entities.filter((one) => !one.withoutRoot) : entities
  roots.set(entities, found)
  return found
}

/** The entities with values that could not be read. */
export function oddOf(entities: readonly Prepared[]): readonly Prepared[] {
  const known = odd.get(entities)
  if (known) return known
  const found = entities.filter((entity) => entity.odd.length > 0)
  odd.set(entities, found)
  return found
}

/** What is prepared, and what is known of earlier responses. */
interface Work {
  readonly resource: ResourceBase
  readonly records: readonly unknown[]
  readonly context: ResponseContext | undefined
  readonly known: ReturnType<PreparedBefore['begin']>
}

type Gathered = Pick<Preparation, 'entities' | 'seen' | 'ignored'> & { readonly quarantined: Quarantined[] }

/**
 * Normalizes, checks and fingerprints every record of a response. A bad record goes to quarantine; it never stops the others.
 * @param before has what was made of the records of earlier responses
 */
export function prepare(
  resource: ResourceBase,
  records: readonly unknown[],
  context?: ResponseContext,
  before?: PreparedBefore,
): Preparation {
  const known = before?.begin(resource)
  const work = { resource, records, context, known }
  const repeated = repeatedOf(work)
  const { entities, quarantined, seen, ignored } = repeated ?? gatheredOf(work)
  const unique = withoutTwins(resource, entities, quarantined)
  const watched = resource.sent
    ? {
        presence: countFields(resource.sent, resource.bodyOf, records, {
          entities,
          quarantined,
          isRepeated: !!repeated,
          counted: known?.counted,
        }),
        // What nests too deep is no example.
        examples: spread(records).filter((record) => tooDeep(record) === undefined),
      }
    : {}
  return {
    came: records.length,
    entities: unique,
    quarantined,
    seen,
    ignored,
    ...watched,
    repetition: known?.repetition,
  }
}

/**
 * A response whose records are nearly all those of the one before, each in its place: only the others are looked at. Undefined for any
 * other response, and for one of which not all can be stored.
 */
function repeatedOf({ resource, records, context, known }: Work): Gathered | undefined {
  if (!known) return undefined
  const quarantined: Quarantined[] = []
  const ignored: IgnoredInstant[] = []
  let isOdd = false
  const quarantine = () => {
    isOdd = true
  }
  const prepareNew = preparerOf(resource, { quarantine, ignored, context })
  const found = known.repeated(records, (key, record) => {
    try {
      const prepared = prepareNew(record)
      return isOdd || ignored.length > 0 ? undefined : { key, record, prepared }
    } catch (error) {
      if (error instanceof RecordError) return undefined
      throw error
    }
  })
  if (!found) return undefined
  const { entities, seen } = found.whole
  roots.set(entities, entities)
  const isEven =
    oddOf(found.entitiesBefore).length === 0 && found.changed.every(({ prepared }) => prepared.odd.length === 0)
  if (isEven) odd.set(entities, [])
  return { entities, seen, quarantined, ignored }
}

/** What is made of each record of a response. */
function gatheredOf({ resource, records, context, known }: Work): Gathered {
  const quarantined: Quarantined[] = []
  /** Keys that are seen, perhaps of no entity. */
  const others: string[] = []
  const ignored: IgnoredInstant[] = []
  const quarantine = (bad: QuarantinedPart) => quarantined.push(toQuarantine(bad))
  const prepareNew = preparerOf(resource, { quarantine, ignored, context })
  const prepareOne = (record: unknown, key: string | undefined) => {
    if (known === undefined || key === undefined) return { record, prepared: prepareNew(record) }
    const same = known.find(key, record)
    if (same) return same
    const findings = quarantined.length + ignored.length
    const prepared = prepareNew(record)
    return quarantined.length + ignored.length === findings
      ? known.add({ key, record, prepared })
      : { record, prepared }
  }
  const { seen, enter, clear } = gathered(quarantined)
  for (const record of records) {
    const again = known?.again(record)
    if (again) {
      if (again.key !== again.prepared.key) others.push(again.key)
      enter(again)
      continue
    }
    const key = resource.keyOf(record)
    if (key !== undefined) others.push(storable(key))
    try {
      if (key !== undefined && storable(key) !== key)
        throw new RecordError('a key with a character that cannot be stored')
      const entity = prepareOne(record, key)
      if (key === undefined) throw new RecordError('the record has no key')
      enter(entity)
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      const path = String(error.context.path ?? '')
      quarantined.push(toQuarantine({ key, raw: record, path, reason: error.message, misfit: misfitOf(error) }))
    }
  }
  for (const key of others) seen.add(key)
  const entities = clear()
  const isWhole = quarantined.length + ignored.length === 0 && !records.some(isRedacted)
  if (isWhole && entities.length === records.length && seen.size === entities.length)
    known?.keepWhole({ records, entities, seen })
  return { entities, quarantined, seen, ignored }
}

/** Gathers entities, one of each key. What contradicts another one is quarantined. */
function gathered(quarantined: Quarantined[]) {
  type Entered = Pick<Known, 'prepared' | 'record'>
  const seen = new Set<string>()
  const entities: Entered[] = []
  let byKey: Map<string, Entered> | undefined
  const conflicting = new Set<string>()
  return {
    /** Their keys. */
    seen,
    enter(one: Entered): void {
      const { key, fingerprint } = one.prepared
      const count = seen.size
      // Of thousands hardly one has a twin: they are not looked up.
      if (seen.add(key).size > count) {
        entities.push(one)
        byKey?.set(key, one)
        return
      }
      byKey ??= new Map(entities.map((entity) => [entity.prepared.key, entity]))
      if (byKey.get(key)?.prepared.fingerprint.equals(fingerprint)) return
      conflicting.add(key)
      quarantined.push(contradiction(key, one.record))
    },
    /** Which of two contradicting records is right is unknown: neither is loaded, and the last version stays. */
    clear(): Prepared[] {
      for (const key of conflicting) quarantined.push(contradiction(key, byKey?.get(key)?.record))
      return entities.map(({ prepared }) => prepared).filter(({ key }) => !conflicting.has(key))
    },
  }
}

/**
 * How many records have each field. A value of another type is not the field.
 * @param found.isRepeated nothing was removed from any of the records
 */
function countFields(
  sent: SentFields,
  bodyOf: ResourceBase['bodyOf'],
  records: readonly unknown[],
  found: Pick<Preparation, 'entities' | 'quarantined'> & {
    readonly isRepeated: boolean
    readonly counted: CountedRecords | undefined
  },
): FieldCount[] {
  const sentBodies = bodyOf ? records.map((record) => bodyOf(record)) : records
  // What was removed from an archived body, the API did send.
  const bodies = found.isRepeated && !bodyOf ? records : sentBodies.filter((body) => !isRedacted(body))
  const counts = sent.count(bodies, found.counted)
  const misfits = new Map<string, number>()
  const add = ({ anywhere, type }: Misfit) =>
    type !== 'undefined' && misfits.set(anywhere, (misfits.get(anywhere) ?? 0) + 1)
  for (const entity of oddOf(found.entities)) entity.odd.forEach(add)
  for (const { misfit } of found.quarantined) if (misfit) add(misfit)
  return [...counts].map(([field, { had, of }]) => ({ field, of, had: Math.max(0, had - (misfits.get(field) ?? 0)) }))
}

/** So many records show what follows from a field. */
const EXAMPLE_RECORDS = 16

function spread(records: readonly unknown[]): readonly unknown[] {
  const step = Math.max(1, Math.floor(records.length / EXAMPLE_RECORDS))
  return Array.from({ length: Math.min(EXAMPLE_RECORDS, records.length) }, (_, nth) => records[nth * step])
}

/**
 * Of the related entities with one key: one where they are the same, none where they contradict each other. Such as a uuid
 * that stands there in capitals too.
 */
function withoutTwins(
  resource: ResourceBase,
  entities: readonly Prepared[],
  quarantined: Quarantined[],
): readonly Prepared[] {
  let cleaned = entities
  for (const name of Object.keys(resource.relatedHistories ?? {})) {
    const first = new Map<string, Prepared>()
    const twins = new Set<Prepared>()
    const wrong = new Set<string>()
    for (const related of cleaned.flatMap(({ relatedEntities }) => relatedEntities[name] ?? [])) {
      const twin = first.get(related.key)
      if (twin) twins.add(related)
      else first.set(related.key, related)
      if (twin && !twin.hash.equals(related.hash)) wrong.add(related.key)
    }
    if (twins.size === 0) continue
    for (const { key, documentText } of [...first.values(), ...twins])
      if (wrong.has(key)) quarantined.push(contradiction(key, JSON.parse(documentText)))
    const isGood = (related: Prepared) => !twins.has(related) && !wrong.has(related.key)
    cleaned = cleaned.map((entity) => {
      const { relatedEntities } = entity
      return {
        ...entity,
        relatedEntities: { ...relatedEntities, [name]: (relatedEntities[name] ?? []).filter(isGood) },
      }
    })
  }
  return cleaned
}

function contradiction(key: string, raw: unknown): Quarantined {
  return toQuarantine({
    key,
    raw,
    path: '',
    reason: `another record of this response has the key ${key} and other content`,
  })
}

/** A piece of a record as it is stored: also a broken one is. */
function toQuarantine({ key, raw, path, reason, misfit, keptAs }: QuarantinedPart): Quarantined {
  // No JSON column takes what nests too deep: it is kept as a text.
  const rawText = tooDeep(raw) === undefined ? canonicalJson((raw ?? null) as Json) : JSON.stringify(deepJson(raw))
  const texts = { key: key === undefined ? undefined : storable(key), path: storable(path), reason: storable(reason) }
  return { ...texts, rawText, hash: sha256(keptAs ?? rawText), misfit }
}

/** With its key: the same document under another key is another response. An entity may be in many responses. */
const lines = new WeakMap<Prepared, string>()

function lineOf(entity: Prepared): string {
  const { fingerprint, key } = entity
  const line = lines.get(entity) ?? base64(Buffer.concat([fingerprint, Buffer.from(key)]))
  lines.set(entity, line)
  return line
}

/** The content hash of a response. Its first four bytes say which samples its records list, where they list any. */
export function fingerprintOf(extraction: Extraction, { entities, quarantined, repetition }: Preparation): Buffer {
  const others = quarantined.map(({ hash }) => base64(hash))
  // Completeness is part of it: only a complete response shows what is missing.
  if (!extraction.complete) others.push(base64(Buffer.from('incomplete')))
  // Their values may move with each response.
  const around = new Set(extraction.around?.map(({ path }) => path))
  if (around.size > 0) others.push(base64(sha256([...around].sort().join('\n'))))
  if (extraction.facts !== undefined) others.push(base64(sha256(JSON.stringify(extraction.facts))))
  const lines = linesOf(entities, others, repetition?.linesBefore)
  repetition?.remember({ lines })
  const hash = hashOfLines(lines.sorted)
  let listed = 0
  for (const entity of entities) listed = (listed + entity.listed) | 0
  if (listed !== 0) hash.writeInt32BE(listed)
  return hash
}

/** So many lines are put into their places one by one: more take as long as sorting all. */
const PLACED_LINES = 100

/** The lines of entities, and others. @param before those of the response before, of which most are the same */
function linesOf(entities: readonly Prepared[], others: readonly string[], before: Lines | undefined): Lines {
  if (before?.entities.length !== entities.length || before.lines.length !== entities.length + others.length) {
    const all = [...entities.map(lineOf), ...others]
    return { entities, lines: all, sorted: sortedAs(before?.sorted ?? [], all) }
  }
  const all = [...before.lines]
  for (const nth of placesOfOthers(entities, before.entities)) {
    const entity = entities[nth]
    if (entity) all[nth] = lineOf(entity)
  }
  for (const [nth, line] of others.entries()) all[entities.length + nth] = line
  const places = placesOfOthers(all, before.lines)
  if (places.length > PLACED_LINES) return { entities, lines: all, sorted: sortedAs(before.sorted, all) }
  const sorted = [...before.sorted]
  for (const nth of places) sorted.splice(placeOf(sorted, before.lines[nth] ?? ''), 1)
  for (const nth of places) sorted.splice(placeOf(sorted, all[nth] ?? ''), 0, all[nth] ?? '')
  return { entities, lines: all, sorted }
}

/** Where a line stands in sorted ones, or belongs. */
function placeOf(sorted: readonly string[], line: string): number {
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >> 1
    if ((sorted[middle] ?? '') < line) from = middle + 1
    else to = middle
  }
  return from
}

/** Lines sorted: those that were there before come in their order, and so few others are sorted quickly. */
function sortedAs(before: readonly string[], unsorted: readonly string[]): string[] {
  const left = new Set(unsorted)
  // Two lines may be the same.
  if (left.size < unsorted.length) return unsorted.toSorted()
  const sorted = before.filter((line) => left.delete(line))
  for (const line of left) sorted.push(line)
  return sorted.sort()
}
