import type { Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { formatCsv, jsonRow } from '../../analytics/asking/rows-text.ts'
import { type Entity, entityOf, etagOf, keptBytes, sendEntity } from '../http/etag.ts'
import { type Build, createPageCache, shared } from '../http/page-cache.ts'
import { Problem } from '../http/problems.ts'
import { type Answer, type Asking, answer } from './answer.ts'
import { readRequest } from './arguments.ts'
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
    context.header('Vary', 'Accept')
    context.header('X-Robots-Tag', 'noindex')
    const type = accepts(context, {
      header: 'Accept',
      supports: ['application/json', 'text/csv'],
      default: 'application/json',
    })
    const make = () =>
      api.build(async () => {
        const found = await answer(api, question, request)
        const next = found.next === null ? null : nextPage(query, context.req.path, found.next)
        // What moves with the clock alone is no news: a client that has the rest gets a 304.
        const still = { ...found, rows: found.rows.map(({ age: _, ...row }) => row) }
        const stillText = documentOf(question.name, still, next)
        if (type === 'application/json') {
          const entity = entityOf(documentOf(question.name, found, next), type)
          return { entity: { ...entity, etag: etagOf(stillText, type) }, next }
        }
        const text = formatCsv(
          question.columns.map(({ name }) => name),
          found.rows,
        )
        const csv = 'text/csv; charset=utf-8; header=present'
        return { entity: { ...entityOf(text, csv), etag: etagOf(stillText, csv) }, next }
      })
    const { entity, next } = await answers(`${type} ${question.name} ${query}`, make)
    if (next !== null) context.header('Link', `<${next}>; rel="next"`)
    return await sendEntity(context, entity)
  })
  app.get('/api/:rest{.+}', () => {
    throw new Problem('not-found')
  })
}

function documentOf(question: string, found: Answer, next: string | null): string {
  const args = Object.fromEntries(found.arguments.map(({ name, value }) => [name, value]))
  return JSON.stringify({ question, arguments: args, rows: found.rows.map(jsonRow), next })
}

function nextPage(query: URLSearchParams, path: string, cursor: string): string {
  const following = new URLSearchParams(query)
  following.set('cursor', cursor)
  return `${path}?${following}`
}
