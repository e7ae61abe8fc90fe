import { dequal as isEqual } from 'dequal/lite'
import { CountedRecords } from '../../api/schemas/form/presence.ts'
import type { ResourceBase } from '../declare/resource.ts'
import type { Prepared } from './prepare-entity.ts'

interface Known {
  readonly record: unknown
  readonly prepared: Prepared
}

interface Remembered {
  readonly records: Map<string, Known>
  loaded?: LoadedBefore
}

/** What was loaded of a response. */
interface LoadedBefore {
  /** As the ledger has it. */
  readonly contentHash: Uint8Array
  /** Those that were loaded: records that contradict each other are not among them. */
  readonly entities: ReadonlySet<Prepared>
}

/** The response before, and where this one is remembered. */
export interface Repetition {
  /** Undefined where the response before was not loaded. */
  readonly before: LoadedBefore | undefined
  remember(loaded: LoadedBefore): void
}

/**
 * What was made of the records of the response before, by resource: of recordings of a large list nearly all records are the
 * same again. Holds one response of each resource.
 */
export class PreparedBefore {
  readonly #responses = new Map<string, Remembered>()
  readonly #counted = new Map<string, CountedRecords>()

  /** Begins with a response. Undefined where what is made of a record depends on the response, too. */
  begin({ name, normalize }: ResourceBase) {
    if (normalize.length > 1) return undefined
    const before = this.#responses.get(name)
    const now: Remembered = { records: new Map() }
    this.#responses.set(name, now)
    const repetition: Repetition = {
      before: before?.loaded,
      remember: (loaded) => {
        now.loaded = loaded
      },
    }
    const counted = this.#counted.get(name) ?? new CountedRecords()
    this.#counted.set(name, counted)
    return {
      repetition,
      counted,
      /** What was made of the same record; undefined where it is another one, or not all of it could be stored. */
      find(key: string, record: unknown): Prepared | undefined {
        const known = before?.records.get(key)
        if (known === undefined || !isEqual(known.record, record)) return undefined
        // The record of now: where the next response has the same object, it need not be compared, and the older one can go.
        now.records.set(key, known.record === record ? known : { record, prepared: known.prepared })
        return known.prepared
      },
      add: (key: string, record: unknown, prepared: Prepared) => void now.records.set(key, { record, prepared }),
    }
  }
}
