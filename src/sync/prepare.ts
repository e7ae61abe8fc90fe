import { RecordError } from '../errors.ts'
import { extraOf } from './drift.ts'
import { canonicalJson, type Json, sha256 } from './hash.ts'
import type { Entity, Resource } from './resource.ts'
import type { RowCheck } from './row-check.ts'

/** An entity ready to load: fingerprinted, its document as JSON text. */
export interface Prepared extends Omit<Entity, 'document'> {
  readonly hash: Buffer
  readonly documentText: string
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
}

export interface Preparation {
  readonly entities: readonly Prepared[]
  readonly quarantined: readonly Quarantined[]
  /** Keys that the answer holds, also those whose record is in quarantine: none of them is absent. */
  readonly seen: ReadonlySet<string>
}

/** Text that Postgres cannot keep in jsonb: NUL, or half of a surrogate pair, as JSON.stringify escapes them. */
const unstorable = /(?<!\\)(?:\\\\)*(\\u0000|\\ud[89a-f][0-9a-f]{2})/

/** Normalizes, checks and fingerprints every record of an answer. A bad record is set aside; it never stops the others. */
export function prepare(resource: Resource, records: readonly unknown[], check: RowCheck): Preparation {
  const entities = new Map<string, { entity: Prepared; record: unknown }>()
  const quarantined: Quarantined[] = []
  const seen = new Set<string>()
  const conflicting = new Set<string>()
  const setAside = (record: unknown, key: string | undefined, path: string, reason: string) => {
    const rawText = canonicalJson((record ?? null) as Json)
    quarantined.push({ key, rawText, hash: sha256(rawText), path, reason })
  }

  for (const record of records) {
    const key = resource.keyOf(record)
    if (key !== undefined) seen.add(key)
    try {
      const entity = prepareOne(resource, record, check)
      const twin = entities.get(entity.key)
      if (!twin) entities.set(entity.key, { entity, record })
      else if (!twin.entity.hash.equals(entity.hash)) {
        conflicting.add(entity.key)
        setAside(
          record,
          entity.key,
          '',
          `another record of this answer has the key ${entity.key} and says something else`,
        )
      }
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      setAside(record, key, String(error.context.path ?? ''), error.message)
    }
  }
  // Which of two contradicting records is right cannot be known, so neither is believed and the last version stays.
  for (const key of conflicting) {
    setAside(
      entities.get(key)?.record,
      key,
      '',
      `another record of this answer has the key ${key} and says something else`,
    )
    entities.delete(key)
  }
  return { entities: Array.from(entities.values(), (one) => one.entity), quarantined, seen }
}

function prepareOne(resource: Resource, record: unknown, check: RowCheck): Prepared {
  const { document, ...entity } = resource.normalize(record)
  const documentText = canonicalJson(document)
  const bad = unstorable.exec(documentText)
  if (bad) throw new RecordError(`text with the character ${bad[1]} cannot be stored`, { context: { key: entity.key } })
  check(entity)
  const extra = extraOf(resource.unknownFields(document))
  return {
    ...entity,
    root: extra === null ? entity.root : { ...entity.root, extra },
    hash: sha256(documentText),
    documentText,
  }
}
