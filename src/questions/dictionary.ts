import type { Sql } from '../db/database.ts'
import { type Column, type Question, readQuestions } from './questions.ts'

/** A table of `game` or `sync`. */
export interface Table {
  readonly name: string
  readonly comment: string | null
  readonly columns: readonly (Column & { readonly isKey: boolean; readonly nullable: boolean })[]
  /** The table that its rows are parts of, with the columns that say so. */
  readonly root: { readonly name: string; readonly columns: readonly string[] } | null
  /** Whether its rows are versions, chained one to the next. */
  readonly isHistory: boolean
  /** Whether it is partitioned by month. */
  readonly isPartitioned: boolean
}

/** What a database says about itself. */
export interface Dictionary {
  readonly questions: readonly Question[]
  readonly schemas: readonly {
    readonly name: string
    readonly comment: string | null
    readonly tables: readonly Table[]
  }[]
}

/** Reads the comments, types and keys of all schemas that people look into. Partitions are their table. */
export async function readDictionary(sql: Sql): Promise<Dictionary> {
  const tables = await sql.query<Table & { schema: string }>(
    `select relnamespace::regnamespace::text as schema, relname as name, obj_description(held.oid, 'pg_class') as comment,
            (select jsonb_agg(jsonb_build_object(
                      'name', attname, 'type', format_type(atttypid, atttypmod), 'comment', col_description(attrelid, attnum),
                      'nullable', not attnotnull,
                      'isKey', exists (select from pg_index where indrelid = held.oid and indisprimary and attnum = any(indkey)))
                    order by attnum)
               from pg_attribute where attrelid = held.oid and attnum > 0 and not attisdropped) as columns,
            (select jsonb_build_object('name', (select relname from pg_class where oid = confrelid), 'columns',
                      (select jsonb_agg(attname order by place) from unnest(conkey) with ordinality as own(number, place)
                         join pg_attribute on attrelid = conrelid and attnum = number))
               from pg_constraint where conrelid = held.oid and contype = 'f' and confrelid <> conrelid) as root,
            exists (select from pg_constraint where conrelid = held.oid and contype = 'f' and confrelid = conrelid) as "isHistory",
            relkind = 'p' as "isPartitioned"
       from pg_class held
      where relnamespace::regnamespace::text in ('game', 'sync') and relkind in ('r', 'p') and not relispartition
      order by 1, relname collate "C"`,
  )
  const schemas = await sql.query<{ name: string; comment: string | null }>(
    `select nspname as name, obj_description(oid, 'pg_namespace') as comment from pg_namespace
      where nspname in ('analytics', 'game', 'sync') order by 1`,
  )
  return {
    questions: await readQuestions(sql),
    schemas: schemas.map((schema) => ({
      ...schema,
      tables: tables.flatMap(({ schema: name, ...table }) => (name === schema.name ? [table] : [])),
    })),
  }
}
