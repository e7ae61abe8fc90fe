import type { Context, Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { shownArguments } from '../../questions/asking/ask.ts'
import { formatCsv, formatNdjson, jsonRow } from '../../questions/asking/rows-text.ts'
import type { Question } from '../../questions/questions.ts'
import { type Entity, entityOf, etagOf, keptBytes, sendEntity } from '../http/etag.ts'
import { type Build, createPageCache, shared } from '../http/page-cache.ts'
import { Problem } from '../http/problems.ts'
import { type Answer, type Asking, answer } from './answer.ts'
import { type Format, formats, readRequest } from './arguments.ts'
import { openApi } from './openapi.ts'
import type { Served } from './served-questions.ts'

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
