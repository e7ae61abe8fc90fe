import { createHash } from 'node:crypto'
import type { Context } from 'hono'
import { html, raw } from 'hono/html'
import { RetryableError, UsageError } from '../../base/errors.ts'
import { sqlState } from '../../db/sql-errors.ts'
import { AmbiguousName, UnknownName } from '../../questions/asking/names.ts'
import { WrongArgument } from '../../questions/asking/readable.ts'
import { jsonRow } from '../../questions/asking/rows-text.ts'
import { sendText } from './etag.ts'

/** What can be wrong with a request, by the name in the problem's type: status and title. */
export const problems = {
  'bad-argument': { status: 400, title: 'An argument is missing, unknown or cannot be read' },
  'wrong-key': { status: 401, title: 'There is no such key' },
  'people-not-shown': { status: 403, title: 'Answers about single players are not served here' },
  'wrong-origin': { status: 403, title: 'Requests of pages of this origin are not served' },
  'not-found': { status: 404, title: 'There is no such page' },
  'unknown-question': { status: 404, title: 'There is no such question' },
  'name-not-found': { status: 404, title: 'Nothing has or had this name' },
  'method-not-allowed': { status: 405, title: 'This method is not served here' },
  'ambiguous-name': { status: 409, title: 'Several have or had this name' },
  'wrong-host': { status: 421, title: 'Not served under this host name' },
  'too-many-requests': { status: 429, title: 'The request limit of this address or key is reached' },
  internal: { status: 500, title: 'The answer could not be made' },
  'other-version': { status: 503, title: 'The database has the views of another version of wynnsync' },
  'database-unavailable': { status: 503, title: 'The database is unavailable' },
  overloaded: { status: 503, title: 'Too many answers are being made' },
  'statement-timeout': { status: 503, title: 'The answer took too long' },
} as const

/** The last part of a problem's type. */
type ProblemName = keyof typeof problems

interface ProblemDetails {
  readonly detail?: string
  readonly [field: string]: unknown
}

/** A request that cannot be answered. */
export class Problem extends Error {
  readonly problem: ProblemName
  readonly details: ProblemDetails

  constructor(problem: ProblemName, details: ProblemDetails = {}) {
    super(details.detail ?? problems[problem].title)
    this.name = 'Problem'
    this.problem = problem
    this.details = details
  }
}

/** The problem as a document of RFC 9457. */
export function problemResponse(context: Context, { problem, details }: Problem, headers: Record<string, string> = {}) {
  const { status, title } = problems[problem]
  const document = { type: `/api#${problem}`, title, status, ...details }
  return context.body(JSON.stringify(document), status, { ...headers, 'content-type': 'application/problem+json' })
}

const css = `:root { color-scheme: light dark } body { margin: 0 auto; max-width: 720px; padding: 24px 16px; font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; color: light-dark(#1d1f21, #e4e4df); background: light-dark(#fcfcfa, #16181b) }
h1 { font-size: 25px; line-height: 1.2 } a { color: light-dark(#07578a, #8fc9f0) } header a { display: inline-block; margin-right: 14px } input, button { font: inherit; color: inherit; background: inherit; border: 1px solid; border-radius: 4px; padding: 4px 8px; max-width: 100% }`

/** Its style, and that the search of the page may be sent. */
const policy = [
  `default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'`,
  `style-src 'sha256-${createHash('sha256').update(css).digest('base64')}'`,
].join('; ')

/** The problem for a browser: small and without the database, since most who meet it are programs that try addresses. */
export async function problemPage(context: Context, { problem, details }: Problem): Promise<Response> {
  const { status, title } = problems[problem]
  const { pathname, searchParams } = new URL(context.req.url)
  const isTooLong = problem === 'statement-timeout' && searchParams.has('from')
  const detail = (
    details.detail ??
    (isTooLong
      ? 'It is too much for a page, or the database has much to do: choose a shorter period.'
      : status === 503
        ? 'Try again in a few seconds.'
        : status === 404
          ? 'Nothing has this address.'
          : `Status ${status}.`)
  ).slice(0, 300)
  const near = isTooLong ? [[pathname, 'The usual period'] as const] : nearOf(context.req.path, details)
  const sought = context.req.param('name')?.slice(0, 60)
  const text =
    await html`<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title} · wynnsync</title><style>${raw(css)}</style>
<header><a href="/"><b>wynnsync</b></a>${['map', 'guilds', 'items', 'status'].map((page) => html`<a href="/${page}">${page[0]?.toUpperCase()}${page.slice(1)}</a>`)}</header>
<main><h1>${title}</h1><p>${detail}</p>
${near.length > 0 ? html`<ul>${near.map(([path, text]) => html`<li><a href="${path}">${text}</a></li>`)}</ul>` : ''}
<form action="/search" role="search"><input type="search" name="q" value="${[404, 409].includes(status) ? sought : ''}" aria-label="Guild, item or territory"> <button>Search</button></form></main></html>
`
  context.header('Content-Security-Policy', policy)
  return await sendText(context, String(text), 'text/html; charset=UTF-8', status)
}

/** Of a page of one thing: those whose names are near, and those that all have the name; a few, by their paths. */
function nearOf(path: string, { similar, holders }: ProblemDetails): (readonly [string, string])[] {
  const [, folder = ''] = path.split('/')
  const at = (name: string) => `/${folder}/${encodeURIComponent(name)}`
  const named = Array.isArray(similar)
    ? similar.map((name) => [at(plainName(String(name))), String(name)] as const)
    : []
  const all = Array.isArray(holders) ? (holders as Readonly<Record<string, unknown>>[]) : []
  const held = new Map(
    all.map(
      ({ uuid, name, until }) =>
        [at(String(uuid)), `${name ?? uuid}${until ? `, once (${uuid})` : ` (${uuid})`}`] as const,
    ),
  )
  return [...named, ...held].slice(0, 5)
}

/** The name of `Name [prefix]`. */
function plainName(label: string): string {
  return label.replace(/ \[[^\]]*\]$/, '')
}

/** SQLSTATEs (PostgreSQL manual, appendix A): undefined_function, undefined_table, undefined_column. */
const NOT_THERE = new Set(['42883', '42P01', '42703'])

/** What a client learns of an error: of one of the server's own only that there was one. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof AmbiguousName)
    return new Problem('ambiguous-name', { detail: error.message, holders: error.holders.map(jsonRow) })
  if (error instanceof UnknownName)
    return new Problem('name-not-found', { detail: error.message, similar: error.similar })
  if (error instanceof WrongArgument && error.argument !== undefined)
    return new Problem('bad-argument', { detail: error.message, argument: error.argument })
  // Further lines say how the command is used.
  if (error instanceof UsageError) return new Problem('bad-argument', { detail: error.message.split('\n')[0] ?? '' })
  const state = sqlState(error) ?? ''
  // query_canceled
  if (state === '57014') return new Problem('statement-timeout')
  if (NOT_THERE.has(state))
    return new Problem('other-version', {
      detail: 'What this answer needs is not there: `wynnsync migrate` of this version installs it.',
    })
  return new Problem(error instanceof RetryableError ? 'database-unavailable' : 'internal')
}
