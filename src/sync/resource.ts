import type { AnyPgTable } from 'drizzle-orm/pg-core'
import type { Api } from '../api/client.ts'
import type { WalkProgress } from '../api/pages.ts'
import type { UnknownField } from '../api/wire/unknown.ts'
import type { historyShape, RootShape, RowOf } from '../db/history.ts'
import type { Json } from './hash.ts'

/** Priority class of a resource's requests: live polls go before refreshes, refreshes before a backfill. */
export type Lane = 'live' | 'refresh' | 'backfill'

/** What one complete round of requests gave, before anybody looked into the records. */
export interface Extraction {
  /** The records as the wire gave them. */
  readonly records: readonly unknown[]
  /** True when everything the API has was seen: only then does absence mean anything. */
  readonly complete: boolean
  /** Instants, in ms since the epoch, that the oldest and the newest answer speak for. */
  readonly observedFrom: number
  readonly observedAt: number
  readonly pages: number
}

export interface ExtractOptions {
  /** Walk page by page even where the API would give everything at once. */
  readonly walk?: boolean
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: WalkProgress) => void
}

/** Property values of one row; the property names are those of the drizzle table. */
export type Row = Readonly<Record<string, unknown>>

/** One record after normalizing: what is kept, and where. */
export interface Entity {
  /** The natural key, also in `root`. */
  readonly key: string
  /** The record in the API's own shape without its volatile parts: what is fingerprinted, compared and given back by `*_at`. */
  readonly document: Json
  readonly root: Row
  /** Child rows by the name of their table in `parts`. */
  readonly parts: Readonly<Record<string, readonly Row[]>>
}

/** Where the versions of a resource live: a root history table and the part tables that hang on its versions. */
export interface History {
  readonly root: AnyPgTable & { readonly $inferInsert: object; readonly [historyShape]: RootShape }
  readonly parts: Readonly<Record<string, AnyPgTable & { readonly $inferInsert: object }>>
}

/**
 * What the `normalize` of a resource returns, checked against its tables. Write it as an explicit return type: left to
 * inference, a misspelt nullable column would compile.
 */
export interface Normalized<H extends History> {
  readonly key: string
  readonly document: Json
  readonly root: Omit<RowOf<H['root']>, 'document' | 'extra'>
  readonly parts: { readonly [Part in keyof H['parts']]: readonly RowOf<H['parts'][Part]>[] }
}

/**
 * Everything the engine needs to know of one synced thing. Read a resource's `index.ts` first: it is the contract, and
 * `normalize.ts` beside it is its fulfilment.
 */
export interface Resource {
  /** Name on the command line, in the ledger and in logs, such as `items`. */
  readonly name: string
  /** When it is due, as a cron expression in UTC. */
  readonly schedule: string
  readonly lane: Lane
  readonly history: History
  /** Asks the API. Sees no database. */
  extract(api: Api, options: ExtractOptions): Promise<Extraction>
  /** The natural key of a raw record, or undefined when it has none that can be read. Never throws. */
  keyOf(record: unknown): string | undefined
  /**
   * Turns one raw record into rows. Pure: no clock, no I/O.
   * @throws RecordError when the record cannot be understood; it goes to quarantine, the others go on.
   */
  normalize(record: unknown): Entity
  /** The fields of a document that the program does not know: they go into `extra`, and are reported as drift, once. */
  unknownFields(document: Json): UnknownField[]
  /** Known enum members by JSON pointer (`*` for every element); any other is kept and reported as drift, once. */
  readonly vocabulary: Readonly<Record<string, readonly string[]>>
}

/** Declares a resource; exists so that a declaration is checked where it is written. */
export function defineResource(resource: Resource): Resource {
  return resource
}
