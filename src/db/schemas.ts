import type { BuildColumns, BuildExtraConfigColumns } from 'drizzle-orm'
import { type PgSchema, type PgTableExtraConfigValue, type PgTableWithColumns, pgSchema } from 'drizzle-orm/pg-core'
import { type ColumnBuilders, snakeCased, withComments } from './columns.ts'

/** Entities, their history, events and samples. */
export const game = pgSchema('game')

/** What the program knows about its own work: runs, observations, budgets, drift, quarantine. */
export const sync = pgSchema('sync')

/** A table of a schema, as `gameTable` and `syncTable` make it. */
export type SchemaTable<
  Schema extends string,
  Name extends string,
  Columns extends ColumnBuilders,
> = PgTableWithColumns<{
  name: Name
  schema: Schema
  columns: BuildColumns<Name, Columns, 'pg'>
  dialect: 'pg'
}>

/** Further indexes and checks of a table, from its columns. */
export type TableExtra<Name extends string, Columns extends ColumnBuilders> = (
  self: BuildExtraConfigColumns<Name, Columns, 'pg'>,
) => PgTableExtraConfigValue[]

const tableOf =
  <Schema extends string>(schema: PgSchema<Schema>) =>
  <Name extends string, Columns extends ColumnBuilders>(
    name: Name,
    comment: string,
    columns: Columns,
    extra?: TableExtra<Name, Columns>,
  ): SchemaTable<Schema, Name, Columns> => {
    const named = snakeCased(columns)
    return withComments(extra ? schema.table(name, named, extra) : schema.table(name, named), comment, named)
  }

/** Declares a table of schema `game` with its comment; the columns have theirs from the builders of `columns.ts`. */
export const gameTable = tableOf(game)

/** The same in schema `sync`. */
export const syncTable = tableOf(sync)
