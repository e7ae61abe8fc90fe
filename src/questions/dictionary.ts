import type { Sql } from '../db/database.ts'
import { byTopic, recorded, recordedIn } from './catalogue.ts'
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
interface Dictionary {
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

export type Block =
  | { readonly kind: 'heading'; readonly level: 1 | 2 | 3 | 4; readonly text: string; readonly isCode?: boolean }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'rows'; readonly columns: readonly string[]; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'diagram'; readonly schema: string; readonly tables: readonly Table[] }

/** The dictionary from top to bottom: questions in their order, then the tables below them. */
export function pageOf({ questions, schemas }: Dictionary): Block[] {
  const commentOn = (schema: string) => schemas.find(({ name }) => name === schema)?.comment ?? ''
  return [
    heading(1, 'Data dictionary'),
    text('Made by `wynnsync dictionary` from the comments in the database. Instants are UTC, intervals half open.'),
    heading(2, 'analytics'),
    text(commentOn('analytics')),
    ...byTopic(questions).flatMap(({ number, title, members }) => [
      heading(3, /^\d/.test(number) ? `${number}. ${title}` : title),
      ...(number === recorded.number ? [namesOf(members)] : members.flatMap(questionBlocks)),
    ]),
    ...schemas
      .filter(({ tables }) => tables.length > 0)
      .flatMap(({ name, comment, tables }): Block[] => [
        heading(2, name),
        text(comment ?? ''),
        { kind: 'diagram', schema: name, tables },
        ...tables.flatMap((table) => tableBlocks(name, table)),
      ]),
  ]
}

/** Their columns are those of the tables below, as far as they are shown. */
function namesOf(views: readonly Question[]): Block {
  const rows = views.map((one) => [`\`${one.name}\``, `\`${recordedIn(one)?.table}\``, one.comment ?? ''])
  return { kind: 'rows', columns: ['view', 'table', 'meaning'], rows }
}

function questionBlocks({ name, kind, comment, parameters, columns }: Question): Block[] {
  const given = parameters.map((one) => `${one.name} ${short(one.type)}${one.optional ? ' = now()' : ''}`)
  const rows = columns.map((one) => [`\`${one.name}\``, short(one.type), one.comment ?? ''])
  const shown: Block =
    kind === 'view'
      ? { kind: 'rows', columns: ['column', 'type', 'meaning'], rows }
      : { kind: 'rows', columns: ['column', 'type'], rows: rows.map((row) => row.slice(0, 2)) }
  return [heading(4, kind === 'view' ? name : `${name}(${given.join(', ')})`, true), text(comment ?? ''), shown]
}

function tableBlocks(schema: string, table: Table): Block[] {
  const traits = [
    ...(table.isHistory ? ['Versions: `valid_from` until `valid_until`.'] : []),
    ...(table.isPartitioned ? ['Partitioned by month.'] : []),
    ...(table.root ? [`Part of \`${schema}.${table.root.name}\`, by ${table.root.columns.join(', ')}.`] : []),
  ]
  const rows = table.columns.map((one) => [
    `\`${one.name}\``,
    `${short(one.type)}${one.isKey ? ', key' : ''}${one.nullable ? '' : ', not null'}`.replace(
      ', key, not null',
      ', key',
    ),
    one.comment ?? '',
  ])
  return [
    heading(3, `${schema}.${table.name}`, true),
    text([table.comment ?? '', ...traits].join(' ')),
    { kind: 'rows', columns: ['column', 'type', 'meaning'], rows },
  ]
}

function heading(level: 1 | 2 | 3 | 4, title: string, isCode = false): Block {
  return { kind: 'heading', level, text: title, isCode }
}

function text(words: string): Block {
  return { kind: 'text', text: words }
}

function short(type: string): string {
  return type.replace('timestamp with time zone', 'timestamptz')
}
