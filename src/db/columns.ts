import type { NotNull } from 'drizzle-orm'
import * as pg from 'drizzle-orm/pg-core'
import { customType, PgColumnBuilder, type PgColumnBuilderBase } from 'drizzle-orm/pg-core'
import { FatalError } from '../base/errors.ts'

/*
 * drizzle's column builders, each with the column's comment in Postgres as its argument. Columns get the snake_case of
 * their property names, so none needs a name here; the comments are installed by `migrations/comments.sql`, which
 * `npm run generate` writes.
 */

/** Columns of a table by property name, as drizzle's builders. */
export type ColumnBuilders = Record<string, PgColumnBuilderBase>

const comments = new WeakMap<PgColumnBuilderBase, string>()

function commented<Builder extends PgColumnBuilderBase>(comment: string, builder: Builder): Builder {
  comments.set(builder, comment)
  return builder
}

const instantType = customType<{ data: Date; driverData: Date }>({ dataType: () => 'timestamp with time zone' })
const textInstantType = customType<{ data: string; driverData: string }>({ dataType: () => 'timestamp with time zone' })
const bytesType = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })

export const text = (comment: string) => commented(comment, pg.text())
export const texts = (comment: string) => commented(comment, pg.text().array())
export const uuid = (comment: string) => commented(comment, pg.uuid())
export const boolean = (comment: string) => commented(comment, pg.boolean())
export const smallint = (comment: string) => commented(comment, pg.smallint())
export const integer = (comment: string) => commented(comment, pg.integer())
/** A `bigint` column as a number: counts stay below 2^53 (API reference 10). */
export const bigint = (comment: string) => commented(comment, pg.bigint({ mode: 'number' }))
/** A `bigint` column of any 64 bits. */
export const exactBigint = (comment: string) => commented(comment, pg.bigint({ mode: 'bigint' }))
export const real = (comment: string) => commented(comment, pg.real())
export const doublePrecision = (comment: string) => commented(comment, pg.doublePrecision())
export const json = (comment: string) => commented(comment, pg.json())
export const jsonb = (comment: string) => commented(comment, pg.jsonb())
/** A `timestamptz` column as a Date. Unlike drizzle's own it lets `FOREVER` (infinity) through both ways. */
export const instant = (comment: string) => commented(comment, instantType())
/** A `timestamptz` column that takes the API's own text (ISO 8601): a Date would cut its microseconds. */
export const textInstant = (comment: string) => commented(comment, textInstantType())
export const bytes = (comment: string) => commented(comment, bytesType())

/** The column of samples that says when they were observed. */
export const sampledAt = () =>
  instant('observed_at of the response with these values; they hold until the next row of the same key.').notNull()

/** `validFrom` -> `valid_from`. Digits stay with the word before them: `level2Xp` -> `level2_xp`. */
function snakeCase(property: string): string {
  return property.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function canBeNamed(builder: object): builder is { setName(name: string): void } {
  return 'setName' in builder && typeof builder.setName === 'function'
}

/**
 * Gives every column the snake_case of its property name, and returns the same columns. drizzle can do that by `casing`,
 * but only per drizzle client; COPY and hand-written SQL have none.
 * @throws FatalError when drizzle no longer lets builders be named
 */
export function snakeCased<Columns extends ColumnBuilders>(columns: Columns): Columns {
  for (const [property, builder] of Object.entries(columns)) {
    if (!canBeNamed(builder)) throw new FatalError(`column ${property} is no drizzle column builder`)
    builder.setName(snakeCase(property))
  }
  return columns
}

/** What `requireAll` makes of columns. */
export type NotNullColumns<Columns extends ColumnBuilders> = { [Name in keyof Columns]: NotNull<Columns[Name]> }

export function requireAll(columns: ColumnBuilders): void {
  for (const builder of Object.values(columns)) if (builder instanceof PgColumnBuilder) builder.notNull()
}

/** Under this symbol a table carries its comments. */
const tableComments = Symbol('comments')

/** The comments of a table and of its columns by SQL name. */
interface TableComments {
  readonly table: string
  readonly columns: Readonly<Record<string, string>>
}

/** Attaches to a table its comment and those of its columns, and returns it. @param given comments instead of the builders' */
export function withComments<Table extends object>(
  table: Table,
  comment: string,
  columns: ColumnBuilders = {},
  given: Readonly<Record<string, string>> = {},
): Table {
  const byName = Object.entries(columns).map(([property, builder]) => [
    snakeCase(property),
    given[property] ?? comments.get(builder) ?? '',
  ])
  return Object.assign(table, { [tableComments]: { table: comment, columns: Object.fromEntries(byName) } })
}

/** The comments of a table; undefined of one that has none. */
export function commentsOf(table: object): TableComments | undefined {
  return (table as { readonly [tableComments]?: TableComments })[tableComments]
}
