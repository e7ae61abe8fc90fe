import { UsageError } from '../base/errors.ts'
import type { Sql } from '../db/database.ts'
import { byTopic } from './catalogue.ts'
import { meaningOf, valuesOf } from './function-columns.ts'

/** One parameter of a question that is a function. */
export interface Parameter {
  readonly name: string
  /** SQL type, such as `timestamp with time zone`. */
  readonly type: string
  readonly optional: boolean
  /** All that it may be, where that is known. */
  readonly values?: readonly string[] | undefined
}

export interface Column {
  readonly name: string
  readonly type: string
  /** What it means, with its unit; of a view as the database says it. */
  readonly comment: string | null
  /** All that it may be beside NULL, where that is known. */
  readonly values?: readonly string[] | undefined
}

/** A view or function of schema `analytics`, as the database itself describes it. */
export interface Question {
  readonly name: string
  readonly kind: 'view' | 'function'
  readonly comment: string | null
  /** Of a function. */
  readonly parameters: readonly Parameter[]
  /** What comes out, in order. */
  readonly columns: readonly Column[]
}

/** Everything that can be asked, by topic. The catalogue of the database is the list, so that it cannot fall behind. */
export async function readQuestions(sql: Sql): Promise<Question[]> {
  const questions = await sql.query<Question>(
    `select * from (
     select relname::text as name, 'view' as kind, obj_description(pg_class.oid, 'pg_class') as comment, '[]'::jsonb as parameters,
            (select jsonb_agg(jsonb_build_object('name', attname, 'type', format_type(atttypid, atttypmod),
                                                 'comment', col_description(attrelid, attnum)) order by attnum)
               from pg_attribute where attrelid = pg_class.oid and attnum > 0 and not attisdropped) as columns
       from pg_class where relnamespace = 'analytics'::regnamespace and relkind = 'v'
     union all
     select proname, 'function', obj_description(pg_proc.oid, 'pg_proc'),
            coalesce((select jsonb_agg(jsonb_build_object('name', proargnames[position], 'type', format_type(argument, null),
                                              'optional', position > pronargs - pronargdefaults) order by position)
               from unnest(proargtypes::oid[]) with ordinality as given(argument, position)), '[]'),
            coalesce((select jsonb_agg(jsonb_build_object('name', proargnames[position], 'type', format_type(argument, null),
                                              'comment', null) order by position)
               from unnest(proallargtypes) with ordinality as given(argument, position) where proargmodes[position] = 't'),
              jsonb_build_array(jsonb_build_object('name', proname, 'type', format_type(prorettype, null), 'comment', null)))
       from pg_proc where pronamespace = 'analytics'::regnamespace) question
      order by name collate "C"`,
  )
  return byTopic(questions.map(withMeanings)).flatMap(({ members }) => members)
}

/** Postgres keeps comments on the columns of views, not on those of functions. */
function withMeanings(question: Question): Question {
  const ofFunction = question.kind === 'function'
  const withValues = <T extends Column | Parameter>(one: T): T => {
    const values = valuesOf(question.name, one.name)
    return values ? { ...one, values } : one
  }
  const columns = question.columns.map((one) =>
    withValues(ofFunction ? { ...one, comment: meaningOf(question.name, one.name) } : one),
  )
  return { ...question, columns, parameters: question.parameters.map(withValues) }
}

/** An argument of a function. */
export interface Argument {
  readonly name: string
  readonly type: string
  readonly value: string
}

/**
 * The given arguments of a function, by position.
 * @param week the ends of the last seven days, for `from_time` and `to_time` when both are left out
 * @throws UsageError when it does not fit; the message says how to ask
 */
export function argumentsOf(question: Question, given: readonly string[], week: readonly [string, string]): Argument[] {
  const { parameters } = question
  const from = parameters.findIndex(({ name }) => name === 'from_time')
  const isTime = ({ name }: Parameter) => /^(from|to)_time$/.test(name)
  const least = parameters.filter((one) => !one.optional && !isTime(one)).length
  const isOpen = from >= 0 && given.length >= least && given.length <= parameters.length - 2 && given.length < least + 2
  const all = isOpen ? [...given.slice(0, from), ...week, ...given.slice(from)] : given
  const required = parameters.filter(({ optional }) => !optional)
  if (all.length < required.length) throw new UsageError(`${question.name} needs more arguments\n${usageOf(question)}`)
  return all.map((value, index) => {
    const parameter = parameters[index]
    if (!parameter) throw new UsageError(`${question.name} takes no further argument: ${value}\n${usageOf(question)}`)
    return { name: parameter.name, type: parameter.type, value }
  })
}

/** Columns that say what a row is about. */
const naming = /^(territory|world|internal_name|guild_uuid|player_uuid|resource|reward|name|title)$/

/** The column of a view that a name without `column=` is for; undefined when no column has names. */
export function nameColumn({ columns }: Pick<Question, 'columns'>): Column | undefined {
  return columns.find(({ name }) => naming.test(name))
}

/** How a question is asked, for a message. */
export function usageOf(question: Question): string {
  return [...callOf(question), `columns: ${question.columns.map((one) => one.name).join(', ')}`].join('\n')
}

/** The same without its columns. */
export function callOf({ name, kind, parameters, columns }: Question): string[] {
  const narrowing = 'of its rows: column=value, column=gte.80, column=in.(a,b), order=column.desc, select=column,column'
  if (kind === 'view') {
    const named = nameColumn({ columns })
    const shown = [name, ...(named ? [`[${named.name}]`] : []), '[column=value ...]']
    return [`ask: wynnsync query ${shown.join(' ')}`, narrowing]
  }
  const hasTimes = parameters.some((one) => one.name === 'from_time')
  const shown = parameters.map((one) =>
    one.optional || /^(from|to)_time$/.test(one.name) ? `[${one.name}]` : `<${one.name}>`,
  )
  return [
    `ask: wynnsync query ${[name, ...shown].join(' ')}`,
    ...parameters.map((one) => `  ${one.name}: ${wanted(one)}`),
    ...(hasTimes ? ['without from_time and to_time: the last seven days'] : []),
    narrowing,
  ]
}

const examples: Readonly<Record<string, string>> = {
  'timestamp with time zone': 'an instant (UTC): 2026-05-01, 2026-05-01T20:00Z, now, today, yesterday, -7d, -12h',
  interval: 'a length of time: 1 hour, 1 day',
}

function wanted({ name, type, values }: Parameter): string {
  if (values) return values.join(', ')
  if (type === 'uuid') return name === 'guild' ? 'uuid, prefix or exact name' : 'uuid or name'
  return examples[type] ?? type
}
