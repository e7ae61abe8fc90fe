import { createHash } from 'node:crypto'
import type { Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import * as z from 'zod'
import type { Clock } from '../../base/clock.ts'
import {
  type Asked,
  boundAsked,
  hasKeys,
  isUnreadable,
  KEYS,
  type Position,
  pageStatements,
  readAsked,
  readOrder,
  readSelect,
  rowsOf,
  shownArguments,
} from '../../questions/asking/ask.ts'
import { filterText, readFilters } from '../../questions/asking/filters.ts'
import { checkNamed, type NameFinders } from '../../questions/asking/names.ts'
import { WrongArgument } from '../../questions/asking/readable.ts'
import { cellOf, formatCsv, formatNdjson, jsonRow } from '../../questions/asking/rows-text.ts'
import { isAsked } from '../../questions/catalogue.ts'
import { type Question, readQuestions } from '../../questions/questions.ts'
import { type Entity, entityOf, etagOf, keptBytes, sendEntity } from '../http/etag.ts'
import { type Build, createPageCache, shared } from '../http/page-cache.ts'
import { Problem } from '../http/problems.ts'
import { isAboutPlayers } from '../people.ts'
import type { Reader } from '../reading.ts'
import { asGiven, type Format, formats, type Requested, readRequest } from './arguments.ts'
import { openApi } from './openapi.ts'

/** What a cursor holds: arguments and filters as they were read for the first page, so that `now` stays the same, and a position. */
const content = z.object({
  given: z.string(),
  arguments: z.array(z.tuple([z.string(), z.string()])),
  after: z.union([z.object({ keys: z.array(z.string().nullable()) }), z.object({ skip: z.int().min(0).max(1e9) })]),
})

/** Where the next page begins. */
interface Cursor {
  readonly asked: Pick<Asked, 'args' | 'filters'>
  readonly after: Position
}

function cursorText(question: Question, request: Requested, { asked, after }: Cursor): string {
  const pairs = [
    ...asked.args.map(({ name, value }) => [name, value]),
    ...asked.filters.map((one) => [one.name, filterText(one)]),
  ]
  const text = JSON.stringify({ given: digest(question, request), arguments: pairs, after })
  return Buffer.from(text).toString('base64url')
}

/** @throws Problem when it is none, or belongs to another question, other arguments or another order */
function readCursor(question: Question, request: Requested, text: string): Cursor {
  const read = content.safeParse(parsed(text))
  if (!read.success) throw unreadableCursor()
  if (read.data.given !== digest(question, request)) {
    throw new Problem('bad-argument', { detail: 'cursor belongs to other arguments', argument: 'cursor' })
  }
  return { asked: typed(question, read.data.arguments), after: read.data.after }
}

/** The problem with a cursor that this server did not make. */
function unreadableCursor(): Problem {
  return new Problem('bad-argument', { detail: 'cursor cannot be read', argument: 'cursor' })
}

/** Arguments in the order of the parameters, then filters. @throws Problem, WrongArgument when they do not fit */
function typed(question: Question, pairs: readonly (readonly [string, string])[]): Cursor['asked'] {
  const { parameters } = question
  const required = parameters.filter(({ optional }) => !optional).length
  const args = pairs.flatMap(([name, value], place) => {
    const one = parameters[place]
    return one?.name === name ? [{ name, type: one.type, value }] : []
  })
  if (args.length < required) throw unreadableCursor()
  // Its instants are no words any more.
  return { args, filters: readFilters(question, pairs.slice(args.length), 0) }
}

function parsed(text: string): unknown {
  try {
    const content = Buffer.from(text, 'base64url').toString()
    // Postgres has no place for it in a text.
    return content.includes('\\u0000') ? undefined : JSON.parse(content)
  } catch {
    return undefined
  }
}

function digest({ name }: Question, { given, order }: Requested): string {
  // Whoever asks for the next page may name them in another order.
  const pairs = given.map((one) => JSON.stringify(one)).sort()
  return createHash('sha256')
    .update(JSON.stringify(order === undefined ? [name, pairs] : [name, pairs, order]))
    .digest('base64url')
    .slice(0, 16)
}

interface Answer {
  /** As it was read: names as uuids, `now` and `-7d` as instants. */
  readonly asked: Asked
  readonly rows: readonly Record<string, unknown>[]
  /** Cursor of the next page; null on the last one. */
  readonly next: string | null
}

export interface Asking {
  readonly reader: Reader
  readonly finders: NameFinders
  readonly clock: Clock
}

const MINUTE = 60_000

/**
 * Asks one question. `now` is the last full minute, so that the same request has the same answer within it, and a client that has
 * it gets a 304.
 * @throws Problem, UsageError when the request does not fit
 */
export async function answer(
  { reader, finders, clock }: Asking,
  question: Question,
  request: Requested,
): Promise<Answer> {
  const { limit, order, select, cursor } = request
  const shape = {
    order: order === undefined ? [] : readOrder(question, order),
    select: select === undefined ? [] : readSelect(question, select),
  }
  const begun = cursor === undefined ? undefined : readBegun(question, request, cursor)
  const reading = { now: Math.floor(clock.now() / MINUTE) * MINUTE, finders }
  const { asked, found } = await (async () => {
    const asked = await reader.read((sql) =>
      begun
        ? boundAsked(sql, question, { ...begun.asked, ...shape })
        : readAsked(sql, question, asGiven(question, request), reading),
    )
    const found: Record<string, unknown>[] = []
    for (const statement of pageStatements(question, asked, { limit, after: begun?.after }))
      if (found.length <= limit) found.push(...(await reader.ask((sql) => rowsOf(sql, statement, asked))))
    return { asked, found }
  })().catch((error: unknown) => {
    // What it holds was read already, when the first page was asked for.
    throw begun && (error instanceof WrongArgument || isUnreadable(error)) ? unreadableCursor() : error
  })
  if (found.length === 0 && !begun) await reader.read((sql) => checkNamed(sql, question, asked.filters))
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const after =
    last && found.length > limit
      ? hasKeys(question, asked)
        ? { keys: cellOf(last, KEYS) as (string | null)[] }
        : { skip: skipped(begun?.after) + limit }
      : undefined
  return {
    asked,
    rows: rows.map((row) => withoutKeys(row)),
    next: after ? cursorText(question, request, { asked, after }) : null,
  }
}

function readBegun(question: Question, request: Requested, cursor: string) {
  try {
    return readCursor(question, request, cursor)
  } catch (error) {
    throw error instanceof WrongArgument ? unreadableCursor() : error
  }
}

function skipped(before: Position | undefined): number {
  return before && 'skip' in before ? before.skip : 0
}

function withoutKeys({ [KEYS]: _, ...row }: Record<string, unknown>): Record<string, unknown> {
  return row
}

interface Served {
  questions(): Promise<readonly Question[]>
  /** @throws Problem when there is none of this name, or it is about players and they are left out */
  question(name: string): Promise<Question>
}

/** How long the catalogue of the database is kept, ms: another version may replace the views. */
const CATALOGUE_KEPT_MS = 60_000

/**
 * The questions of the catalogue. What they are made of is left out.
 * @param people whether questions about single players are answered
 */
export function servedQuestions(reader: Reader, clock: Clock, people: boolean): Served {
  let kept: { readonly readAt: number; readonly all: Promise<readonly Question[]> } | undefined
  const read = async () => (await reader.read(readQuestions)).filter(isAsked)
  const all = () => {
    if (!kept || Math.abs(clock.now() - kept.readAt) >= CATALOGUE_KEPT_MS) {
      kept = { readAt: clock.now(), all: read() }
      kept.all.catch(() => {
        kept = undefined
      })
    }
    return kept.all
  }
  return {
    questions: async () => (await all()).filter((one) => people || !isAboutPlayers(one)),
    question: async (name) => {
      const found = (await all()).find((one) => one.name === name)
      if (!found)
        throw new Problem('unknown-question', { detail: 'openapi.json lists all', questions: '/openapi.json' })
      if (!people && isAboutPlayers(found))
        throw new Problem('people-not-shown', { detail: 'started with --no-people' })
      return found
    },
  }
}

export interface Api extends Asking {
  readonly served: Served
  readonly version: string
}

interface Response {
  readonly entity: Entity
  readonly next: string | null
}

/** Adds `/api/v1/<question>` and `/openapi.json`. */
export function addApi(app: Hono, api: Api & { readonly build: Build }): void {
  const document = createPageCache<Entity>(api.clock, { sizeOf: keptBytes })
  // Answers may name players.
  const answers = createPageCache<Response>(api.clock, { sizeOf: () => 0, ...shared })
  app.get('/openapi.json', async (context) => {
    const make = () =>
      api.build(async () =>
        entityOf(JSON.stringify(openApi(await api.served.questions(), api.version)), 'application/json'),
      )
    return await sendEntity(context, await document('', make))
  })
  app.get('/api/v1/:question', async (context) => {
    const question = await api.served.question(context.req.param('question'))
    const query = new URL(context.req.url).searchParams
    const request = readRequest(question, query)
    context.header('Vary', 'Accept', { append: true })
    context.header('X-Robots-Tag', 'noindex')
    const format = request.format ?? acceptedFormat(context)
    const make = () =>
      api.build(async () => {
        const found = await answer(api, question, request)
        const next = found.next === null ? null : nextPage(query, context.req.path, found.next)
        // What moves with the clock alone is no news: a client that has the rest gets a 304.
        const still = { ...found, rows: found.rows.map(({ age: _, ...row }) => row) }
        const stillText = documentOf(question.name, still, next)
        const entity = entityOf(...written(format, question, found, next))
        return { entity: { ...entity, etag: etagOf(stillText, entity.type) }, next }
      })
    const { entity, next } = await answers(`${format} ${question.name} ${query}`, make)
    if (next !== null) context.header('Link', `<${next}>; rel="next"`)
    return await sendEntity(context, entity)
  })
  app.get('/api/:rest{.+}', () => {
    throw new Problem('not-found')
  })
}

function acceptedFormat(context: Context): Format {
  const supports = Object.values(formats)
  const type = accepts(context, { header: 'Accept', supports, default: formats.json })
  return (Object.keys(formats) as Format[]).find((one) => formats[one] === type) ?? 'json'
}

/** The answer and its type. */
function written(format: Format, question: Question, found: Answer, next: string | null): [string, string] {
  if (format === 'json') return [documentOf(question.name, found, next), formats.json]
  if (format === 'ndjson') return [formatNdjson(found.rows), formats.ndjson]
  const { select } = found.asked
  const columns = select.length > 0 ? select : question.columns.map(({ name }) => name)
  return [formatCsv(columns, found.rows), `${formats.csv}; charset=utf-8; header=present`]
}

function documentOf(question: string, found: Answer, next: string | null): string {
  return JSON.stringify({ question, arguments: shownArguments(found.asked), rows: found.rows.map(jsonRow), next })
}

function nextPage(query: URLSearchParams, path: string, cursor: string): string {
  const following = new URLSearchParams(query)
  following.set('cursor', cursor)
  return `${path}?${following}`
}
