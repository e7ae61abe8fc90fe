import { dequal as isEqual } from 'dequal/lite'
import { CountedRecords } from '../../api/schemas/form/presence.ts'
import { isRedacted } from '../../api/schemas/people/redacted.ts'
import type { ResourceBase } from '../declare/resource.ts'
import type { Prepared } from './prepare-entity.ts'

/** A record that a response had, and what was made of it. */
export interface Known {
  readonly key: string
  readonly record: unknown
  readonly prepared: Prepared
}

/** The lines of a response that its content hash is made of. */
export interface Lines {
  readonly entities: readonly Prepared[]
  /** Of each entity, and then others. */
  readonly lines: readonly string[]
  readonly sorted: readonly string[]
}

/** A response all of whose records could be stored, each with a key of its own. */
interface Whole {
  readonly records: readonly unknown[]
  /** Of each record. */
  readonly entities: readonly Prepared[]
  /** Their keys. */
  readonly seen: ReadonlySet<string>
}

interface Remembered {
  /** In the order of the response. */
  readonly known: Known[]
  whole?: Whole
  lines?: Lines
  loaded?: LoadedBefore
}

/** What was loaded of a response. */
export interface LoadedBefore {
  /** As the ledger has it. */
  readonly contentHash: Uint8Array
  /** Those that were loaded: records that contradict each other are not among them. */
  readonly entities: readonly Prepared[]
}

/** Of so many entities that stand elsewhere each is looked for alone: that takes less than a set of all. */
const fewMoved = 200

/** The entities that a response before did not load. Nearly all stand where they stood. */
export function notLoadedBefore(entities: readonly Prepared[], before: LoadedBefore): readonly Prepared[] {
  const moved = placesOfOthers(entities, before.entities).flatMap((nth) => entities[nth] ?? [])
  if (moved.length <= fewMoved) return moved.filter((entity) => !before.entities.includes(entity))
  const all = new Set(before.entities)
  return moved.filter((entity) => !all.has(entity))
}

/** Where a list has others than a list before. */
export function placesOfOthers(list: readonly unknown[], before: readonly unknown[]): number[] {
  const places: number[] = []
  // Of thousands hardly one is another one, and a call for each would take longer than all the rest.
  for (let nth = 0; nth < list.length; nth++) if (list[nth] !== before[nth]) places.push(nth)
  return places
}

/** The response before, and where this one is remembered. */
export interface Repetition {
  /** Undefined where the response before was not loaded. */
  readonly before: LoadedBefore | undefined
  readonly linesBefore: Lines | undefined
  remember(now: Pick<Remembered, 'lines' | 'loaded'>): void
}

/** So many records are looked at where one came or went, before it is looked for by its key. */
const nearby = 16

/**
 * What was made of the records of the response before, by resource: of recordings of a large list nearly all records are the
 * same again. Holds one response of each resource, and at most as many records of earlier ones.
 */
export class PreparedBefore {
  readonly #responses = new Map<string, Remembered>()
  readonly #records = new Map<string, Map<string, Known>>()
  readonly #counted = new Map<string, CountedRecords>()

  /** Begins with a response. Undefined where what is made of a record depends on the response, too. */
  begin({ name, normalize, keyOf }: Pick<ResourceBase, 'name' | 'normalize' | 'keyOf'>) {
    if (normalize.length > 1) return undefined
    const before = this.#responses.get(name)
    const now: Remembered = { known: [] }
    this.#responses.set(name, now)
    const repetition: Repetition = {
      before: before?.loaded,
      linesBefore: before?.lines,
      remember: (what) => void Object.assign(now, what),
    }
    const counted = this.#counted.get(name) ?? new CountedRecords()
    this.#counted.set(name, counted)
    const records = this.#recordsOf(name, before)
    const add = (one: Known) => {
      now.known.push(one)
      records.set(one.key, one)
      return one
    }
    let next = 0
    return {
      repetition,
      counted,
      /** What was made of the same object; undefined where it does not stand about where it stood. */
      again(record: unknown): Known | undefined {
        for (let nth = next; nth <= next + nearby; nth++) {
          const known = before?.known[nth]
          if (known === undefined || known.record !== record) continue
          next = nth + 1
          now.known.push(known)
          return known
        }
        return undefined
      },
      /** What was made of an equal record; undefined where it is another one, or not all of it could be stored. */
      find(key: string, record: unknown): Known | undefined {
        const same = sameIn(records, key, record)
        return same && add(same)
      },
      add,
      /** Remembers a response all of whose records could be stored, each with a key of its own. */
      keepWhole: (whole: Whole) => void Object.assign(now, { whole }),
      /**
       * A response that is the one before with other records in some places, each with the key of the one that stood there.
       * @param prepare makes what stands in such a place; undefined where not all of the record can be stored
       * @returns undefined for any other response
       */
      repeated(all: readonly unknown[], prepare: (key: string, record: unknown) => Known | undefined) {
        const found = patched(before, all, (key, record) => {
          // What was removed from an archived record is counted otherwise.
          if (keyOf(record) !== key || isRedacted(record)) return undefined
          const one = sameIn(records, key, record) ?? prepare(key, record)
          if (one?.prepared.key !== key) return undefined
          records.set(key, one)
          return one
        })
        if (found) Object.assign(now, { known: found.known, whole: found.whole })
        return found
      },
    }
  }

  /** The latest records of a resource by key. */
  #recordsOf(name: string, before: Remembered | undefined): Map<string, Known> {
    const kept = this.#records.get(name) ?? new Map<string, Known>()
    const { known = [] } = before ?? {}
    const records = kept.size > 2 * known.length ? new Map(known.map((one) => [one.key, one])) : kept
    this.#records.set(name, records)
    return records
  }
}

function sameIn(records: ReadonlyMap<string, Known>, key: string, record: unknown): Known | undefined {
  const known = records.get(key)
  if (known === undefined || !isEqual(known.record, record)) return undefined
  // The record of now: where the next response has the same object, it need not be compared, and the older one can go.
  return known.record === record ? known : { ...known, record }
}

/** @param others gives what stands where another record stood; undefined ends it */
function patched(
  before: Remembered | undefined,
  records: readonly unknown[],
  others: (key: string, record: unknown) => Known | undefined,
) {
  const { whole, known = [] } = before ?? {}
  if (whole === undefined || records.length !== whole.records.length) return undefined
  const all = [...known]
  const entities = [...whole.entities]
  const changed: Known[] = []
  for (const nth of placesOfOthers(records, whole.records)) {
    const one = others(whole.entities[nth]?.key ?? '', records[nth])
    if (one === undefined) return undefined
    all[nth] = one
    entities[nth] = one.prepared
    changed.push(one)
  }
  return { known: all, whole: { records, entities, seen: whole.seen }, entitiesBefore: whole.entities, changed }
}
