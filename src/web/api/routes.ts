import type { Hono } from 'hono'
import { accepts } from 'hono/accepts'
import { formatCsv, jsonRow } from '../../analytics/asking/rows-text.ts'
import { withEtag } from '../http/etag.ts'
import { Problem } from '../http/problems.ts'
import { type Answer, type Asking, answer } from './answer.ts'
import { readRequest } from './arguments.ts'
import { openApi } from './openapi.ts'
import type { Served } from './served-questions.ts'

export interface Api extends Asking {
  readonly served: Served
  readonly version: string
}

/** Adds `/api/v1/<question>` and `/openapi.json`. */
export function addApi(app: Hono, api: Api): void {
  app.get('/openapi.json', async (context) => {
    const document = openApi(await api.served.questions(), api.version)
    return withEtag(context, JSON.stringify(document), 'application/json')
  })
  app.get('/api/v1/:question', async (context) => {
    const question = await api.served.question(context.req.param('question'))
    const query = new URL(context.req.url).searchParams
    const found = await answer(api, question, readRequest(question, query))
    const next = found.next === null ? null : nextPage(query, context.req.path, found.next)
    if (next !== null) context.header('Link', `<${next}>; rel="next"`)
    context.header('Vary', 'Accept')
    const type = accepts(context, {
      header: 'Accept',
      supports: ['application/json', 'text/csv'],
      default: 'application/json',
    })
    if (type === 'application/json') return withEtag(context, documentOf(question.name, found, next), type)
    const columns = question.columns.map(({ name }) => name)
    return withEtag(context, formatCsv(columns, found.rows), 'text/csv; charset=utf-8; header=present')
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
