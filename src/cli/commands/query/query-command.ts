import { UsageError } from '../../../base/errors.ts'
import { didYouMean, nearest, unknownName } from '../../../base/text/nearest.ts'
import type { Database, Sql } from '../../../db/database.ts'
import { type Asked, readAsked, rowsOf, shownStatement, statementFor } from '../../../questions/asking/ask.ts'
import { AmbiguousName, checkNamed } from '../../../questions/asking/names.ts'
import { WrongArgument } from '../../../questions/asking/readable.ts'
import { formatCsv, formatJson, formatNdjson } from '../../../questions/asking/rows-text.ts'
import { givenWords } from '../../../questions/asking/words.ts'
import { byTopic, recorded, rest } from '../../../questions/catalogue.ts'
import { type ExampleValues, exampleOf, exampleValues } from '../../../questions/examples.ts'
import { callOf, type Question, readQuestions, usageOf } from '../../../questions/questions.ts'
import { nameFinders } from '../../../resources/key-names.ts'
import { type CommonFlags, type Context, rowLimit, showResult, tableWidth, withDatabase } from '../../context.ts'
import { refuseWith, refuseWithout } from '../../options.ts'
import { boldFirstLine, formatTable } from '../../output/table.ts'
import { flagNames, type QueryFlags } from './query-flags.ts'

/** `query [question] [args...]`: queries one view or function of schema `analytics`. */
export async function queryCommand(
  context: Context,
  flags: QueryFlags,
  name: string | undefined,
  given: readonly string[],
): Promise<void> {
  refuseFlags(given)
  refuseIdle(flags, name, context.flags)
  const work = async (db: Database): Promise<() => Promise<void>> => {
    const questions = await readQuestions(db)
    const width = tableWidth(context)
    if (flags.list || name === undefined) {
      const listed = flags.all ? questions : asked(questions)
      const values = await exampleValues(db)
      return () => showResult(context, { questions: listed }, questionList(listed, values, width))
    }
    const question = questions.find((candidate) => candidate.name === name)
    if (!question) throw new UsageError(unknownName('question', name, questions, 'wynnsync query --list'))
    if (flags.explain) {
      const about = await explained(db, question)
      return () => showResult(context, about, explanation(about, width))
    }
    const reading = { now: context.app.clock.now(), finders: nameFinders }
    const asking = async () => await readAsked(db, question, givenWords(question, given), reading)
    const read = await withHolders(asking()).catch(withUsage(question))
    return await runQuestion(db, question, read, flags, context)
  }
  const show = await withDatabase(context, 'query', work, { isInterruptible: true })
  // The database is closed by now: a reader may take hours, and the embedded one has one process.
  await show()
}

/** Flags that do not exist come as arguments, because `-7d` is one. */
function refuseFlags(given: readonly string[]): void {
  const flag = given.find((argument) => /^-(-|[a-z])/i.test(argument) && argument !== '-infinity')
  if (flag === undefined) return
  const similar = didYouMean(nearest(flag.split('=')[0] ?? '', flagNames))
  throw new UsageError(`unknown option '${flag}'${similar}\n(add --help for the flags and an example)`)
}

function refuseIdle(flags: QueryFlags, name: string | undefined, common: CommonFlags): void {
  if (flags.list && name !== undefined) throw new UsageError(`--list shows all questions: leave out ${name}, or --list`)
  refuseWithout(flags, '--csv', ['--raw'])
  if (name !== undefined) refuseWithout(flags, '--list', ['--all'])
  const idle = ['--csv', '--ndjson', '--sql', '--limit']
  refuseWith(flags, '--list', ['--explain', ...idle])
  refuseWith(flags, '--explain', idle)
  refuseWith({ ...flags, ...common }, '--json', ['--csv', '--ndjson', '--sql'])
  refuseWith(flags, '--sql', ['--csv', '--ndjson'])
  refuseWith(flags, '--ndjson', ['--csv'])
}

async function runQuestion(
  db: Database,
  question: Question,
  read: Asked,
  flags: QueryFlags,
  context: Context,
): Promise<() => Promise<void>> {
  const { out, err, flags: common } = context
  const asTable = !common.json && !flags.csv && !flags.ndjson
  const limit = rowLimit(context, flags.limit, asTable)
  if (flags.sql) {
    return async () => {
      out.write(`${shownStatement(statementFor(question, read, limit))}\n`)
      if (!common.quiet && flags.limit === undefined && limit > 0)
        err.write(`limit ${limit} is what a terminal shows; --limit 0 leaves it out\n`)
    }
  }
  // One row more than is shown: whether there are more.
  const statement = statementFor(question, read, limit > 0 ? limit + 1 : 0)
  const rows = await rowsOf(db, statement, read).catch(withUsage(question))
  if (rows.length === 0) await checkNamed(db, question, read.filters)
  const isEmpty = rows.length === 0 && !(await hasRuns(db))
  const shown = limit > 0 ? rows.slice(0, limit) : rows
  const columns = read.select.length > 0 ? read.select : question.columns.map((column) => column.name)
  return async () => {
    if (common.json) out.write(`${formatJson(shown)}\n`)
    else if (flags.ndjson) out.write(formatNdjson(shown))
    else if (flags.csv) out.writeData(formatCsv(columns, shown, flags))
    else {
      const table = formatTable(columns, shown, {
        width: tableWidth(context),
        readable: true,
        shownBy: '--wide, --csv or --json',
      })
      await showResult(context, undefined, table, boldFirstLine)
    }
    if (common.quiet) return
    if (rows.length > shown.length) err.write(`the first ${limit} rows; --limit 0 for all\n`)
    if (isEmpty) err.write('nothing was synced into this database yet: wynnsync sync\n')
  }
}

/** What was thrown; of an argument that is wrong with how the question is asked. */
function withUsage(question: Question): (error: unknown) => never {
  return (error) => {
    throw error instanceof WrongArgument ? new UsageError(`${error.message}\n${usageOf(question)}`) : error
  }
}

/** Raw, because drizzle would make every query start later. */
async function hasRuns(db: Database): Promise<boolean> {
  const [row] = await db.query<{ some: boolean }>('select exists (select from sync.run) as some')
  return row?.some === true
}

/** The same result; the error about a name that several have lists them in a table. */
export async function withHolders<T>(reading: Promise<T>): Promise<T> {
  return await reading.catch((error: unknown) => {
    if (!(error instanceof AmbiguousName)) throw error
    const hasPrefix = error.holders.some(({ prefix }) => prefix !== null)
    const columns = ['uuid', 'name', ...(hasPrefix ? ['prefix'] : []), 'since', 'until']
    throw new UsageError(`${error.message}:\n${formatTable(columns, error.holders)}`.trimEnd())
  })
}

/** What people ask: without the rows of each table, and what questions are made of. */
function asked(questions: readonly Question[]): Question[] {
  return byTopic(questions).flatMap(({ number, members }) =>
    number === rest.number || number === recorded.number ? [] : members,
  )
}

/** The questions by topic, each with an example and the first sentence of its comment. */
function questionList(questions: readonly Question[], values: ExampleValues, width?: number): string {
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
function explanation(
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
