import type { Sql } from '../db/database.ts'
import { UsageError } from '../errors.ts'

/** One parameter of a question that is a function. */
export interface Parameter {
  readonly name: string
  /** SQL type, such as `timestamp with time zone`. */
  readonly type: string
  readonly optional: boolean
}

/** A view or function of schema `analytics`, as the database itself describes it. */
export interface Question {
  readonly name: string
  readonly kind: 'view' | 'function'
  readonly comment: string | null
  /** Of a function. */
  readonly parameters: readonly Parameter[]
  /** Of a view: its columns in order. */
  readonly columns: readonly string[]
}

/** Everything that can be asked. The catalogue is the list, so that it cannot fall behind. */
export async function readQuestions(sql: Sql): Promise<Question[]> {
  return await sql.query<Question>(
    `select relname as name, 'view' as kind, obj_description(pg_class.oid, 'pg_class') as comment, '[]'::jsonb as parameters,
            (select jsonb_agg(attname order by attnum) from pg_attribute
              where attrelid = pg_class.oid and attnum > 0 and not attisdropped) as columns
       from pg_class where relnamespace = 'analytics'::regnamespace and relkind = 'v'
     union all
     select proname, 'function', obj_description(pg_proc.oid, 'pg_proc'),
            coalesce((select jsonb_agg(jsonb_build_object('name', proargnames[position], 'type', format_type(argument, null),
                                              'optional', position > pronargs - pronargdefaults) order by position)
               from unnest(proargtypes::oid[]) with ordinality as given(argument, position)), '[]'), '[]'
       from pg_proc where pronamespace = 'analytics'::regnamespace
      order by name`,
  )
}

/** What is to be asked, as SQL with parameters. */
export interface Statement {
  readonly text: string
  readonly values: readonly (string | null)[]
}

/**
 * The statement for a question. Arguments of a function go by position; those of a view are `column=value` filters.
 * @param limit at most that many rows; 0 for all
 * @throws UsageError when the arguments do not fit
 */
export function statementFor(question: Question, given: readonly string[], limit: number): Statement {
  const end = limit > 0 ? ` limit ${limit}` : ''
  if (question.kind === 'function') {
    const { parameters, name } = question
    const required = parameters.filter(({ optional }) => !optional)
    if (given.length < required.length || given.length > parameters.length) throw new UsageError(usageOf(question))
    const casts = given.map((_, index) => `$${index + 1}::text::${parameters[index]?.type}`)
    return { text: `select * from analytics.${name}(${casts.join(', ')})${end}`, values: given }
  }
  const filters = given.map((filter) => {
    const [, column = '', value = ''] = /^([a-z_0-9]+)=(.*)$/s.exec(filter) ?? []
    if (!question.columns.includes(column)) throw new UsageError(usageOf(question))
    return { column, value }
  })
  const conditions = filters.map(({ column }, index) => `${column}::text = $${index + 1}`)
  const where = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''
  return { text: `select * from analytics.${question.name}${where}${end}`, values: filters.map(({ value }) => value) }
}

/** How a question is asked, for a message. */
export function usageOf({ name, kind, parameters, columns }: Question): string {
  if (kind === 'view') return `ask: wynnsync query ${name} [column=value ...]\ncolumns: ${columns.join(', ')}`
  const shown = parameters.map((one) => (one.optional ? `[${one.name}]` : `<${one.name}>`))
  return `ask: wynnsync query ${name} ${shown.join(' ')}\n${parameters.map((one) => `  ${one.name}: ${one.type}`).join('\n')}`
}
