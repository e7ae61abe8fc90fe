import { byTopic, recorded, rest } from '../../../analytics/catalogue.ts'
import { type ExampleValues, exampleOf, exampleValues } from '../../../analytics/examples.ts'
import { callOf, type Question } from '../../../analytics/questions.ts'
import type { Sql } from '../../../db/database.ts'
import { formatTable } from '../../output/table.ts'

/** What people ask: without the rows of each table, and what questions are made of. */
export function asked(questions: readonly Question[]): Question[] {
  return byTopic(questions).flatMap(({ number, members }) =>
    number === rest.number || number === recorded.number ? [] : members,
  )
}

/** The questions by topic, each with an example and the first sentence of its comment. */
export function questionList(questions: readonly Question[], values: ExampleValues, width?: number): string {
  const blocks = byTopic(questions).map(({ number, title, members }) => {
    const heading = /^\d/.test(number) ? `${number}. ${title}` : title
    const rows = members.map((question) => ({
      example: `  ${exampleOf(question, values).replace('wynnsync query ', '')}`,
      meaning: question.comment?.split(/(?<=\.) /)[0] ?? '',
    }))
    return `${heading}\n${formatTable(['example', 'meaning'], rows, { width, wraps: true }).replace(/^.*\n/, '')}`
  })
  return `${blocks.join('\n')}\nwynnsync query NAME ...; query NAME --explain shows its columns, by which rows are filtered and sorted\nquery --list --all also has the rows of each table, as they are recorded\n`
}

/** A question with everything about it. */
export async function explained(sql: Sql, question: Question) {
  const example = exampleOf(question, await exampleValues(sql))
  return { ...question, example, madeFrom: await tablesOf(sql, question.name) }
}

/** The same for a person. */
export function explanation(
  { madeFrom, example, ...question }: Awaited<ReturnType<typeof explained>>,
  width?: number,
): string {
  const columns = question.columns.map(({ name, type, comment }) => ({ column: name, type, meaning: comment ?? '' }))
  const hasMeanings = columns.some(({ meaning }) => meaning !== '')
  return [
    `${question.name}: ${question.comment ?? ''}\n`,
    `${callOf(question).join('\n')}\nexample: ${example}\n`,
    formatTable(['column', 'type', ...(hasMeanings ? ['meaning'] : [])], columns, { width, wraps: true }),
    `from: ${madeFrom.join(', ')}\n`,
  ].join('\n')
}

/** The tables from which a view or function is made, through whatever lies between. */
async function tablesOf(sql: Sql, name: string): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `with recursive made (class, id) as (
       select 'pg_class'::regclass::oid, oid from pg_class where relnamespace = 'analytics'::regnamespace and relname = $1
       union
       select 'pg_proc'::regclass::oid, oid from pg_proc where pronamespace = 'analytics'::regnamespace and proname = $1
       union
       select used.class, used.id
         from made
         cross join lateral (
           select refclassid as class, refobjid as id from pg_depend where classid = made.class and objid = made.id
            union all
           select refclassid, refobjid from pg_depend
             join pg_rewrite on classid = 'pg_rewrite'::regclass and objid = pg_rewrite.oid
            where made.class = 'pg_class'::regclass and ev_class = made.id
            union all
           -- What a function in PL/pgSQL names, or a statement in a string, is in its text alone.
           select found.class, found.id
             from pg_proc
            cross join lateral regexp_matches(pg_get_functiondef(pg_proc.oid), '\\m(analytics|game|sync)\\.(\\w+)', 'g') as named
            cross join lateral (select 'pg_proc'::regclass::oid as class, oid as id from pg_proc
                                 where named[1] = 'analytics' and pronamespace = 'analytics'::regnamespace and proname = named[2]
                                 union all
                                select 'pg_class'::regclass::oid, oid from pg_class
                                 where relnamespace = named[1]::regnamespace and relname = named[2]) found
            where made.class = 'pg_proc'::regclass and pg_proc.oid = made.id) used
        where used.class in ('pg_class'::regclass, 'pg_proc'::regclass)
     )
     select distinct (nspname || '.' || relname) collate "C" as name
       from made
       join pg_class on made.class = 'pg_class'::regclass and pg_class.oid = made.id
       join pg_namespace on pg_namespace.oid = relnamespace
      where nspname in ('game', 'sync') and relkind in ('r', 'p')
      order by 1`,
    [name],
  )
  return rows.map((row) => row.name)
}
