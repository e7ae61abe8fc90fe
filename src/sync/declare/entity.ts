import type { AnyPgTable } from 'drizzle-orm/pg-core'
import type { Misfit, OddField } from '../../api/schemas/form/record.ts'
import type { UnknownField } from '../../api/schemas/form/unknown.ts'
import type { Sql } from '../../db/database.ts'
import type { historyShape, RootShape, RowOf } from '../../db/history.ts'
import type { ClaimKind } from '../evidence/policies.ts'
import type { Json } from '../normalize/hash.ts'
import type { IgnoredInstant } from './ignored.ts'

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
  /** Property names of the columns that say what is measured. */
  readonly key: readonly string[]
  /** Property names of the columns that count up: many of them at zero at once are hard to believe. */
  readonly counters?: readonly string[]
  /** They are what the resource is about: a response that shows others has changed it. Default: they are measured beside it. */
  readonly isContent?: boolean
}
