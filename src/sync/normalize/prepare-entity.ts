import { deepestNesting, isStorable } from '../../api/schemas/form/limits.ts'
import { type Misfit, readLeniently } from '../../api/schemas/form/record.ts'
import { isFields, type UnknownField } from '../../api/schemas/form/unknown.ts'
import { FatalError, RecordError } from '../../base/errors.ts'
import { historyShape } from '../../db/history.ts'
import type { IgnoredInstant, ResponseContext } from '../declare/ignored.ts'
import type { Entity, QuarantinedPart, ResourceBase, Row } from '../declare/resource.ts'
import { pointerStep } from './changed-fields.ts'
import { extraOf } from './drift.ts'
import { canonicalJson, type Json, sha256 } from './hash.ts'
import { hasInexact, tooDeep } from './nesting.ts'
import { checksOf, inexactReason, isKeepable, placeOf, rowCheck, storableTexts } from './storable.ts'
import { canonicalValues } from './values.ts'

/** An entity ready to load: fingerprinted, its document as JSON text. */
export interface Prepared extends Pick<Entity, 'key' | 'root' | 'parts'> {
  readonly since: Entity['since']
  readonly incomplete: Entity['incomplete']
  readonly samples: Entity['samples']
  readonly lists: Entity['lists']
  /** Which of the samples that are listed it has, as an integer of 32 bits; 0: none. */
  readonly listed: number
  readonly facts: Entity['facts']
  /** Content hash of the document: another one means another version. */
  readonly hash: Buffer
  /** The hash with instants as they were sent, or of `formerly`, where that is another one: versions of earlier programs have it. */
  readonly hashAsSent: Buffer | undefined
  readonly documentText: string
  /** Content hash of the whole record, with what hangs on it: the same of all records means the same response. */
  readonly fingerprint: Buffer
  readonly relatedEntities: Readonly<Record<string, readonly Prepared[]>>
  /** The record itself is in quarantine: only its related entities and samples load. */
  readonly withoutRoot: boolean
  /** Where values stand that could not be read, those of its related entities too. */
  readonly odd: readonly Misfit[]
  /** What of its document is in its `extra` column. */
  readonly extra: readonly UnknownField[]
}

/** Where findings beside the entities go, and the response. */
interface Findings {
  /** Gets the pieces of a record that cannot be stored while the rest of it can. */
  readonly quarantine: (bad: QuarantinedPart) => void
  readonly ignored: IgnoredInstant[]
  readonly context: ResponseContext | undefined
}

/** The function that makes one record ready. Its checks are compiled once for all records. */
export function preparerOf(resource: ResourceBase, findings: Findings): (record: unknown) => Prepared {
  const { quarantine, ignored } = findings
  const readOf = rootReader(resource, findings)
  const relatedOf = relatedPreparer(resource, quarantine)
  const samplesOf = sampleChecker(resource, quarantine)
  return (record) => {
    const sent = resource.bodyOf ? resource.bodyOf(record) : record
    const deep = tooDeep(sent)
    if (deep !== undefined)
      throw new RecordError(`nested deeper than ${deepestNesting} levels`, { context: { path: deep } })
    const respelled = new Map<string, string>()
    const body = canonicalValues(sent, respelled)
    const { entity, texts, error } = readOf(withBody(record, sent, body), body)
    if (error) {
      const path = String(error.context.path ?? '')
      quarantine({ key: texts.key, raw: record, path, reason: error.message })
    }
    const related = relatedOf(entity.relatedEntities, body, respelled)
    const { samples, listed } = samplesOf(texts.key, entity.samples, body, respelled)
    for (const bad of entity.quarantined ?? []) quarantine(bad)
    for (const instant of entity.ignored ?? []) ignored.push(instant)
    const prepared = fingerprinted(entity, texts, { samples, listed, related, odd: oddOf(entity), respelled })
    // Nothing of a document that cannot be stored is read again.
    return error ? { ...prepared, documentText: '{}', withoutRoot: true } : prepared
  }
}

/** Where the values stand that were left out of an entity, and of those that hang on it. */
function oddOf({ odd = [], relatedEntities = {} }: Entity): readonly Misfit[] {
  const related = Object.values(relatedEntities).flatMap((entities) => entities.flatMap((one) => one.odd ?? []))
  return [...odd, ...related]
}

type Texts = ReturnType<typeof storableTexts>

/** What becomes of a record: its entity, or only the key of it and why the rest cannot be stored. */
interface Read {
  readonly entity: WithExtra
  readonly texts: Texts
  readonly error?: RecordError
}

/**
 * Reads the root of a record. A value that cannot be read or stored is left out, and is in `extra`. Where what is left cannot
 * be stored, no piece of the record is, unless the resource has entities that are records of their own and the key that they
 * hang on is good: then the error is returned.
 */
function rootReader(resource: ResourceBase, { quarantine, context }: Findings) {
  const { root } = resource.history
  const checks = checksOf(resource.history)
  const hasOwn = Object.values(resource.relatedHistories ?? {}).some(({ absence }) => absence === 'own')
  const isKeyed = (entity: Entity) => {
    const keys = root[historyShape].key.map((name) => [name, entity.root[name]] as const)
    return checks.root(Object.fromEntries(keys)) === undefined
  }
  const entityOf = (record: unknown) => resource.normalize(record, context)
  return (record: unknown, body: unknown): Read => {
    const read = (part: unknown) => {
      const refused: QuarantinedPart[] = []
      const entity = entityOf(withBody(record, body, part))
      const whole = withExtra(entity, resource, (bad) => refused.push(bad))
      return { entity, whole, refused, texts: storableTexts(whole, checks, part) }
    }
    try {
      const { value, odd } = readLeniently(body, read, resource.required)
      const { entity, whole, refused, texts } = value
      if (odd.length === 0) {
        for (const bad of refused) quarantine(bad)
        return { entity: whole, texts }
      }
      const complete = withExtra({ ...entity, odd: [...(entity.odd ?? []), ...odd] }, resource, quarantine)
      return { entity: complete, texts: storableTexts(complete, checks, body) }
    } catch (error) {
      if (!(error instanceof RecordError) || !hasOwn) throw error
      const entity = entityOf(record)
      if (!isKeyed(entity)) throw error
      return { entity, texts: { key: checks.keyOf(entity.root), documentText: canonicalJson(entity.document) }, error }
    }
  }
}

/** A record with another body: where it stands is the resource's own. */
export function withBody(record: unknown, body: unknown, part: unknown): unknown {
  if (part === body) return record
  if (record === body) return part
  return Object.fromEntries(
    Object.entries(Object(record)).map(([name, value]) => [name, value === body ? part : value]),
  )
}

/** Makes the related entities of a record ready. One that cannot be stored goes to quarantine alone. */
function relatedPreparer(resource: ResourceBase, quarantine: (bad: QuarantinedPart) => void) {
  const histories = new Map(
    Object.entries(resource.relatedHistories ?? {}).map(([name, other]) => [name, { other, checks: checksOf(other) }]),
  )
  return (entities: Entity['relatedEntities'], body: unknown, respelled: Respelled): Prepared['relatedEntities'] => {
    if (!entities) return noRelated
    const related: Record<string, Prepared[]> = {}
    for (const [name, found] of Object.entries(entities)) {
      const history = histories.get(name)
      if (!history) throw new FatalError(`${resource.name} has no history called ${name}`)
      related[name] = found.flatMap((entity) => {
        try {
          const whole = withExtra(entity, history.other, quarantine)
          const { samples } = whole
          return [fingerprinted(whole, storableTexts(whole, history.checks, body), { samples, respelled })]
        } catch (error) {
          if (!(error instanceof RecordError)) throw error
          const path = String(error.context.path ?? '')
          quarantine({ key: entity.key, raw: entity.document, path, reason: error.message })
          return []
        }
      })
    }
    return related
  }
}

/** The samples of an entity without those that Postgres would refuse: each is a measurement of its own. And which are listed, by number. */
function sampleChecker(resource: ResourceBase, quarantine: (bad: QuarantinedPart) => void) {
  const checks = new Map(
    Object.entries(resource.samples ?? {}).map(([name, { table, ...how }]) => [
      name,
      { check: rowCheck(table), ...how },
    ]),
  )
  const hashes = new Map<string, number>()
  return (key: string, samples: Entity['samples'], body: unknown, respelled: Respelled) => {
    if (!samples) return { samples, listed: 0 }
    let listed = 0
    const good: Record<string, readonly Row[]> = {}
    for (const [name, rows] of Object.entries(samples)) {
      const found = checks.get(name)
      if (!found) throw new FatalError(`${resource.name} has no sample table called ${name}`)
      const isGood = (row: Row) => {
        const bad = found.check(row) ?? unstorableKey(row, found.key, respelled)
        if (bad) quarantine({ key, raw: row, path: placeOf(body, bad.value, bad.property), reason: bad.reason })
        return !bad
      }
      const kept = rows.filter(isGood)
      good[name] = kept
      if (found.listedBy === undefined) continue
      for (const row of kept) {
        // FNV-1a of each text, which stands in thousands of rows; the sum is the same in any order.
        let hash = 0
        for (const property of found.key) {
          const text = String(row[property])
          let own = hashes.get(text)
          if (own === undefined) {
            own = 0x811c9dc5
            for (let nth = 0; nth < text.length; nth++) own = Math.imul(own ^ text.charCodeAt(nth), 0x01000193)
            hashes.set(text, own)
          }
          hash = Math.imul(hash ^ own, 0x01000193)
        }
        listed = (listed + hash) | 0
      }
    }
    return { samples: good, listed }
  }
}

/** What is measured has another name with a character replaced: as a series of its own, it would never be measured again. */
function unstorableKey(row: Row, key: readonly string[], respelled: Respelled) {
  if (respelled.size === 0) return undefined
  const property = key.find((one) => !isStorable(respelled.get(String(row[one])) ?? ''))
  if (property === undefined) return undefined
  return { reason: 'a name with a character that cannot be stored', property, value: row[property] }
}

/** An entity with what of its document is in its `extra` column. */
type WithExtra = Entity & { readonly extra?: readonly UnknownField[] }

/**
 * Puts the fields of an entity that no column knows, and the values that could not be read, into its `extra` column. What
 * cannot be stored even there goes to quarantine alone. Where nothing of the record is counted, the values also stand in the
 * document, so that another one is another version.
 */
function withExtra(
  entity: Entity,
  { unknownFields, changeLog }: { unknownFields?: ResourceBase['unknownFields']; changeLog?: boolean },
  quarantine: Findings['quarantine'],
): WithExtra {
  const { odd = [], key } = entity
  const found = unknownFields?.(entity.document) ?? []
  if (odd.length === 0 && found.length === 0) return entity
  const refuse = ({ place, value }: Pick<UnknownField, 'place' | 'value'>, reason: string, keptAs?: string) => {
    const path = place.map((step) => pointerStep(String(step))).join('')
    quarantine({ key, raw: value, path, reason, ...(keptAs === undefined ? {} : { keptAs }) })
  }
  const unknown = found.filter(({ value }) => !hasInexact(value))
  const inexact = found.filter((field) => !unknown.includes(field))
  for (const field of inexact) refuse(field, inexactReason, `${field.path}: ${inexactReason}`)
  const document = inexact.length > 0 ? withoutFields(entity.document, inexact) : entity.document
  const kept: UnknownField[] = []
  for (const { anywhere: path, place, value, reason } of odd) {
    if (isKeepable(place, value)) kept.push({ path, place, value })
    else refuse({ place, value }, reason)
  }
  const fields = [...unknown, ...kept]
  const extra = extraOf(fields)
  const whole = changeLog && kept.length > 0 ? withFields(document, kept) : document
  return {
    ...entity,
    document: whole,
    root: extra === null ? entity.root : { ...entity.root, extra },
    extra: changeLog ? fields : unknown,
  }
}

/** A copy of a document without some of its fields. */
function withoutFields(document: Json, fields: readonly UnknownField[]): Json {
  const left = structuredClone(document)
  for (const { place } of fields) {
    const around = place.slice(0, -1).reduce<unknown>((at, step) => Reflect.get(Object(at), step), left)
    Reflect.deleteProperty(Object(around), place.at(-1) ?? '')
  }
  return left
}

/** A document with fields that were left out of it, where it has nothing else. */
function withFields(document: Json, fields: readonly UnknownField[]): Json {
  const whole = structuredClone(document) as Record<string, unknown>
  for (const { place, value } of fields) {
    let at = whole
    for (const step of place.slice(0, -1)) {
      if (!isFields(at[step])) at[step] = {}
      at = at[step] as Record<string, unknown>
    }
    const last = place.at(-1)
    if (last !== undefined && (at[last] === undefined || at[last] === null)) at[last] = value
  }
  return whole as Json
}

const noRelated: Prepared['relatedEntities'] = {}
const noExtra: Prepared['extra'] = []

/** What belongs to an entity beside its document. */
interface Beside {
  readonly samples: Entity['samples']
  readonly listed?: number
  readonly related?: Prepared['relatedEntities']
  readonly odd?: readonly Misfit[]
  readonly respelled: Respelled
}

/** What was sent of instants, and of texts that cannot be stored, by what is hashed and stored. */
type Respelled = ReadonlyMap<string, string>

/** A document with instants as they were sent. */
function asSent(documentText: string, respelled: Respelled): string {
  let text = documentText
  for (const [canonical, sent] of respelled) text = text.replaceAll(JSON.stringify(canonical), JSON.stringify(sent))
  return text
}

function fingerprinted(
  { root, parts, since, facts, incomplete, formerly, lists, extra = noExtra }: WithExtra,
  { key, documentText }: Texts,
  { samples, listed = 0, related: relatedEntities = noRelated, odd = [], respelled }: Beside,
): Prepared {
  const hash = sha256(documentText)
  const sentText = formerly === undefined ? asSent(documentText, respelled) : canonicalJson(formerly)
  const hashAsSent = sentText === documentText ? undefined : sha256(sentText)
  const related = Object.values(relatedEntities).flat()
  const hashes = related.map((other) => other.hash.toString('base64') + other.key).sort()
  const further = [samples, facts, since, hashes.length > 0 ? hashes : undefined]
  const plain = further.every((value) => value === undefined || value === null)
  const fingerprint = plain ? hash : sha256(documentText + canonicalJson(further.map((value) => value ?? null) as Json))
  // Each with the same fields in the same order, and no other object spread into it: so they are made and read fast.
  return {
    key,
    root,
    parts,
    since,
    incomplete,
    samples,
    lists,
    listed,
    facts,
    documentText,
    hash,
    hashAsSent,
    fingerprint,
    relatedEntities,
    withoutRoot: false,
    odd,
    extra,
  }
}
