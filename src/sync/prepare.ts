import { type Misfit, misfitOf } from '../api/wire/record.ts'
import { FatalError, RecordError } from '../errors.ts'
import { extraOf } from './drift/drift.ts'
import { canonicalJson, type Json, sha256 } from './hash.ts'
import type { IgnoredInstant, ResponseContext } from './ignored.ts'
import type { Entity, Recorded, SetAside } from './resource.ts'
import { type RowCheck, rowCheck } from './row-check.ts'

/** An entity ready to load: fingerprinted, its document as JSON text. */
export interface Prepared extends Omit<Entity, 'document' | 'also' | 'setAside' | 'ignored'> {
  /** Fingerprint of the document: another one means another version. */
  readonly hash: Buffer
  readonly documentText: string
  /** Fingerprint of everything the record said: the same of all records means the same answer. */
  readonly fingerprint: Buffer
  readonly also: Readonly<Record<string, readonly Prepared[]>>
}

/** A record that could not be understood, as it goes to quarantine. */
export interface Quarantined {
  /** Its natural key, where it has one that can be read. */
  readonly key: string | undefined
  /** The raw record as JSON text. */
  readonly rawText: string
  readonly hash: Buffer
  /** JSON pointer to what is wrong. */
  readonly path: string
  readonly reason: string
  readonly misfit: Misfit | undefined
}

export interface Preparation {
  readonly entities: readonly Prepared[]
  readonly quarantined: readonly Quarantined[]
  /** Keys that the answer holds, also those whose record is in quarantine: none of them is absent. */
  readonly seen: ReadonlySet<string>
  /** Instants that were left out of records that are otherwise good. */
  readonly ignored: readonly IgnoredInstant[]
}

/** Text that Postgres cannot keep in jsonb: NUL, or half of a surrogate pair, as JSON.stringify escapes them. */
const unstorable = /(?<!\\)(?:\\\\)*(\\u0000|\\ud[89a-f][0-9a-f]{2})/

/** In characters: what an index entry has room for, whatever the alphabet. */
const longestKey = 500

/** Normalizes, checks and fingerprints every record of an answer. A bad record is set aside; it never stops the others. */
export function prepare(resource: Recorded, records: readonly unknown[], context?: ResponseContext): Preparation {
  const entities = new Map<string, { entity: Prepared; record: unknown }>()
  const quarantined: Quarantined[] = []
  const seen = new Set<string>()
  const conflicting = new Set<string>()
  const ignored: IgnoredInstant[] = []
  const prepareOne = preparerOf(resource, { quarantined, ignored, context })

  for (const record of records) {
    const key = resource.keyOf(record)
    if (key !== undefined) seen.add(storable(key))
    try {
      const entity = prepareOne(record)
      if (key === undefined) throw new RecordError('the record has no key')
      const twin = entities.get(entity.key)
      if (!twin) entities.set(entity.key, { entity, record })
      else if (!twin.entity.fingerprint.equals(entity.fingerprint)) {
        conflicting.add(entity.key)
        quarantined.push(contradiction(entity.key, record))
      }
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      const path = String(error.context.path ?? '')
      quarantined.push(setAside({ key, raw: record, path, reason: error.message, misfit: misfitOf(error) }))
    }
  }
  // Which of two contradicting records is right cannot be known, so neither is believed and the last version stays.
  for (const key of conflicting) {
    quarantined.push(contradiction(key, entities.get(key)?.record))
    entities.delete(key)
  }
  return { entities: Array.from(entities.values(), (one) => one.entity), quarantined, seen, ignored }
}

function contradiction(key: string, raw: unknown): Quarantined {
  return setAside({
    key,
    raw,
    path: '',
    reason: `another record of this answer has the key ${key} and says something else`,
  })
}

function setAside({ key, raw, path, reason, misfit }: SetAside): Quarantined {
  const rawText = canonicalJson((raw ?? null) as Json)
  const texts = { key: key === undefined ? undefined : storable(key), path: storable(path), reason: storable(reason) }
  return { ...texts, rawText, hash: sha256(rawText), misfit }
}

/** Text for a column of type text, which holds no NUL: also what is broken must be written down. */
function storable(text: string): string {
  return text.replaceAll('\0', '\uFFFD')
}

/** What is found beside the entities, and what `normalize` may know. */
interface Findings {
  readonly quarantined: Quarantined[]
  readonly ignored: IgnoredInstant[]
  readonly context: ResponseContext | undefined
}

/** The function that makes one record ready; its checks are compiled once for all records. */
function preparerOf(resource: Recorded, { quarantined, ignored, context }: Findings): (record: unknown) => Prepared {
  const check = rowCheck(resource.history, resource.samples)
  const checks = new Map(Object.entries(resource.others ?? {}).map(([name, other]) => [name, rowCheck(other)]))
  return (record) => {
    const { also: told, setAside: bad = [], ignored: left = [], ...entity } = resource.normalize(record, context)
    const also: Record<string, Prepared[]> = {}
    for (const [name, others] of Object.entries(told ?? {})) {
      const otherCheck = checks.get(name)
      if (!otherCheck) throw new FatalError(`${resource.name} has no history called ${name}`)
      const unknown = resource.others?.[name]?.unknownFields
      also[name] = others.flatMap((other) => {
        try {
          return [fingerprinted(withExtra(other, unknown), otherCheck, {})]
        } catch (error) {
          if (!(error instanceof RecordError)) throw error
          // One of many: the record it came with is still good.
          quarantined.push(setAside({ key: other.key, raw: other.document, path: '', reason: error.message }))
          return []
        }
      })
    }
    const prepared = fingerprinted(withExtra(entity, resource.unknownFields), check, also)
    quarantined.push(...bad.map(setAside))
    ignored.push(...left)
    return prepared
  }
}

/** Puts the fields of an entity that no column knows into its `extra` column. */
function withExtra(entity: Entity, unknownFields: Recorded['unknownFields'] | undefined): Entity {
  const extra = unknownFields ? extraOf(unknownFields(entity.document)) : null
  return extra === null ? entity : { ...entity, root: { ...entity.root, extra } }
}

/** @throws RecordError when Postgres could not store it */
function fingerprinted(entity: Entity, check: RowCheck, also: Prepared['also']): Prepared {
  const { document, ...rest } = entity
  const documentText = canonicalJson(document)
  const bad = unstorable.exec(documentText)
  if (bad) throw new RecordError(`text with the character ${bad[1]} cannot be stored`, { context: { key: entity.key } })
  if (entity.key.length > longestKey) throw new RecordError(`a key of ${entity.key.length} characters is too long`)
  check(rest)
  const hash = sha256(documentText)
  const others = Object.values(also).flatMap((ones) => ones.map((one) => one.hash.toString('base64') + one.key))
  const further = [rest.samples, rest.facts, rest.since, others.length > 0 ? others.sort() : undefined]
  const plain = further.every((one) => one === undefined || one === null)
  const fingerprint = plain ? hash : sha256(documentText + canonicalJson(further.map((one) => one ?? null) as Json))
  return { ...rest, also, hash, documentText, fingerprint }
}
