import { is, sql } from 'drizzle-orm'
import {
  type AnyPgTable,
  check,
  foreignKey,
  getTableConfig,
  index,
  PgColumn,
  primaryKey,
  unique,
} from 'drizzle-orm/pg-core'
import { FatalError } from '../base/errors.ts'
import {
  bytes,
  type ColumnBuilders,
  instant,
  jsonb,
  type NotNullColumns,
  requireAll,
  sampledAt,
  snakeCased,
  withComments,
} from './columns.ts'
import { game, type SchemaTable, type TableExtra } from './schemas.ts'

/** Under this symbol a history table carries its shape: at run time for the engine, in its type for `RowOf`. */
export const historyShape = Symbol('history shape')

/** What the engine must know about a root beside its columns. Names are TypeScript property names. */
export interface RootShape<Key extends ColumnBuilders = ColumnBuilders> {
  readonly role: 'root'
  /** The natural key, in the order of the primary key. */
  readonly key: readonly string[]
  readonly keyColumns: Key
}

/** What the engine must know about a part beside its columns. Names are TypeScript property names. */
interface PartShape<Key extends string = string> {
  readonly role: 'part'
  /** The root's key; together with `validFrom` it names the version that the part belongs to. */
  readonly key: readonly Key[]
}

type EngineColumns = ReturnType<typeof engineColumns>
type DocumentColumn = ReturnType<typeof documentColumn>
type StartColumn = ReturnType<typeof startColumn>

/** A root with its versions, as `historyTable` makes it. */
export type HistoryTable<Name extends string, Key extends ColumnBuilders, Columns extends ColumnBuilders> = SchemaTable<
  'game',
  Name,
  NotNullColumns<Key> & Columns & EngineColumns
> & { readonly [historyShape]: RootShape<Key> }

/** The parts of a root's versions, as `partTable` makes them. */
export type PartTable<
  Name extends string,
  Key extends ColumnBuilders,
  PartKey extends ColumnBuilders,
  Columns extends ColumnBuilders,
> = SchemaTable<'game', Name, NotNullColumns<Key> & StartColumn & NotNullColumns<PartKey> & Columns> & {
  readonly [historyShape]: PartShape<Extract<keyof Key, string>>
}

type EngineColumn = 'validFrom' | 'validUntil' | 'previousUntil' | 'hash'

/**
 * What `normalize` returns for one row of a table, by property name; nullable columns may be left out.
 * A root's row has its key but none of the columns that the engine fills; a part's row has neither
 * the root's key nor `validFrom`, which follow from the root it hangs on. Any other table: its insert model.
 */
export type RowOf<Table extends { readonly $inferInsert: object }> = Table extends {
  readonly [historyShape]: { readonly role: 'root' }
}
  ? Omit<Table['$inferInsert'], EngineColumn>
  : Table extends { readonly [historyShape]: PartShape<infer Key> }
    ? Omit<Table['$inferInsert'], Key | 'validFrom'>
    : Table['$inferInsert']

const startColumn = (comment: string) => ({ validFrom: instant(comment).notNull() })

const engineColumns = () => ({
  ...startColumn('Start, inclusive: observed_at of the first response with this version.'),
  validUntil: instant(
    'End, exclusive: observed_at of the first response with another version, or without the key. infinity: the version is current.',
  )
    .notNull()
    .default(sql`'infinity'`),
  previousUntil: instant(
    'valid_until of the version before: equal to valid_from when nothing lay between, earlier after an absence. NULL: the first version of its key.',
  ),
  hash: bytes(
    'Content hash: SHA-256 of the document as JSON text with sorted keys, 32 bytes, without what is sampled.',
  ).notNull(),
  extra: jsonb(
    'Fields of the record that have no column, in the shape of the API; elements of an array by their number. NULL: there are none.',
  ),
})

const documentColumn = () => ({ document: jsonb('The whole record in the shape of the API.').notNull() })

/** A root as `partTable` needs it. */
export type KeyedRoot<Key extends ColumnBuilders = ColumnBuilders> = AnyPgTable & {
  readonly [historyShape]: RootShape<Key>
}

interface HistoryOptions<Name extends string, Columns extends ColumnBuilders> {
  /** Keeps the whole normalized entity as jsonb too, for questions that come later. */
  readonly document?: boolean
  /** Comments of columns that the engine fills, where the usual ones do not say enough; by property name. */
  readonly comments?: Partial<Record<EngineColumn | 'extra' | 'document', string>>
  /** Further indexes and checks, from the table's columns. */
  readonly indexes?: TableExtra<Name, Columns>
}

/**
 * Declares a table of versions (slowly changing dimension, type 2) in schema `game`.
 *
 * A version is true from `valid_from` until before `valid_until`, which is `infinity` while it is current.
 * Every version but a key's first names in `previous_until` the end of the version before it: equal to its own
 * `valid_from` when nothing lay between, earlier after an absence. That makes the versions of a key one chain: an end
 * belongs to one version (`_end`), has at most one successor and there is one first (`_start`), the end named exists
 * (`_chain`), lies not after the successor's start (`_after`), and starts lie before ends (`_order`). Hence no two
 * versions of a key overlap, and two B-trees prove it at an eighth of what a GiST exclusion costs.
 *
 * One transaction must be free to load versions in any order, so `<table>_chain` is `DEFERRABLE INITIALLY DEFERRED`.
 * drizzle has no such option: `npm run db:generate` adds it.
 *
 * @param key the natural key's columns; they become `not null`
 * @param columns everything else that `normalize` gives; SQL names are the snake_case of the property names
 */
export function historyTable<Name extends string, Key extends ColumnBuilders, Columns extends ColumnBuilders>(
  name: Name,
  comment: string,
  key: Key,
  columns: Columns,
  options: HistoryOptions<Name, NotNullColumns<Key> & Columns & EngineColumns & DocumentColumn> & {
    readonly document: true
  },
): HistoryTable<Name, Key, Columns & DocumentColumn>
export function historyTable<Name extends string, Key extends ColumnBuilders, Columns extends ColumnBuilders>(
  name: Name,
  comment: string,
  key: Key,
  columns: Columns,
  options?: HistoryOptions<Name, NotNullColumns<Key> & Columns & EngineColumns> & { readonly document?: false },
): HistoryTable<Name, Key, Columns>
export function historyTable(
  name: string,
  comment: string,
  key: ColumnBuilders,
  columns: ColumnBuilders,
  options: HistoryOptions<string, ColumnBuilders> = {},
) {
  const keyNames = Object.keys(key)
  requireAll(key)
  const all = { ...key, ...columns, ...(options.document ? documentColumn() : {}), ...engineColumns() }
  const table = game.table(name, snakeCased<ColumnBuilders>(all), (self) => {
    const withKey = (property: EngineColumn) => columnsOf(self, [...keyNames, property])
    const from = withKey('validFrom')
    const until = withKey('validUntil')
    const previous = withKey('previousUntil')
    return [
      primaryKey({ name: `${name}_pkey`, columns: from }),
      unique(`${name}_end`).on(...until),
      unique(`${name}_start`)
        .on(...previous)
        .nullsNotDistinct(),
      foreignKey({ name: `${name}_chain`, columns: previous, foreignColumns: until }),
      check(`${name}_order`, sql`"valid_from" < "valid_until"`),
      check(`${name}_after`, sql`"previous_until" <= "valid_from"`),
      ...(options.indexes?.(self) ?? []),
    ]
  })
  const shape = { role: 'root' as const, key: keyNames, keyColumns: key }
  return Object.assign(withComments(table, comment, all, options.comments), { [historyShape]: shape })
}

/**
 * Declares a table of parts in schema `game`: rows that belong to one version of a root, written with it and gone with
 * it, never changed on their own. Primary key: root key, `valid_from`, part key.
 *
 * @param partKey key columns of a part within its version; they become `not null`
 */
export function partTable<
  Name extends string,
  Key extends ColumnBuilders,
  PartKey extends ColumnBuilders,
  Columns extends ColumnBuilders,
>(
  root: KeyedRoot<Key>,
  name: Name,
  comment: string,
  partKey: PartKey,
  columns: Columns,
): PartTable<Name, Key, PartKey, Columns>
export function partTable(
  root: KeyedRoot,
  name: string,
  comment: string,
  partKey: ColumnBuilders,
  columns: ColumnBuilders,
) {
  const { key, keyColumns } = root[historyShape]
  requireAll(partKey)
  const owner = `game.${getTableConfig(root).name}`
  const all = { ...keyColumns, ...startColumn(`valid_from of the version in ${owner}.`), ...partKey, ...columns }
  const table = game.table(name, snakeCased<ColumnBuilders>(all), (self) => {
    const version = [...key, 'validFrom']
    const columns = columnsOf(self, version)
    const foreignColumns = columnsOf(root, version)
    return [
      primaryKey({ name: `${name}_pkey`, columns: columnsOf(self, [...version, ...Object.keys(partKey)]) }),
      foreignKey({ name: `${name}_root`, columns, foreignColumns }).onDelete('cascade'),
    ]
  })
  const ofKey = Object.fromEntries(key.map((property) => [property, `Key of the version in ${owner}.`]))
  return Object.assign(withComments(table, comment, all, ofKey), { [historyShape]: { role: 'part' as const, key } })
}

type SampleColumns<Key extends ColumnBuilders, Columns extends ColumnBuilders> = NotNullColumns<Key> & {
  readonly observedAt: ReturnType<typeof sampledAt>
} & Columns

/**
 * Declares a table of samples in schema `game` that grows for ever. Primary key: the key columns, which become `not null`,
 * and `observed_at`, on which there is a BRIN index too.
 */
export function sampleTable<Name extends string, Key extends ColumnBuilders, Columns extends ColumnBuilders>(
  name: Name,
  comment: string,
  key: Key,
  columns: Columns,
  extra?: TableExtra<Name, SampleColumns<Key, Columns>>,
): SchemaTable<'game', Name, SampleColumns<Key, Columns>>
export function sampleTable(
  name: string,
  comment: string,
  key: ColumnBuilders,
  columns: ColumnBuilders,
  extra: TableExtra<string, ColumnBuilders> = () => [],
) {
  requireAll(key)
  const all = { ...key, observedAt: sampledAt(), ...columns }
  const table = game.table(name, snakeCased<ColumnBuilders>(all), (self) => [
    primaryKey({ name: `${name}_pkey`, columns: columnsOf(self, [...Object.keys(key), 'observedAt']) }),
    index(`${name}_time`).using('brin', ...columnsOf(self, ['observedAt'])),
    ...extra(self),
  ])
  return withComments(table, comment, all)
}

function columnsOf(columns: object, properties: readonly string[]): [PgColumn, ...PgColumn[]] {
  const [first, ...rest] = properties.map((property): PgColumn => {
    const found: unknown = Reflect.get(columns, property)
    if (!is(found, PgColumn)) throw new FatalError(`history table has no column ${property}`)
    return found
  })
  if (!first) throw new FatalError('history table without a key')
  return [first, ...rest]
}
