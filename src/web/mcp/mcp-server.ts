import { setImmediate } from 'node:timers/promises'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { nearest } from '../../base/text/nearest.ts'
import { arrayText } from '../../db/bulk/values.ts'
import { shownArguments } from '../../questions/asking/ask.ts'
import { filterHelp } from '../../questions/asking/filters.ts'
import { jsonRow } from '../../questions/asking/rows-text.ts'
import { coverageOf, sourcesOf } from '../../questions/asking/sources.ts'
import { unitOf } from '../../questions/asking/units.ts'
import { recordedIn } from '../../questions/catalogue.ts'
import type { Question } from '../../questions/questions.ts'
import { readRequest } from '../api/arguments.ts'
import { isRequired, meaningOf } from '../api/openapi.ts'
import { type Api, answer, servedQuestions } from '../api/routes.ts'
import { Problem, problemOf, problems } from '../http/problems.ts'
import { openReader } from '../reading.ts'
import type { WebContext, WebOptions } from '../web-server.ts'
import { type Asking, type Input, ready } from './ready-tools.ts'

/** What an assistant must know of every answer. */
const instructions = `The recorded history of the Wynncraft API. Three rules for every answer:
1. All times are UTC. Instants are ISO 8601, now, today, yesterday, -12h, -7d. Nothing is known of the future.
2. null is unknown, never zero or "no". quality exact is certain, at_least is a lower bound.
3. coverage (0 to 1) is the share of the expected observations that exist. Where it is low, or a row says "not observed", say so: what was not observed is unknown.
Rows are arrays in the order of columns. An answer has 25 rows and 20 kB at most; next is what to give to ask for more rows. Guilds are a uuid, prefix or exact name; players a uuid or name. Every other question: describe, then ask.`

/** What an answer has at most: rows without a limit, rows with one, and bytes of all of it. */
export const answerBounds = { usual: 25, most: 200, bytes: 20_000 } as const

interface Tool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [field: string]: unknown }
  readonly annotations: { readonly readOnlyHint: true; readonly openWorldHint: false }
}

/** A tool for each of what is asked most, one for every other question, and one that describes these. */
export async function toolsOf({ served }: Api): Promise<Tool[]> {
  const all = await served.questions()
  const names = new Set(all.map(({ name }) => name))
  const tools = ready.filter(({ needs }) => names.has(needs))
  return [
    ...tools.map((one) => toolOf(one.name, one.description, one.inputs)),
    toolOf(
      'describe',
      'What a question means: its arguments and columns, with types and units. Without a question: all questions, and the names of the rows of each table.',
      { question: { type: 'string' } },
    ),
    toolOf(
      'ask',
      `Every question by its name, also views of all tables as recorded (describe lists them). filters narrow down any column: ${filterHelp}; a list: all of them. Questions: ${listOf(all)}`,
      {
        question: { type: 'string', isNeeded: true },
        arguments: { type: 'object', about: 'by name; without from_time and to_time: the last 7 days' },
        filters: { type: 'object', about: '{"level":"gte.80","tier":"in.(mythic,fabled)"}' },
        order: { type: 'string', about: 'level.desc.nullslast,name' },
        select: { type: 'string', about: 'columns: name,level' },
        limit: { type: 'integer', about: `rows, at most ${answerBounds.most}` },
        cursor: { type: 'string', about: 'of next' },
      },
    ),
  ]
}

function toolOf(name: string, description: string, inputs: Readonly<Record<string, Input>>): Tool {
  const properties = Object.entries(inputs).map(([one, { type, about }]) => [
    one,
    { type, ...(about !== undefined && { description: about }) },
  ])
  const required = Object.keys(inputs).filter((one) => inputs[one]?.isNeeded)
  return {
    name,
    description,
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }
}

/** Functions with their arguments, and views by name. */
function listOf(questions: readonly Question[]): string {
  const asked = questions.filter((one) => recordedIn(one) === undefined)
  return asked.map((one) => `${one.name}${callOf(one)}`).join(', ')
}

function callOf({ kind, parameters }: Question): string {
  if (kind === 'view') return ''
  return `(${parameters.map((one) => (isRequired(one) ? one.name : `${one.name}?`)).join(',')})`
}

/**
 * The answer of a tool as JSON of at most 20 kB.
 * @throws Problem, UsageError when the arguments do not fit
 */
export async function callTool(context: Api, tool: string, given: object): Promise<string> {
  if (tool === 'describe') return JSON.stringify(await described(context, Reflect.get(given, 'question')))
  if (tool === 'ask') return JSON.stringify(await sectionOf(context, askingOf(given), answerBounds.bytes))
  const found = ready.find((one) => one.name === tool)
  if (!found) throw new Problem('unknown-question', { detail: `there is no tool ${tool}` })
  const { inputs } = found
  const wrong = Object.entries(given).find(([name, value]) => value !== null && !Object.hasOwn(inputs, name))
  if (wrong) {
    const detail = `${tool} has no argument ${wrong[0]}; there are: ${Object.keys(inputs).join(', ')}`
    throw new Problem('bad-argument', { detail, argument: wrong[0] })
  }
  const missing = Object.keys(inputs).find((one) => inputs[one]?.isNeeded && textIn(given, one) === undefined)
  if (missing !== undefined)
    throw new Problem('bad-argument', { detail: `${tool} needs the argument ${missing}`, argument: missing })
  const served = new Set((await context.served.questions()).map(({ name }) => name))
  const askings = found.ask((name) => textIn(given, name)).filter(({ question }) => served.has(question))
  const [only, ...others] = askings
  if (only && others.length === 0) return JSON.stringify(await sectionOf(context, only, answerBounds.bytes))
  const answers: object[] = []
  // One after the other: a call is one of the answers that are made at a time.
  for (const one of askings) answers.push(await sectionOf(context, one, answerBounds.bytes / askings.length - 50))
  return JSON.stringify({ answers })
}

function textIn(given: object, name: string): string | undefined {
  const value: unknown = Reflect.get(given, name)
  if (value === null || value === undefined || value === '') return undefined
  if (typeof value === 'object') {
    throw new Problem('bad-argument', { detail: `${name} takes one value`, argument: name })
  }
  return String(value)
}

/** What `ask` was given. */
function askingOf(given: object): Asking {
  const known = ['question', 'arguments', 'filters', 'order', 'select', 'limit', 'cursor']
  const wrong = Object.keys(given).find((one) => !known.includes(one))
  if (wrong !== undefined)
    throw new Problem('bad-argument', {
      detail: `ask has no argument ${wrong}; arguments holds those of the question`,
      argument: wrong,
    })
  const object = (name: string): object => {
    const value: unknown = Reflect.get(given, name) ?? {}
    if (typeof value === 'object' && !Array.isArray(value)) return value as object
    throw new Problem('bad-argument', { detail: `${name} is an object`, argument: name })
  }
  return {
    question: textIn(given, 'question') ?? '',
    arguments: { ...object('arguments') },
    filters: { ...object('filters') },
    order: textIn(given, 'order'),
    select: textIn(given, 'select'),
    limit: textIn(given, 'limit'),
    cursor: textIn(given, 'cursor'),
  }
}

/** One answer: rows as arrays under their columns, as many as fit. */
async function sectionOf(context: Api, asking: Asking, bytes: number): Promise<object> {
  const question = await questionOf(context, asking.question)
  const wanted = asking.limit === undefined ? answerBounds.usual : Number(asking.limit)
  const limit = Number.isInteger(wanted) && wanted > 0 ? Math.min(wanted, answerBounds.most) : asking.limit
  const whole = await askedWith(context, question, asking, String(limit))
  const rest = { ...whole.about, ...(await observed(context, question, whole.found.asked.args)) }
  const room =
    bytes - Buffer.byteLength(JSON.stringify({ ...rest, next: nextOf(asking, whole.found.next ?? 'x'.repeat(500)) }))
  let fitting = 0
  let used = 0
  for (const row of whole.rows) {
    used += Buffer.byteLength(JSON.stringify(row)) + 1
    if (used > room) break
    fitting++
  }
  if (fitting === whole.rows.length) return { ...rest, rows: whole.rows, next: nextOf(asking, whole.found.next) }
  // Its cursor is after the last row that fits.
  const part = await askedWith(context, question, asking, String(Math.max(1, fitting)))
  return { ...rest, rows: part.rows, next: nextOf(asking, part.found.next) }
}

async function askedWith(context: Api, question: Question, asking: Asking, limit: string) {
  const query = new URLSearchParams()
  for (const [name, value] of [...Object.entries(asking.arguments ?? {}), ...Object.entries(asking.filters ?? {})]) {
    for (const text of textsOf(question, name, value)) query.append(name, text)
  }
  for (const [name, text] of Object.entries({ ...shapeOf(asking), limit }))
    if (text !== undefined) query.set(name, text)
  const found = await answer(context, question, readRequest(question, query))
  const { select } = found.asked
  const columns = select.length > 0 ? select : question.columns.map(({ name }) => name)
  const most = Math.max(200, Math.floor(10_000 / columns.length))
  const rows = found.rows.map((row) => {
    const cells = jsonRow(row)
    return columns.map((name) => cut(cells[name], most))
  })
  const units = question.columns.flatMap((column) => {
    const unit = columns.includes(column.name) && !/^timestamp/.test(column.type) ? unitOf(column) : undefined
    return unit === undefined ? [] : [[column.name, unit]]
  })
  const args = Object.entries(shownArguments(found.asked)).map(([name, value]) => [name, cut(value, 200)])
  const about = {
    question: question.name,
    arguments: Object.fromEntries(args),
    columns,
    units: Object.fromEntries(units),
  }
  return { found, rows, about }
}

function shapeOf({ order, select, cursor }: Asking) {
  return { order, select, cursor }
}

/** What `ask` takes for the next rows; null after the last one. */
function nextOf({ limit, ...asking }: Asking, cursor: string | null): object | null {
  return cursor === null ? null : { ...asking, ...(limit !== undefined && { limit: Number(limit) }), cursor }
}

/** A value whose text is not longer than this; documents as text then. */
function cut(value: unknown, most: number): unknown {
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (Buffer.byteLength(text) <= most) return value
  return `${Buffer.from(text)
    .subarray(0, most)
    .toString()
    .replace(/\uFFFD$/, '')}... (cut; the read API has all)`
}

/**
 * The values of an argument or filter as text. A list is one value of a column that holds lists, and several filters of another one.
 * @throws Problem when it takes no such value
 */
function textsOf({ parameters, columns }: Question, name: string, value: unknown): string[] {
  if (value === null || value === undefined) return []
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return [String(value)]
  const type = [...parameters, ...columns].find((one) => one.name === name)?.type ?? ''
  if (/^jsonb?$/.test(type)) return [JSON.stringify(value)]
  const isArgument = parameters.some((one) => one.name === name)
  if (Array.isArray(value) && type.endsWith('[]')) return [arrayText(value)]
  if (Array.isArray(value) && !isArgument && value.every((one) => typeof one !== 'object')) return value.map(String)
  const detail = `${name} takes one value, not ${Array.isArray(value) ? 'a list' : 'an object'}`
  throw new Problem('bad-argument', { detail, argument: name })
}

/** How completely and how lately the resources of the question were observed. */
async function observed(context: Api, question: Question, args: Parameters<typeof coverageOf>[2]): Promise<object> {
  const sources = sourcesOf(question, args)
  if (sources.length === 0) return {}
  const covered = await context.reader.read((sql) => coverageOf(sql, question, args, context.clock.now()))
  const freshness = await context.served.question('freshness')
  const query = new URLSearchParams({
    resource: `in.(${sources.join(',')})`,
    select: 'resource,last_observed_at,is_late',
  })
  const { rows } = await answer(context, freshness, readRequest(freshness, query))
  return { coverage: covered.map(jsonRow), freshness: rows.map(jsonRow) }
}

/** @throws Problem with names that are like it */
async function questionOf({ served }: Api, name: string): Promise<Question> {
  return await served.question(name).catch(async (error: unknown) => {
    if (!(error instanceof Problem) || error.problem !== 'unknown-question') throw error
    const names = (await served.questions()).map((one) => one.name)
    throw new Problem('unknown-question', { detail: 'describe lists all questions', similar: nearest(name, names) })
  })
}

async function described(context: Api, name: unknown): Promise<object> {
  if (name === undefined || name === null || name === '') {
    const all = await context.served.questions()
    const first = ({ comment }: Question) => (comment?.split(/(?<=\.) /)[0] ?? '').slice(0, 160)
    return {
      questions: all
        .filter((one) => recordedIn(one) === undefined)
        .map((one) => [`${one.name}${callOf(one)}`, first(one)]),
      rowsOfTables: all
        .filter((one) => recordedIn(one) !== undefined)
        .map((one) => one.name)
        .join(' '),
    }
  }
  const { comment, parameters, columns, ...question } = await questionOf(context, String(name))
  return {
    question: question.name,
    meaning: comment,
    arguments: parameters.map((one) => ({
      name: one.name,
      meaning: meaningOf(one.name, one.type),
      needed: isRequired(one),
    })),
    columns: columns.map((one) => [one.name, unitOf(one) ?? one.type, one.comment ?? '']),
  }
}

type McpContext = Pick<WebContext, 'db' | 'finders' | 'clock'> & Pick<WebOptions, 'version' | 'people' | 'timeoutMs'>

/** `answered` resolves once nothing that was asked waits for its answer. */
function serverOf(api: Api): { readonly server: Server; answered(): Promise<void> } {
  const server = new Server({ name: 'wynnsync', version: api.version }, { capabilities: { tools: {} }, instructions })
  const answering = new Set<Promise<unknown>>()
  const during = <T>(made: Promise<T>): Promise<T> => {
    answering.add(made)
    const over = () => answering.delete(made)
    made.then(over, over)
    return made
  }
  const called = async (name: string, given: object) => {
    try {
      const text = await callTool(api, name, given)
      return { content: [{ type: 'text' as const, text }] }
    } catch (error) {
      const { problem, details } = problemOf(error)
      const text = JSON.stringify({ problem, title: problems[problem].title, ...details })
      return { content: [{ type: 'text' as const, text }], isError: true }
    }
  }
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: await during(toolsOf(api)) }))
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => during(called(params.name, params.arguments ?? {})))
  const answered = async () => {
    // Its handlers begin, and its answers are sent, a moment later.
    do {
      await Promise.allSettled(answering)
      await setImmediate()
    } while (answering.size > 0)
  }
  return { server, answered }
}

/**
 * Serves the questions as tools over stdin and stdout (Model Context Protocol).
 * @returns what ends it, and what resolves when the client ended it and all that it asked is answered
 */
export async function serveMcp({ db, finders, clock, version, people, timeoutMs }: McpContext) {
  const reader = await openReader(db, timeoutMs)
  const served = servedQuestions(reader, clock, people)
  const { server, answered } = serverOf({ reader, finders, clock, version, served })
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
    process.stdin.once('end', () => void setImmediate().then(answered).then(resolve))
  })
  await server.connect(new StdioServerTransport())
  return { ended, close: () => server.close() }
}

/** Answers one message over HTTP (Streamable HTTP); nothing is kept between two. */
export async function respondMcp(api: Api, request: Request): Promise<Response> {
  const { server } = serverOf(api)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  await server.connect(transport)
  try {
    return await transport.handleRequest(request)
  } finally {
    await server.close()
  }
}
