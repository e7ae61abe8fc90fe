import { dequal as isEqual } from 'dequal/lite'
import { CountedRecords } from '../../api/schemas/form/presence.ts'
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
  /** Of each entity. */
  readonly lines: readonly string[]
  /** Those and others. */
  readonly sorted: readonly string[]
}

interface Remembered {
  /** In the order of the response. */
  readonly known: Known[]
  lines?: Lines
  loaded?: LoadedBefore
}

/** What was loaded of a response. */
interface LoadedBefore {
  /** As the ledger has it. */
  readonly contentHash: Uint8Array
  /** Those that were loaded: records that contradict each other are not among them. */
  readonly entities: readonly Prepared[]
}

/** Of so many entities that stand elsewhere each is looked for alone: that takes less than a set of all. */
const fewMoved = 200

/** The entities that a response before did not load. Nearly all stand where they stood. */
export function notLoadedBefore(entities: readonly Prepared[], before: LoadedBefore): readonly Prepared[] {
  const moved = entities.filter((entity, nth) => entity !== before.entities[nth])
  if (moved.length <= fewMoved) return moved.filter((entity) => !before.entities.includes(entity))
  const all = new Set(before.entities)
  return moved.filter((entity) => !all.has(entity))
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
  begin({ name, normalize }: ResourceBase) {
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
          if (known?.record !== record || known === undefined) continue
          next = nth + 1
          now.known.push(known)
          return known
        }
        return undefined
      },
      /** What was made of an equal record; undefined where it is another one, or not all of it could be stored. */
      find(key: string, record: unknown): Known | undefined {
        const known = records.get(key)
        if (known === undefined || !isEqual(known.record, record)) return undefined
        // The record of now: where the next response has the same object, it need not be compared, and the older one can go.
        return add(known.record === record ? known : { ...known, record })
      },
      add,
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
