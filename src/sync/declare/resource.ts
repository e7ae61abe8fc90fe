import type { AnyPgTable } from 'drizzle-orm/pg-core'
import type { Api } from '../../api/client.ts'
import type { Dates } from '../../api/http/response-headers.ts'
import type { SentFields } from '../../api/schemas/form/presence.ts'
import type { Misfit, OddField } from '../../api/schemas/form/record.ts'
import type { UnknownField } from '../../api/schemas/form/unknown.ts'
import type { WalkProgress } from '../../api/walk.ts'
import type { Sql } from '../../db/database.ts'
import type { historyShape, RootShape, RowOf } from '../../db/history.ts'
import type { ClaimKind, PolicyName } from '../evidence/policies.ts'
import type { Json } from '../normalize/hash.ts'
import type { Dated } from '../respond/clocks.ts'
import type { ExpiringTable, RetainedObservations, RetainedTable } from '../retention/retained-tables.ts'
import type { Check } from '../verify/check.ts'
import type { IgnoredInstant, ResponseContext } from './ignored.ts'
import type { Personal } from './personal.ts'

export type * from '../retention/retained-tables.ts'
export { type IgnoredInstant, possible, type ResponseContext } from './ignored.ts'
export {
  type Fields,
  isFields,
  type KeptTable,
  type Person,
  type Personal,
  type PersonalResponses,
} from './personal.ts'

/** Property values of one row; the property names are those of the drizzle table. */
export type Row = Readonly<Record<string, unknown>>

/** One record after normalizing: what is kept, and where. */
export interface Entity {
  /** The natural key, also in `root`; the parts of a composite key joined by `/`. */
  readonly key: string
  /** The record in the API's own shape without its volatile parts: what is fingerprinted, compared and given back by `*_at`. */
  readonly document: Json
  /** The document as earlier versions of the program wrote it, where that is another: a version that has it is the same. */
  readonly formerly?: Json
  readonly root: Row
  /** Child rows by the name of their table in `parts`. */
  readonly parts: Readonly<Record<string, readonly Row[]>>
  /** When this became true, where the API sends that (ISO 8601): the version starts then, not when it was first seen. */
  readonly since?: string | null
  /** Entities of the related histories in this record, by the name of their history. */
  readonly relatedEntities?: Readonly<Record<string, readonly Entity[]>>
  /** Related histories of which the record may not hold all, so that what is absent means nothing. */
  readonly incomplete?: readonly string[]
  /** Measured values by the name of their table in `samples`. */
  readonly samples?: Readonly<Record<string, readonly Row[]>>
  /** Of what it has all samples, by the name of their table: the columns of their key but `listedBy`. What these lack is not sent. */
  readonly lists?: Readonly<Record<string, readonly Row[]>>
  /** What only `derive` needs of this record. */
  readonly facts?: Json
  /** Impossible instants of the record. */
  readonly ignored?: readonly IgnoredInstant[]
  /** Values that were left out of the record because they cannot be read: they go into `extra`. */
  readonly odd?: readonly OddField[]
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
  /** Of all with this name the first one is kept. Default: each that is different. A field that nothing knows may move with each response. */
  readonly keptAs?: string
}

/** Where the versions of a resource live: a root history table and the part tables that hang on its versions. */
export interface History {
  readonly root: AnyPgTable & {
    readonly $inferInsert: object
    readonly [historyShape]: Pick<RootShape, 'role' | 'key'>
  }
  readonly parts: Readonly<Record<string, AnyPgTable & { readonly $inferInsert: object }>>
  /**
   * What got a tombstone and comes back within hours with the same content never ended: its version is open again. Only where two
   * spells of one key never have the same content, such as with the time of a capture in it.
   */
  readonly reopens?: boolean
  /**
   * How `after` compares with the current `before`, which began at `began`: `older` changes nothing until another response
   * says the same; `resumed` shows that the version before never ended, which takes another response where several showed the current
   * one; what says `less` never changes anything. Needs a document column. `lastSeen` is the instant that the last
   * accepted response speaks for; `isReturn`: the version before the current one has the content of `after`.
   */
  readonly compare?: (
    before: Json,
    after: Json,
    known: { readonly began: Date; readonly lastSeen: Date | null; readonly isReturn: boolean },
  ) => 'newer' | 'older' | 'resumed' | 'less'
  /**
   * What responses must agree in where one is not enough: who holds it, and since when. Two that name the same holder agree, too, where
   * one of them does not say since when.
   */
  readonly agreement?: (document: Json) => { readonly holder: string; readonly since: string | null }
  /** That a key appears is an event: it is there only once a second response shows it, since the first. Default: since the first alone. */
  readonly corroboratesNew?: boolean
  /** What documents of versions without a holder contain: such a version never was where the one before it is resumed. */
  readonly empty?: Readonly<Record<string, Json>>
  /** Events that follow from its versions alone: where versions were rebuilt, these are made anew. */
  readonly following?: Following
}

/** A table of what follows from the versions of a history. It is neither imported nor retracted. */
interface Following {
  /** One of those that `derive` writes. */
  readonly table: AnyPgTable
  /** Makes its rows those that follow, of the keys in the temporary table `refold_touched`, from their first `valid_from` there on. */
  rebuild(sql: Sql): Promise<RebuiltRows>
}

/** Rows of a table that were removed, and rows that were written or changed, because versions were rebuilt or responses retracted. */
export interface RebuiltRows {
  readonly table: string
  readonly removed: number
  readonly changed: number
}

/** A further history that a resource's records feed. */
export interface RelatedHistory extends History {
  /**
   * `with-root`: ends when the record it came with is gone. `own`: ends by its own absence among its root's entities; such
   * entities are records of their own, which load also where their root is in quarantine.
   */
  readonly absence: 'with-root' | 'own'
  /**
   * Property name of the column that separates one spell from the next, such as the time of joining. What was missing and comes
   * back with another value there had ended when it was first missed, however few responses lacked it.
   */
  readonly spellColumn?: string
  /**
   * Columns of which one response must not change the values of many keys at once, by property name, each with the kind of claim. Where one
   * is the `spellColumn`, another value of a single key is loaded, and taken back where the next response shows the one before again.
   */
  readonly corroborated?: Readonly<Record<string, ClaimKind>>
  /**
   * Whether a response is newer than all before `at`, by its samples and those of its rows that the last one had, too: a value of `corroborated`
   * that is back is believed then. Default: that is not known.
   */
  readonly isNewer?: (sql: Sql, rows: readonly Row[], samples: Entity['samples'], at: Date) => Promise<boolean>
  /** Keys of other resources that a document is about. */
  readonly concerns?: (document: Json) => readonly string[]
  /** Like those of the resource, for this history's own documents. */
  readonly unknownFields?: (document: Json) => UnknownField[]
  readonly vocabulary?: Readonly<Record<string, readonly string[]>>
}

/**
 * What the `normalize` of a resource returns, checked against its tables. Write it as an explicit return type: left to
 * inference, a misspelt nullable column would compile.
 */
export interface Normalized<H extends History> extends Omit<Entity, 'root' | 'parts'> {
  readonly root: Omit<RowOf<H['root']>, 'document' | 'extra' | 'observedAt'>
  readonly parts: { readonly [Part in keyof H['parts']]: readonly RowOf<H['parts'][Part]>[] }
}

/** A table of samples: a row says what was measured at `observedAt`, and holds until the next one of its key. */
export interface SampleTable {
  /** Primary key: the key columns, then `observed_at`. */
  readonly table: AnyPgTable
  /** Property names of the columns that say what is measured, in the order of the primary key. */
  readonly key: readonly string[]
  /** The one of these by which records list their samples, such as the name of a counter. What is listed no more has a sample of NULL. */
  readonly listedBy?: string
  /** Property names of the columns that count up: many of them at zero at once are hard to believe. */
  readonly counters?: readonly string[]
  /** They are what the resource is about: a response that shows others has changed it. Default: they are measured beside it. */
  readonly isContent?: boolean
}

/** Priority class of a resource's requests: live polls go before refreshes, refreshes before a backfill. */
type Lane = 'live' | 'refresh' | 'backfill'

type Instants = Pick<Dates, 'observedFrom' | 'observedAt'>

/** What one complete round of requests gave, before normalization. */
export interface Extraction extends Instants, Partial<Omit<Dates & Dated, keyof Instants>> {
  /** The records as the wire gave them. */
  readonly records: readonly unknown[]
  /** True when everything the API has was seen: only then does absence mean anything. */
  readonly complete: boolean
  /** Why it is not complete, where that is not because of a walk over pages. */
  readonly lacks?: string
  readonly pages: number
  /** When another request may bring something new, by this machine's clock; ms since the epoch. Absent: unknown. */
  readonly renewAt?: number | null
  /** What the response holds beside its records; for `derive`. */
  readonly facts?: Json
  /** What it holds around its records that the program does not know: it is reported as drift. */
  readonly around?: readonly UnknownField[]
  /** The API's own count of records; null or absent: it sends none. */
  readonly count?: number | null
  /** Whether it would have a key, if there were one; absent: it has all there are. */
  readonly covers?: (key: string) => boolean
  /** How often a walk over pages began again because the listing moved under it. */
  readonly restarts?: number
  /** Why the last of these walks, which is taken, does not show everything. Absent: the listing stood still. */
  readonly unsteady?: string
  /** Its own count agrees with what it lists: then it is plausible, however short it is. Default: it has none to agree with. */
  readonly agrees?: boolean
  /**
   * Its own count is hard to believe beside what it lists: until enough responses have about the same gap, these are its facts, and until
   * enough have any, nothing follows from what it lacks.
   */
  readonly doubt?: { readonly reason: string; readonly gap: number; readonly facts: Json }
  /** Why the response is not credible, such as a list that is shorter than its own total. */
  readonly validationError?: string | undefined
}

export interface ExtractOptions {
  /** Walk page by page even where the API would give everything at once. */
  readonly walk?: boolean
  /** Combat levels that are asked for besides what is asked anyway, where the resource knows levels. */
  readonly levels?: readonly number[]
  /** Priority class of the requests; default: the resource's own. */
  readonly lane?: Lane
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: WalkProgress) => void
}

/** An accepted response, as `derive` gets it. */
export interface Answered {
  /** The instant the response speaks for. */
  readonly at: Date
  /** The same by the later one of both clocks, where they differ: by that of the API, which its instants are by, more may be over. */
  readonly latestAt: Date
  /** The instant of the last accepted response of the same resource and key; null before the first. */
  readonly previousAt: Date | null
  readonly facts: Json
  /** Whether something follows from what the response lacks. */
  readonly complete: boolean
  /** The facts of each record, by its key. */
  readonly recordFacts: ReadonlyMap<string, Json>
  /**
   * Counts what the response claims about these subjects, and forgets what it contradicts, of those that are `scope` or below it. Returns
   * what enough responses agree in, each with the instant of the first. How many: as `policy` says, by default that of the kind.
   */
  readonly corroborate: (
    kind: ClaimKind,
    subjects: readonly string[],
    scope?: string,
    policy?: PolicyName,
  ) => Promise<readonly { readonly subject: string; readonly firstAt: Date }[]>
  /** Whether so many of so many at once are too many to be believed: of what changes, or of players whom a list lacks. */
  readonly isBurst: (count: number, of: number, what?: 'unlisted' | 'unlisted in minutes') => boolean
  /** What is claimed and not confirmed, each with the instant of the first response that said so. */
  readonly pendingClaims: (kind: ClaimKind) => Promise<readonly { readonly subject: string; readonly firstAt: Date }[]>
  /** Versions that are in their tables no longer, with their start: what followed from them did not happen. */
  readonly withdrawn: readonly { readonly key: string; readonly validFrom: string }[]
}

/** What files that other people keep hold of a resource: how they are recognised, and how several make one response. */
interface FileForm {
  /** Whether a body is one of its responses; absent: where `isRecord` says so of its records. */
  isBody?(body: unknown): boolean
  /** Whether a record, with its key where the body is a map, is one of its records and of no other resource. */
  isRecord?(record: unknown, key: string): boolean
  /**
   * Forms that other people keep of its records and the API never sent with them, or sent before version 3: how a record or
   * a body is recognised by its fields, and what it is, for people.
   */
  readonly notSent?: readonly { is(value: unknown, key: string): boolean; readonly what: string }[]
  /** About how many records a response has; absent: what a backfill is assumed to bring, or any number. */
  readonly records?: number
  /** The kinds of its records: each whole response has most of them. */
  readonly kinds?: { of(record: unknown): unknown; readonly members: readonly string[] }
  /** One body with the records of several, of which a later one counts more. Absent: they make none. */
  join?(bodies: readonly unknown[]): object
  /**
   * Of a resource whose response takes several requests: to which of them a body responds, and with which of its fields; without a
   * field, the whole body does. None for what is no response.
   * @param path of the file
   */
  respondsTo?(body: unknown, path: string): readonly FileResponse[]
}

export interface FileResponse {
  /** The path of the request. */
  readonly target: string
  readonly field?: string
}

/** What a backfill is assumed to bring while the database knows too few keys to measure it. */
export interface BackfillEstimate {
  readonly keys: number
  readonly rowsPerKey: number
}

/** What the engine must know of a resource to load its records. */
export interface ResourceBase {
  /** Name on the command line, in the ledger and in logs. */
  readonly name: string
  /** When it is due, as a cron expression in UTC. */
  readonly schedule: string
  readonly lane: Lane
  /** The share (0..1) below which a response is implausible, where the default is not right; a person may set another. */
  readonly plausibleShare?: number
  /** For how many hours at most its responses, where they are shrunken, must lack a key before that ends; default: as configured. */
  readonly shrunkenHours?: number
  /** Seconds that the API caches a response: an earlier request returns the same (API reference 2.3). */
  readonly cacheSeconds: number
  /** The route of its requests; the budget of the route's bucket limits how many keys of a worklist a run refreshes. */
  readonly route: string
  /**
   * Requests, as path and query, whose responses say the same in another form that may lack records: recordings of them load
   * too, and nothing follows from what they lack.
   */
  readonly otherForms?: readonly string[]
  /** How its responses look in files, for git histories. Absent: they are recognised by their known fields alone. */
  readonly file?: FileForm
  /** Days that raw responses are archived unless configured otherwise; absent: forever. */
  readonly rawDays?: number
  /** What its archive takes, as measured, for people. */
  readonly rawCost: string
  /** Can be requested as a whole by `backfill`, with what its plan assumes before anything is measured. Absent: it cannot. */
  readonly backfill?: BackfillEstimate
  readonly history: History
  readonly relatedHistories?: Readonly<Record<string, RelatedHistory>>
  readonly samples?: Readonly<Record<string, SampleTable>>
  /** Whether the API reckons its records for the combat level that one asks for. */
  readonly byLevel?: boolean
  /** Whether what changed is also written down field by field, for `*_change`. Needs a document column. Default: no. */
  readonly changeLog?: boolean
  /** Its tables that are partitioned by month. Other samples grow with what there is, not with time. */
  readonly retained?: readonly RetainedTable[]
  /** Its tables of daily events, of which no coarser numbers are kept. */
  readonly expiring?: readonly ExpiringTable[]
  /** Of a resource of which questions rest on when each accepted response was: what retention keeps of that. */
  readonly evidence?: RetainedObservations
  /** SQL of the responses that stay in the ledger for ever, as `key` and `observed_at`: questions rest on them. Absent: none. */
  readonly keptObservations?: string
  /** The natural key of a raw record, or undefined when it has none that can be read. Never throws. */
  keyOf(record: unknown): string | undefined
  /** Fields of a record that cost the whole record when they cannot be read, such as whose it is and since when. */
  readonly required?: readonly string[]
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
  /** The fields that records have by their schema: one that most had and that is lacking is unknown. Absent: none is watched. */
  readonly sent?: SentFields
  /** Of a resource whose responses are about people: who they are, and what is kept of them. */
  readonly personal?: Personal
  /** Set-based SQL for what follows from a response but is no version of a record, in its transaction. Returns how many events it wrote. */
  derive?(sql: Sql, answered: Answered): Promise<number>
  /** Rewrites what `derive` made, without the responses in the temporary tables `retract_span` and `retract_response`, after samples and versions. */
  afterRetraction?(sql: Sql): Promise<RebuiltRows | undefined>
  /** What must hold of its own tables, besides what holds of every table of its kind. Read by `verify` alone, as what rebuilds is by `retract`. */
  checks?(): Promise<readonly Check[]>
  /** The tables that `derive` writes, besides those above. */
  readonly derived?: readonly AnyPgTable[]
}

/**
 * Everything the engine needs to know of a resource whose responses each hold all of it. Read a resource's
 * `index.ts` first: it is the contract, and `normalize.ts` beside it is its fulfilment.
 */
export interface Resource extends ResourceBase {
  /** Asks the API. Sees no database. */
  extract(api: Api, options: ExtractOptions): Promise<Extraction>
}

export interface Named {
  readonly key: string
  readonly label: string
}

/** A key of a worklist, and from when to when it is known to have had a name. */
export interface NameHolder {
  readonly uuid: string
  /** Null where only the uuid is known. */
  readonly name: string | null
  /** Null where keys have none. */
  readonly prefix: string | null
  readonly since: Date
  /** Null while it has the name. */
  readonly until: Date | null
}

/** A resource with one response per key: its keys wait in a worklist in the database. */
export interface Worklist extends ResourceBase {
  /**
   * The parameter that says how long a list may be, and how long it may be without: a recorded list that was asked for fewer, or a file
   * with fewer, says nothing of what comes after.
   */
  readonly listLimit?: { readonly parameter: string; readonly usual: number }
  /** One of its keys in a word: the flag of `sync` that names keys (`--guild`), and what parameters of queries are called. */
  readonly keyFlag: string
  /** The resource whose first run puts keys on the worklist. */
  readonly keySource: string
  /** The resource whose complete responses list every key there is: what a later one names is not gone. */
  readonly listing?: { readonly resource: string; readonly history: History }
  /**
   * Asks the API for every key there is, where no other resource lists them. Sees no database.
   * @throws RetryableError when there is no list; what is on the worklist is refreshed all the same
   */
  listKeys?(api: Api, options: ExtractOptions): Promise<readonly string[]>
  /** Adds new keys to the worklist and sets how urgent each is; one statement. `at` is now. */
  plan(sql: Sql, at: Date): Promise<void>
  /** The keys in the database that a person may mean by a uuid, prefix or name. */
  find(sql: Sql, name: string): Promise<Named[]>
  /** Every key in the database that has or had the uuid, prefix or name, with each of its names. */
  holders(sql: Sql, name: string): Promise<NameHolder[]>
  /** Up to three names in the database that are similar. */
  similar(sql: Sql, name: string): Promise<string[]>
  /** The same by requests to the API, for what the database does not know yet; none when there is no such thing. */
  lookUp(api: Api, name: string): Promise<Named[]>
  /** How many current keys have no name in the database yet, where another resource lists keys without names. */
  countNameless?(sql: Sql): Promise<number>
  /**
   * Requests one key. Sees no database.
   * @throws NotFound when there is no such thing any more, Forbidden when it is private
   */
  extractOne(api: Api, key: string, options: ExtractOptions): Promise<Extraction>
}

/** A resource as it declares itself; without a lane, its requests are refreshes. */
type Declared<R extends ResourceBase> = Omit<R, 'lane'> & Partial<Pick<R, 'lane'>>

export function defineResource(declared: Declared<Resource>): Resource {
  return { lane: 'refresh', ...declared }
}

/** Declares a resource that is requested key by key. */
export function defineWorklist(declared: Declared<Worklist>): Worklist {
  return { lane: 'refresh', ...declared }
}

export function isWorklist(resource: Resource | Worklist): resource is Worklist {
  return 'extractOne' in resource
}
