import { jsonRow } from '../../analytics/asking/rows-text.ts'
import type { Question } from '../../analytics/questions.ts'
import type { Asking } from '../api/answer.ts'
import { answer } from '../api/answer.ts'
import { readRequest } from '../api/arguments.ts'
import { openApi } from '../api/openapi.ts'
import type { Served } from '../api/served-questions.ts'

/** A question as a tool of an assistant. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [field: string]: unknown }
  readonly annotations: { readonly readOnlyHint: true; readonly openWorldHint: false }
}

/** What tools are made of. */
export interface ToolContext extends Asking {
  readonly served: Served
  readonly version: string
}

interface Operation {
  readonly summary: string
  readonly description?: string
  readonly parameters: readonly { name: string; required: boolean; description: string; schema: object }[]
}

/** Every question of the catalogue as a tool, with the arguments of the read API. */
export async function toolsOf({ served, version }: ToolContext): Promise<Tool[]> {
  const { paths } = openApi(await served.questions(), version) as { paths: Record<string, { get: Operation }> }
  return Object.entries(paths).map(([path, { get }]) => ({
    name: path.slice(path.lastIndexOf('/') + 1),
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
 * The answer of a tool as JSON: rows with what each column means (units too), the cursor of the next page, and how fresh and
 * complete what the database has is.
 * @throws Problem, UsageError when the arguments do not fit
 */
export async function callTool(context: ToolContext, name: string, given: object): Promise<string> {
  const question = await context.served.question(name)
  const query = new URLSearchParams()
  for (const [key, value] of Object.entries(given)) query.append(key, String(value))
  const { arguments: args, rows, next } = await answer(context, question, readRequest(question, query))
  const freshness = await context.served.question('freshness')
  const fresh = await answer(context, freshness, readRequest(freshness, new URLSearchParams()))
  return JSON.stringify({
    question: name,
    meaning: question.comment,
    arguments: Object.fromEntries(args.map((one) => [one.name, one.value])),
    columns: columnsOf(question),
    rows: rows.map(jsonRow),
    next,
    note: 'Times are UTC. null is unknown, never zero. coverage is the share (0 to 1) of the expected observations that exist.',
    freshness: fresh.rows.map(jsonRow),
  })
}

function columnsOf({ columns }: Question): Record<string, string> {
  return Object.fromEntries(columns.map(({ name, type, comment }) => [name, comment ?? type]))
}
