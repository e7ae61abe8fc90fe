import { filterHelp, fittingOf } from '../../questions/asking/filters.ts'
import { byTopic } from '../../questions/catalogue.ts'
import type { Column, Parameter, Question } from '../../questions/questions.ts'
import { problems } from '../http/problems.ts'
import { formats, limits, type pagingNames } from './arguments.ts'

const problem = { $ref: '#/components/responses/problem' }
const text = { type: 'string' }
const number = { type: 'integer', minimum: 0 }

const parameter = (
  name: string,
  place: 'path' | 'query' | 'header',
  description: string,
  schema: Json = text,
): Json => ({
  name,
  in: place,
  required: place === 'path',
  description,
  schema,
})

interface Operation {
  readonly summary: string
  readonly [field: string]: unknown
}

function operation(
  id: string,
  tag: string,
  summary: string,
  type: string,
  schema: Json,
  parameters: Json[] = [],
): { readonly get: Operation } {
  const isCached = type !== 'text/event-stream'
  return {
    get: {
      operationId: id,
      tags: [tag],
      summary,
      parameters,
      responses: {
        200: { description: summary, content: { [type]: { schema } } },
        ...(isCached ? { 304: { $ref: '#/components/responses/notModified' } } : {}),
        default: problem,
      },
    },
  }
}

const atom = (id: string, summary: string, parameters: Json[] = []) =>
  operation(id, 'Feeds', summary, 'application/atom+xml', text, parameters)

const change = {
  type: 'object',
  required: ['number', 'writtenAt', 'event', 'resource', 'at'],
  properties: {
    number,
    writtenAt: { type: 'string', format: 'date-time' },
    event: {
      type: 'string',
      enum: ['change', 'guard', 'drift', 'failure', 'freshness', 'event soon', 'numbers', 'top'],
    },
    resource: text,
    key: { type: 'string', description: 'Of a worklist; never a player' },
    at: { type: 'string', format: 'date-time' },
    keys: { type: 'array', items: text, description: 'Records that appeared, changed or disappeared; at most 100' },
    concerns: { type: 'array', items: text, description: 'uuids of guilds that won or lost what was touched' },
    late: { const: true, description: 'It was no news when it was loaded' },
  },
}

const guild = 'uuid, prefix or exact name'

/** What openapi.json says of feeds and changes. */
const feedTags = ['Feeds', 'Changes'] as const

const feedPaths: Readonly<Record<string, { readonly get: Operation }>> = {
  '/feeds/captures.atom': atom('capturesFeed', 'Captures, of one guild where that is given', [
    parameter('guild', 'query', `By and from this guild: ${guild}`),
  ]),
  '/feeds/patches.atom': atom('patchesFeed', 'Updates of the game'),
  '/feeds/news.atom': atom('newsFeed', 'What the website published'),
  '/feeds/guilds/{guild}.atom': atom('guildFeed', 'Captures, joins and leaves of a guild', [
    parameter('guild', 'path', guild),
  ]),
  '/feeds/items/{item}.atom': atom('itemFeed', 'The revisions of an item', [
    parameter('item', 'path', 'Internal or display name'),
  ]),
  '/changes/sequence.json': operation('changeNumbers', 'Changes', 'The first and the last number', 'application/json', {
    type: 'object',
    required: ['first', 'last'],
    properties: { first: number, last: number },
  }),
  '/changes/{number}.json': operation(
    'change',
    'Changes',
    'One change; never another content',
    'application/json',
    change,
    [parameter('number', 'path', 'Its number; kept for a day', { ...number, minimum: 1 })],
  ),
  '/changes/stream': operation('changeStream', 'Changes', 'Changes as server-sent events', 'text/event-stream', text, [
    parameter('resource', 'query', 'Only this resource'),
    parameter('guild', 'query', `Only what concerns this guild: ${guild}`),
    parameter('Last-Event-ID', 'header', 'Number to resume after', number),
  ]),
}

/** The same paths, for people. */
export const feedList = Object.entries(feedPaths).map(([path, { get }]) => ({ path, summary: get.summary }))

type Json = Readonly<Record<string, unknown>>

const problemType = 'application/problem+json'

/** The description of the API (OpenAPI 3.1), made from the catalogue of the database. What many paths have is described once, by references. */
export function openApi(questions: readonly Question[], version: string): Json {
  const columns = columnSchemas(questions)
  return {
    openapi: '3.1.0',
    info: {
      title: 'wynnsync',
      version,
      summary: 'The kept history of the Wynncraft web API.',
      description: `Read-only. Every question and view of the schema analytics has a path. Names of guilds and players are resolved to uuids. Instants are ISO 8601 in UTC with milliseconds, and infinity; null is unknown. Each column is a filter, as PostgREST spells them: ${filterHelp}. What a column means is said of the rows. Unknown values fulfil no filter but is.null. Not affiliated with the makers of the game or of its API.`,
    },
    security: [{}, { bearer: [] }, { apiKey: [] }],
    tags: [...byTopic(questions).map(({ title }) => title), ...feedTags].map((name) => ({ name })),
    paths: {
      ...Object.fromEntries(
        byTopic(questions).flatMap(({ title, members }) =>
          members.map((one) => [`/api/v1/${one.name}`, { get: operationOf(one, title, columns.of) }]),
        ),
      ),
      ...feedPaths,
    },
    components: {
      securitySchemes: keySchemes,
      schemas: {
        problem: problemSchema,
        answer: answerSchema,
        ...pagingSchemas,
        ...filterSchemas(questions),
        ...columns.schemas,
      },
      headers: {
        etag: { schema: { type: 'string' } },
        link: { schema: { type: 'string' }, description: 'The next page, rel="next"' },
      },
      responses: {
        notModified: { description: 'The client has this answer already' },
        problem: {
          description: `A problem: ${Object.keys(problems).join(', ')}`,
          content: { [problemType]: { schema: schemaAt('problem') } },
        },
      },
    },
  }
}

const schemaAt = (name: string): Json => ({ $ref: `#/components/schemas/${name}` })

/** Both carry a key of `wynnsync web-key add`. */
const keySchemes = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A key with a limit of its own: ten times that of an address',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same key in another header' },
}

const problemSchema = {
  type: 'object',
  description: 'RFC 9457',
  required: ['type', 'title', 'status'],
  properties: {
    type: { type: 'string', enum: Object.keys(problems).map((name) => `/api#${name}`) },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    argument: { type: 'string', description: 'The argument that is wrong' },
    holders: { type: 'array', items: { type: 'object' }, description: 'Of an ambiguous name: all that have or had it' },
    similar: { type: 'array', items: { type: 'string' }, description: 'Of an unknown name: names that are like it' },
  },
}

/** The schema of a column, or where it stands. */
type SchemaOf = (column: Column) => Json

function operationOf(question: Question, tag: string, columnSchema: SchemaOf): Json {
  const { name, comment, parameters, columns } = question
  const summary = comment?.split(/(?<=\.) /)[0] ?? name
  const properties = Object.fromEntries(columns.map((one) => [one.name, columnSchema(one)]))
  return {
    operationId: name,
    tags: [tag],
    summary,
    ...(comment && comment !== summary && { description: comment }),
    parameters: [
      ...parameters.map(argumentOf),
      ...filtersOf(question).map((one) => inQuery(one.name, filterName(one))),
      ...Object.keys(pagingSchemas).map((one) => inQuery(one, one)),
    ],
    responses: {
      200: {
        description: 'Rows',
        headers: { ETag: { $ref: '#/components/headers/etag' }, Link: { $ref: '#/components/headers/link' } },
        content: {
          [formats.json]: { schema: { ...schemaAt('answer'), properties: { rows: { items: { properties } } } } },
          [formats.csv]: { schema: { type: 'string' } },
          [formats.ndjson]: { schema: { type: 'string' } },
        },
      },
      304: { $ref: '#/components/responses/notModified' },
      default: { $ref: '#/components/responses/problem' },
    },
  }
}

const inQuery = (name: string, schema: string): Json => ({ name, in: 'query', schema: schemaAt(schema) })

const isPeriodEnd = ({ name }: Parameter) => /^(from|to)_time$/.test(name)

export function isRequired(parameter: Parameter): boolean {
  return !parameter.optional && !isPeriodEnd(parameter)
}

function argumentOf(parameter: Parameter): Json {
  const { name, type, values } = parameter
  const isPeriod = isPeriodEnd(parameter)
  return {
    name,
    in: 'query',
    ...(isRequired(parameter) && { required: true }),
    description: `${meaningOf(name, type)}${isPeriod ? '; without from_time and to_time: the last seven days' : ''}`,
    schema: { type: type === 'integer' ? 'integer' : 'string', ...(values && { enum: values }) },
    ...argumentExamples(name, type),
  }
}

function argumentExamples(name: string, type: string): Json {
  if (type === 'timestamp with time zone') return { example: name === 'to_time' ? 'now' : '-1d' }
  return type === 'interval' ? { example: '1 day' } : {}
}

/** The columns that are filters: a parameter of the same name goes before a column. */
export function filtersOf({ parameters, columns }: Question): Column[] {
  return columns.filter(({ name }) => !parameters.some((one) => one.name === name))
}

/** A filter of each type, to look at. */
const filterExamples: Readonly<Record<string, string>> = {
  text: 'like.*a*',
  uuid: 'not.is.null',
  boolean: 'is.true',
  date: 'gte.2026-05-01',
  interval: 'gte.1 day',
  'timestamp with time zone': 'gte.-7d',
}

const filterName = ({ type }: Column) =>
  `filter_${type.replace('timestamp with time zone', 'instant').replace('[]', '_list').replace(/\W+/g, '_')}`

/** What a filter takes, by the type of its column. */
function filterSchemas(questions: readonly Question[]): Json {
  return Object.fromEntries(
    questions.flatMap(filtersOf).map((column) => {
      const { type } = column
      const description = `Filter of ${type} (${fittingOf(type)}).${type === 'uuid' ? ' A uuid or name.' : ''}`
      const example = filterExamples[type] ?? (/^(json|bytea)|\[\]$/.test(type) ? 'not.is.null' : 'gte.1')
      return [filterName(column), { type: 'string', description, examples: [example] }]
    }),
  )
}

export function meaningOf(name: string, type: string): string {
  if (type === 'uuid') return name === 'guild' ? 'uuid, prefix or exact name' : 'uuid or name'
  if (type === 'timestamp with time zone') return 'ISO 8601 (UTC), now, today, yesterday, -12h, -7d'
  return type === 'interval' ? 'a length of time: 1 hour, 1 day' : type
}

/** How many rows and columns are answered, in which order and format. */
const pagingSchemas = {
  limit: { type: 'integer', minimum: 1, maximum: limits.most, default: limits.usual, description: 'Rows of a page' },
  cursor: {
    type: 'string',
    description: 'Of the next page, from `next` or the Link header; with the same arguments',
  },
  order: {
    type: 'string',
    description:
      'Columns, each with .asc or .desc, .nullsfirst or .nullslast; asc or desc alone: all columns, from the first',
    examples: ['desc'],
  },
  select: { type: 'string', description: 'Only these columns, such as territory,guild_name' },
  format: { type: 'string', enum: Object.keys(formats), description: 'Without it, as the header Accept says' },
} satisfies Readonly<Record<(typeof pagingNames)[number], Json>>

/** What every document of rows has. */
const answerSchema = {
  type: 'object',
  required: ['question', 'arguments', 'rows', 'next'],
  properties: {
    question: { type: 'string' },
    arguments: {
      type: 'object',
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
      description: 'Arguments and filters as they were read; of several filters of a column all',
    },
    rows: { type: 'array', items: { type: 'object' } },
    next: { type: ['string', 'null'], description: 'Path of the next page' },
  },
}

/** The schemas of columns; one that several questions have, with one meaning, is a component of its name. */
function columnSchemas(questions: readonly Question[]): { readonly schemas: Json; readonly of: SchemaOf } {
  const keyOf = ({ name, type, comment, values }: Column) => JSON.stringify([name, type, comment, values])
  const times = new Map<string, number>()
  for (const key of questions.flatMap(({ columns }) => columns.map(keyOf))) times.set(key, (times.get(key) ?? 0) + 1)
  const ids = new Map<string, string>()
  const schemas: Record<string, Json> = {}
  for (const column of questions.flatMap(({ columns }) => columns)) {
    const key = keyOf(column)
    if (times.get(key) === 1 || ids.has(key)) continue
    const nth = [...ids.keys()].filter((one) => JSON.parse(one)[0] === column.name).length + 1
    const id = `column_${column.name}${nth === 1 ? '' : `.${nth}`}`
    ids.set(key, id)
    schemas[id] = schemaOf(column)
  }
  const of: SchemaOf = (column) => {
    const id = ids.get(keyOf(column))
    return id === undefined ? schemaOf(column) : schemaAt(id)
  }
  return { schemas, of }
}

const valueFormats: Readonly<Record<string, string>> = {
  uuid: 'uuid',
  date: 'date',
  'timestamp with time zone': 'date-time',
}

/** Whole numbers beyond 2^53 and the ends of time are texts. NULL is not known. */
function schemaOf({ type, comment, values }: Column): Json {
  const described = comment ? { description: comment } : {}
  if (values) return { type: ['string', 'null'], enum: [...values, null], ...described }
  if (/^jsonb?$/.test(type)) return described
  if (type.endsWith('[]')) return { type: ['array', 'null'], ...described }
  if (/^(smallint|integer|real|double precision)$/.test(type)) return { type: ['number', 'null'], ...described }
  if (/^(bigint|numeric)/.test(type)) return { type: ['number', 'string', 'null'], ...described }
  const format = valueFormats[type]
  return { type: [type === 'boolean' ? 'boolean' : 'string', 'null'], ...(format && { format }), ...described }
}
