import { deepestNesting, longestKey } from '../../api/schemas/form/limits.ts'
import { misfitOf } from '../../api/schemas/form/record.ts'
import { FatalError, RecordError } from '../../app/errors.ts'
import { historyShape } from '../../db/history.ts'
import { extraOf } from '../drift/drift.ts'
import type { Entity, History, QuarantinedPart, ResourceBase, Row } from '../resource.ts'
import type { IgnoredInstant, ResponseContext } from '../validate/ignored.ts'
import { canonicalJson, type Json, sha256 } from './hash.ts'
import { placeOf, unstorablePlace } from './json-path.ts'
import { tooDeep } from './nesting.ts'
import { type BadValue, keyOfRow, rowCheck } from './row-check.ts'

/** An entity ready to load: fingerprinted, its document as JSON text. */
export interface Prepared extends Pick<Entity, 'key' | 'root' | 'parts'> {
  readonly since: Entity['since']
  readonly incomplete: Entity['incomplete']
  readonly samples: Entity['samples']
  readonly facts: Entity['facts']
  /** Content hash of the document: another one means another version. */
  readonly hash: Buffer
  readonly documentText: string
  /** Content hash of the whole record, with what hangs on it: the same of all records means the same response. */
  readonly fingerprint: Buffer
  readonly relatedEntities: Readonly<Record<string, readonly Prepared[]>>
  /** The record itself is in quarantine: only its related entities and samples load. */
  readonly withoutRoot: boolean
}

/** Text that Postgres cannot keep in jsonb: NUL, or half of a surrogate pair, as JSON.stringify escapes them. */
const unstorable = /(?<!\\)(?:\\\\)*(\\u0000|\\ud[89a-f][0-9a-f]{2})/

/** What is checked of the entities of one history. */
type HistoryChecks = ReturnType<typeof checksOf>

/** Where findings beside the entities go, and the response. */
interface Findings {
  /** Gets the pieces of a record that cannot be stored while the rest of it can. */
  readonly quarantine: (bad: QuarantinedPart) => void
  readonly ignored: IgnoredInstant[]
  readonly context: ResponseContext | undefined
}

/** The function that makes one record ready. Its checks are compiled once for all records. */
export function preparerOf(resource: ResourceBase, findings: Findings): (record: unknown) => Prepared {
  const { quarantine, ignored, context } = findings
  const textsOf = rootChecker(resource)
  const relatedOf = relatedPreparer(resource, quarantine)
  const samplesOf = sampleChecker(resource, quarantine)
  return (record) => {
    const body = resource.bodyOf?.(record) ?? record
    const deep = tooDeep(body)
    if (deep !== undefined)
      throw new RecordError(`nested deeper than ${deepestNesting} levels`, { context: { path: deep } })
    const entity = withExtra(resource.normalize(record, context), resource.unknownFields)
    const { texts, error } = textsOf(entity, body)
    if (error) {
      const path = String(error.context.path ?? '')
      quarantine({ key: texts.key, raw: record, path, reason: error.message, misfit: misfitOf(error) })
    }
    const related = relatedOf(entity.relatedEntities, body)
    const samples = samplesOf(texts.key, entity.samples, body)
    for (const bad of entity.quarantined ?? []) quarantine(bad)
    for (const instant of entity.ignored ?? []) ignored.push(instant)
    const prepared = fingerprinted(entity, texts, samples, related)
    // Nothing of a document that cannot be stored is read again.
    return error ? { ...prepared, documentText: '{}', withoutRoot: true } : prepared
  }
}

/**
 * Checks the root of a record. Where it cannot be stored, no piece of it is, unless the resource has entities that are records
 * of their own and the key that they hang on is good: then the error is returned.
 */
function rootChecker(resource: ResourceBase) {
  const { root } = resource.history
  const checks = checksOf(resource.history)
  const hasOwn = Object.values(resource.relatedHistories ?? {}).some(({ absence }) => absence === 'own')
  const isKeyed = (entity: Entity) => {
    const keys = root[historyShape].key.map((name) => [name, entity.root[name]] as const)
    return checks.root(Object.fromEntries(keys)) === undefined
  }
  return (entity: Entity, body: unknown): { readonly texts: Texts; readonly error?: RecordError } => {
    try {
      if (entity.rootError) throw entity.rootError
      return { texts: storableTexts(entity, checks, body) }
    } catch (error) {
      if (!(error instanceof RecordError) || !hasOwn || !isKeyed(entity)) throw error
      return { texts: { key: checks.keyOf(entity.root), documentText: canonicalJson(entity.document) }, error }
    }
  }
}

/** Makes the related entities of a record ready. One that cannot be stored goes to quarantine alone. */
function relatedPreparer(resource: ResourceBase, quarantine: (bad: QuarantinedPart) => void) {
  const checks = new Map(
    Object.entries(resource.relatedHistories ?? {}).map(([name, other]) => [name, checksOf(other)]),
  )
  return (entities: Entity['relatedEntities'], body: unknown): Prepared['relatedEntities'] => {
    if (!entities) return noRelated
    const related: Record<string, Prepared[]> = {}
    for (const [name, found] of Object.entries(entities)) {
      const check = checks.get(name)
      if (!check) throw new FatalError(`${resource.name} has no history called ${name}`)
      const unknown = resource.relatedHistories?.[name]?.unknownFields
      related[name] = found.flatMap((entity) => {
        try {
          const whole = withExtra(entity, unknown)
          return [fingerprinted(whole, storableTexts(whole, check, body), whole.samples, noRelated)]
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

function checksOf(history: History) {
  const parts = new Map(Object.entries(history.parts).map(([name, table]) => [name, rowCheck(table)]))
  return { root: rowCheck(history.root), parts, keyOf: keyOfRow(history) }
}

/** The samples of an entity without those that Postgres would refuse: each is a measurement of its own. */
function sampleChecker(resource: ResourceBase, quarantine: (bad: QuarantinedPart) => void) {
  const checks = new Map(Object.entries(resource.samples ?? {}).map(([name, { table }]) => [name, rowCheck(table)]))
  return (key: string, samples: Entity['samples'], body: unknown): Entity['samples'] => {
    if (!samples) return undefined
    const good: Record<string, readonly Row[]> = {}
    for (const [name, rows] of Object.entries(samples)) {
      const check = checks.get(name)
      if (!check) throw new FatalError(`${resource.name} has no sample table called ${name}`)
      good[name] = rows.some(check) ? rows.filter((row) => isGood(row, check(row), key, body)) : rows
    }
    return good
  }

  function isGood(row: Row, bad: BadValue | undefined, key: string, body: unknown): boolean {
    if (!bad) return true
    quarantine({ key, raw: row, path: placeOf(body, bad.value, bad.property), reason: bad.reason })
    return false
  }
}

/** Puts the fields of an entity that no column knows into its `extra` column. */
function withExtra(entity: Entity, unknownFields: ResourceBase['unknownFields'] | undefined): Entity {
  const extra = unknownFields ? extraOf(unknownFields(entity.document)) : null
  return extra === null ? entity : { ...entity, root: { ...entity.root, extra } }
}

const noRelated: Prepared['relatedEntities'] = {}

type Texts = Pick<Prepared, 'key' | 'documentText'>

/** @throws RecordError when Postgres could not store the entity */
function storableTexts(entity: Entity, checks: HistoryChecks, body: unknown): Texts {
  const documentText = canonicalJson(entity.document)
  const bad = unstorable.exec(documentText)
  if (bad) throw misfitting(`text with the character ${bad[1]} cannot be stored`, entity.key, unstorablePlace(body))
  const key = checks.keyOf(entity.root)
  if (key.length > longestKey) throw misfitting(`a key of ${key.length} characters is too long`, key, '')
  const misfit = firstBad(entity, checks)
  if (misfit) throw misfitting(misfit.reason, key, placeOf(body, misfit.value, misfit.property))
  return { key, documentText }
}

function fingerprinted(
  { root, parts, since, facts, incomplete }: Entity,
  { key, documentText }: Texts,
  samples: Entity['samples'],
  relatedEntities: Prepared['relatedEntities'],
): Prepared {
  const hash = sha256(documentText)
  const related = relatedEntities === noRelated ? [] : Object.values(relatedEntities).flat()
  const hashes = related.map((other) => other.hash.toString('base64') + other.key).sort()
  const further = [samples, facts, since, hashes.length > 0 ? hashes : undefined]
  const plain = further.every((value) => value === undefined || value === null)
  const fingerprint = plain ? hash : sha256(documentText + canonicalJson(further.map((value) => value ?? null) as Json))
  // Each with the same fields in the same order, so that what reads them is fast.
  const measured = { since, incomplete, samples, facts }
  return { key, root, parts, ...measured, documentText, hash, fingerprint, relatedEntities, withoutRoot: false }
}

function firstBad({ root, parts }: Entity, checks: HistoryChecks): BadValue | undefined {
  const bad = checks.root(root)
  if (bad) return bad
  for (const name in parts) {
    const check = checks.parts.get(name)
    if (!check) throw new FatalError(`no part table is called ${name}`)
    for (const row of parts[name] ?? []) {
      const wrong = check(row)
      if (wrong) return wrong
    }
  }
  return undefined
}

function misfitting(reason: string, key: string, path: string): RecordError {
  return new RecordError(reason, { context: { key, path } })
}
