import { dequal as isEqual } from 'dequal/lite'
import type { ResourceBase } from '../resource.ts'
import type { Prepared } from './prepare-entity.ts'

interface Known {
  readonly record: unknown
  readonly prepared: Prepared
}

interface Remembered {
  readonly records: Map<string, Known>
  /** Once it is loaded, what the ledger has of it. */
  contentHash?: Uint8Array
}

/** What a response has in common with the one before. */
export interface Repetition {
  /** Entities whose records are the same as in the response before. */
  readonly entities: ReadonlySet<Prepared>
  /** Of the response before; undefined where that was not loaded whole. */
  readonly contentHash: Uint8Array | undefined
  /** To be called when the response itself is loaded whole. */
  loaded(contentHash: Uint8Array): void
}

/**
 * What was made of the records of the response before, by resource: of recordings of a large list nearly all records are the
 * same again. Holds one response of each resource.
 */
export class PreparedBefore {
  readonly #responses = new Map<string, Remembered>()

  /** Begins with a response. Undefined where what is made of a record depends on the response, too. */
  begin({ name, normalize }: ResourceBase) {
    if (normalize.length > 1) return undefined
    const before = this.#responses.get(name)
    const now: Remembered = { records: new Map() }
    this.#responses.set(name, now)
    const entities = new Set<Prepared>()
    const repetition: Repetition = {
      entities,
      contentHash: before?.contentHash,
      loaded: (contentHash) => {
        now.contentHash = contentHash
      },
    }
    return {
      repetition,
      /** What was made of the same record; undefined where it is another one, or not all of it could be stored. */
      find(key: string, record: unknown): Prepared | undefined {
        const known = before?.records.get(key)
        if (known === undefined || !isEqual(known.record, record)) return undefined
        now.records.set(key, known)
        entities.add(known.prepared)
        return known.prepared
      },
      add: (key: string, record: unknown, prepared: Prepared) => void now.records.set(key, { record, prepared }),
    }
  }
}
