import { shownArguments } from '../../analytics/asking/ask.ts'
import { jsonRow } from '../../analytics/asking/rows-text.ts'
import { coverageOf, sourcesOf } from '../../analytics/asking/sources.ts'
import { unitOf } from '../../analytics/asking/units.ts'
import { recordedIn } from '../../analytics/catalogue.ts'
import type { Argument, Question } from '../../analytics/questions.ts'
import { arrayText } from '../../db/bulk/values.ts'
import { answer } from '../api/answer.ts'
import { limits, readRequest } from '../api/arguments.ts'
import { openApi } from '../api/openapi.ts'
import type { Api } from '../api/routes.ts'
import { Problem } from '../http/problems.ts'

interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [field: string]: unknown }
  readonly annotations: { readonly readOnlyHint: true; readonly openWorldHint: false }
}

interface Operation {
  readonly summary: string
  readonly description?: string
  readonly parameters: readonly { name: string; required: boolean; description: string; schema: object }[]
}

/** Paths of questions; feeds and change files are described in the same document. */
const questions = '/api/v1/'

/** The tool that asks for rows as they are recorded. */
const ROWS = 'recorded_rows'

/** Every question as a tool, with the arguments of the read API, and one tool for the rows of all tables. */
export async function toolsOf({ served, version }: Api): Promise<Tool[]> {
  const all = await served.questions()
  const asked = all.filter((one) => recordedIn(one) === undefined)
  const { paths } = openApi(asked, version) as { paths: Record<string, { get: Operation }> }
  return [...questionTools(paths), rowsTool(all.filter((one) => recordedIn(one) !== undefined).map(({ name }) => name))]
}

function rowsTool(views: readonly string[]): Tool {
  return {
    name: ROWS,
    title: 'Rows of a table, as they are recorded',
    description:
      'For what no other tool answers. A view named as a table has its current rows, one that ends with _history or _sample also those of the past. The answer says what its columns mean; ask with limit 1 to see them.',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['view'],
      properties: {
        view: { type: 'string', enum: views },
        where: { type: 'object', description: 'The value that each of these columns has', additionalProperties: true },
        limit: { type: 'integer', minimum: 1, maximum: limits.most, default: limits.usual },
        cursor: { type: 'string', description: 'next of the answer before' },
      },
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }
}

function questionTools(paths: Record<string, { get: Operation }>): Tool[] {
  return Object.entries(paths)
    .filter(([path]) => path.startsWith(questions))
    .map(([path, { get }]) => ({
      name: path.slice(questions.length),
      title: get.summary,
      description: get.description ?? get.summary,
      inputSchema: {
        type: 'object',
        additionalProperties: false,
        required: get.parameters.filter(({ required }) => required).map(({ name }) => name),
        properties: Object.fromEntries(
          get.parameters.map(({ name, description, schema }) => [name, { ...schema, description }]),
        ),
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    }))
}

/**
 * The answer of a tool as JSON: rows with what each column means and its unit, the cursor of the next page, and how completely and
 * how lately the resources of the question were observed.
 * @throws Problem, UsageError when the arguments do not fit
 */
export async function callTool(context: Api, tool: string, all: object): Promise<string> {
  const { name, given } = tool === ROWS ? rowsAsked(all) : { name: tool, given: all }
  const question = await context.served.question(name)
  const query = new URLSearchParams(
    Object.entries(given).flatMap(([key, value]): [string, string][] => {
      const text = textOf(question, key, value)
      return text === undefined ? [] : [[key, text]]
    }),
  )
  const { asked, rows, next } = await answer(context, question, readRequest(question, query))
  const covered = await context.reader.read((sql) => coverageOf(sql, question, asked.args, context.clock.now()))
  return JSON.stringify({
    question: name,
    meaning: question.comment,
    arguments: shownArguments(asked),
    columns: columnsOf(question),
    units: unitsOf(question),
    rows: rows.map(jsonRow),
    next,
    note: 'Times are UTC. null is unknown, never zero. coverage is the share (0 to 1) of the expected observations that exist.',
    coverage: covered.map(jsonRow),
    freshness: await freshnessOf(context, question, asked.args),
  })
}

/** The view that `recorded_rows` asks, and its arguments. */
function rowsAsked({ view, where, ...paging }: { view?: unknown; where?: unknown }) {
  const filters = typeof where === 'object' && where !== null ? where : {}
  return { name: String(view), given: { ...filters, ...paging } }
}

/**
 * An argument as text; undefined: it is left out. A list is one of a column that holds lists, never several values of one.
 * @throws Problem when the argument takes no such value
 */
function textOf({ parameters, columns }: Question, name: string, value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  const type = [...parameters, ...columns].find((one) => one.name === name)?.type ?? ''
  if (/^jsonb?$/.test(type)) return JSON.stringify(value)
  if (Array.isArray(value) && type.endsWith('[]')) return arrayText(value)
  const detail = `${name} takes one value, not ${Array.isArray(value) ? 'a list' : 'an object'}: ask once for each`
  throw new Problem('bad-argument', { detail, argument: name })
}

/** The rows of `freshness` about the resources that the question reads. */
async function freshnessOf(context: Api, question: Question, args: readonly Argument[]): Promise<object[]> {
  const sources = sourcesOf(question, args)
  if (sources.length === 0) return []
  const freshness = await context.served.question('freshness')
  const { rows } = await answer(context, freshness, readRequest(freshness, new URLSearchParams()))
  return rows.map(jsonRow).filter(({ resource }) => sources.includes(String(resource)))
}

function columnsOf({ columns }: Question): Record<string, string> {
  return Object.fromEntries(columns.map(({ name, type, comment }) => [name, comment ?? type]))
}

function unitsOf({ columns }: Question): Record<string, string> {
  return Object.fromEntries(
    columns.flatMap((column) => {
      const unit = unitOf(column)
      return unit === undefined ? [] : [[column.name, unit]]
    }),
  )
}
