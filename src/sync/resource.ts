import type { AnyPgTable } from 'drizzle-orm/pg-core'
import type { Api } from '../api/client.ts'
import type { WalkProgress } from '../api/pages.ts'
import type { Misfit } from '../api/schemas/form/record.ts'
import type { UnknownField } from '../api/schemas/form/unknown.ts'
import type { Sql } from '../db/database.ts'
import type { historyShape, RootShape, RowOf } from '../db/history.ts'
import type { Json } from './normalize/hash.ts'
import type { Personal } from './privacy/personal.ts'
import type { RetainedObservations } from './retention/growth.ts'
import type { IgnoredInstant, ResponseContext } from './validate/ignored.ts'

export type { KeptTable, Person, Personal } from './privacy/personal.ts'
export type { Averages, ExpiringTable, RetainedObservations, RetainedTable } from './retention/growth.ts'
export { type IgnoredInstant, notAfter, type ResponseContext } from './validate/ignored.ts'

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
  /** When asking again may bring something new, by this machine's clock; ms since the epoch. Absent: not told. */
  readonly renewAt?: number | null
  /** What the answer says as a whole, beside its records; for `derive`. */
  readonly facts?: Json
  /** How many records the API says there are; null or absent: it does not. */
  readonly count?: number | null
  /** How often a walk over pages began again because the listing moved under it. */
  readonly restarts?: number
  /** Why its instants cannot be right: they do not agree with its own `Date` header. */
  readonly clockError?: string | undefined
  /** Why the answer cannot be believed, such as a member list that is shorter than its own total. */
  readonly validationError?: string
}

export interface ExtractOptions {
  /** Walk page by page even where the API would give everything at once. */
  readonly walk?: boolean
  /** Priority class of the requests; default: the resource's own. */
  readonly lane?: Lane
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: WalkProgress) => void
}

/** Property values of one row; the property names are those of the drizzle table. */
export type Row = Readonly<Record<string, unknown>>

/** One record after normalizing: what is kept, and where. */
export interface Entity {
  /** The natural key, also in `root`; the parts of a composite key joined by `/`. */
  readonly key: string
  /** The record in the API's own shape without its volatile parts: what is fingerprinted, compared and given back by `*_at`. */
  readonly document: Json
  readonly root: Row
  /** Child rows by the name of their table in `parts`. */
  readonly parts: Readonly<Record<string, readonly Row[]>>
  /** When this became true, where the API tells (ISO 8601): the version starts then, not when it was first seen. */
  readonly since?: string | null
  /** Entities of the resource's other histories that this record tells of, by their name in `others`. */
  readonly relatedEntities?: Readonly<Record<string, readonly Entity[]>>
  /** Those of `also` of which the record may not tell all, so that what is absent means nothing. */
  readonly incomplete?: readonly string[]
  /** Measured values by the name of their table in `samples`. */
  readonly samples?: Readonly<Record<string, readonly Row[]>>
  /** What only `derive` needs of this record. */
  readonly facts?: Json
  /** Instants that the record tells and that cannot be. */
  readonly ignored?: readonly IgnoredInstant[]
  /** Pieces of the record that could not be understood while the rest could. */
  readonly quarantined?: readonly QuarantinedPart[]
}

/** A piece of a record for quarantine. */
export interface QuarantinedPart {
  readonly key: string | undefined
  readonly raw: unknown
  readonly path: string
  readonly reason: string
  /** The field of another type that makes it unreadable, where that is the reason. */
  readonly misfit?: Misfit | undefined
}

/** Where the versions of a resource live: a root history table and the part tables that hang on its versions. */
export interface History {
  readonly root: AnyPgTable & {
    readonly $inferInsert: object
    readonly [historyShape]: Pick<RootShape, 'role' | 'key'>
  }
  readonly parts: Readonly<Record<string, AnyPgTable & { readonly $inferInsert: object }>>
  /**
   * False when `after` is older news than the current `before`, which began at `began`; it changes nothing then. Needs a
   * document column.
   */
  readonly supersedes?: (before: Json, after: Json, began: Date) => boolean
}

/** A further history that a resource's records feed. */
export interface RelatedHistory extends History {
  /** `with-root`: ends when the record it came with is gone. `own`: ends by its own absence among its root's entities. */
  readonly absence: 'with-root' | 'own'
  /**
   * Property name of the column that tells one stay from the next, such as the time of joining. What was missing and comes
   * back with another value there had ended when it was first missed, however few answers lacked it.
   */
  readonly spellColumn?: string
  /** Like `unknownFields` of the resource, for this history's own documents. */
  readonly unknownFields?: (document: Json) => UnknownField[]
}

/**
 * What the `normalize` of a resource returns, checked against its tables. Write it as an explicit return type: left to
 * inference, a misspelt nullable column would compile.
 */
export interface Normalized<H extends History>
  extends Pick<Entity, 'since' | 'relatedEntities' | 'incomplete' | 'samples' | 'facts' | 'ignored' | 'quarantined'> {
  readonly key: string
  readonly document: Json
  readonly root: Omit<RowOf<H['root']>, 'document' | 'extra' | 'observedAt'>
  readonly parts: { readonly [Part in keyof H['parts']]: readonly RowOf<H['parts'][Part]>[] }
}

/** A table of samples: a row says what was measured at `observedAt`, and holds until the next one of its key. */
export interface SampleTable {
  /** Primary key: the key columns, then `observed_at`. */
  readonly table: AnyPgTable
  /** Property names of the columns that say what is measured. */
  readonly key: readonly string[]
  /** Property names of the columns that count up: many of them at zero at once are hard to believe. */
  readonly counters?: readonly string[]
}

/** What an answer came to, as `derive` gets it. */
export interface Answered {
  /** The instant the answer speaks for. */
  readonly at: Date
  /** The instant of the last accepted answer of the same resource and key; null before the first. */
  readonly previousAt: Date | null
  readonly facts: Json
  /** The facts of each record, by its key. */
  readonly recordFacts: ReadonlyMap<string, Json>
}

/** What the engine must know of a resource to take in its records. */
export interface ResourceBase {
  /** Name on the command line, in the ledger and in logs, such as `items`. */
  readonly name: string
  /** When it is due, as a cron expression in UTC. */
  readonly schedule: string
  readonly lane: Lane
  /** The share (0..1) below which an answer is implausible, where the default is not right; a person may set another. */
  readonly plausibleShare?: number
  /** Seconds that the API keeps one copy of an answer: asking sooner brings the same (API reference 2.3). */
  readonly cacheSeconds: number
  readonly history: History
  readonly relatedHistories?: Readonly<Record<string, RelatedHistory>>
  readonly samples?: Readonly<Record<string, SampleTable>>
  /** Whether what changed is also written down field by field, for `*_change`. Needs a document column. */
  readonly changeLog: boolean
  /** Of a resource of which questions rest on when each accepted answer was: what stays of that in the long run. */
  readonly evidence?: RetainedObservations
  /** The natural key of a raw record, or undefined when it has none that can be read. Never throws. */
  keyOf(record: unknown): string | undefined
  /** The part of a record that the API sent under the record's key, where JSON pointers begin; default: the record itself. */
  bodyOf?(record: unknown): unknown
  /**
   * Turns one raw record into rows. Pure: no clock, no I/O.
   * @throws RecordError when the record cannot be understood; it goes to quarantine, the others go on.
   */
  normalize(record: unknown, context?: ResponseContext): Entity
  /** The fields of a document that the program does not know: they go into `extra`, and are reported as drift, once. */
  unknownFields(document: Json): UnknownField[]
  /** Known enum members by JSON pointer (`*` for every element); any other is kept and reported as drift, once. */
  readonly vocabulary: Readonly<Record<string, readonly string[]>>
  /** Of a resource whose answers tell of people: who they are, and what is kept of them. */
  readonly personal?: Personal
  /** Set-based SQL for what follows from an answer but is no version of a record, in the answer's own transaction. Returns how many events it wrote. */
  derive?(sql: Sql, answered: Answered): Promise<number>
  /** Undoes what `derive` wrote because of responses that speak for instants after this one. */
  giveUp?(sql: Sql, after: Date): Promise<void>
  /** The tables that `derive` writes, besides those above. */
  readonly derived?: readonly AnyPgTable[]
}

/**
 * Everything the engine needs to know of one synced thing whose answers each hold all of it. Read a resource's
 * `index.ts` first: it is the contract, and `normalize.ts` beside it is its fulfilment.
 */
export interface Resource extends ResourceBase {
  /** Asks the API. Sees no database. */
  extract(api: Api, options: ExtractOptions): Promise<Extraction>
}

/** A key and what people call it. */
export interface Named {
  readonly key: string
  readonly label: string
}

/** A resource with one answer per key, such as one guild: its keys wait in a worklist in the database. */
export interface Worklist extends ResourceBase {
  /** The route that its keys are asked from; its budget decides how many a run asks for. */
  readonly route: string
  /** The resource whose complete answers list every key there is: what a later one of them names is not gone. */
  readonly listing?: { readonly resource: string; readonly history: History }
  /** Puts new keys on the worklist and says how urgent each is; one statement. `at` is now. */
  plan(sql: Sql, at: Date): Promise<void>
  /** The keys in the database that a person may mean by a uuid, prefix or name. */
  find(sql: Sql, name: string): Promise<Named[]>
  /** The same, asked of the API, for what the database does not know yet; none when there is no such thing. */
  lookUp(api: Api, name: string): Promise<Named[]>
  /**
   * Asks the API for one key. Sees no database.
   * @throws NotFound when there is no such thing any more, Forbidden when it is private
   */
  extractOne(api: Api, key: string, options: ExtractOptions): Promise<Extraction>
}

/** Declares a resource; exists so that a declaration is checked where it is written. */
export function defineResource(resource: Resource): Resource {
  return resource
}

/** Declares a resource that is asked for key by key. */
export function defineWorklist(resource: Worklist): Worklist {
  return resource
}

export function isWorklist(resource: Resource | Worklist): resource is Worklist {
  return 'extractOne' in resource
}
