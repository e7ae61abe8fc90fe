import type { HttpBindings } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { type Context, Hono } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import * as z from 'zod'
import { decodedPath } from '../../api/schemas/recordings/recording-index.ts'
import type { MovableClock } from '../clock.ts'
import { addFaultControl, deliver, type Faults } from '../faults/index.ts'
import type { Game } from '../game/game.ts'
import { addTokenControl, authorize } from '../oauth/authorize.ts'
import { answerIdentity } from '../oauth/exchange.ts'
import type { IdentityDesk } from '../oauth/tokens.ts'
import {
  type AnswerHook,
  type AnswerSource,
  type ApiRequest,
  type Copy,
  type HookAnswer,
  isRefusal,
  type Refusal,
  refuse,
} from './answer.ts'
import {
  type Allowance,
  type Bucket,
  bucketOf,
  type Credential,
  createBudget,
  credentialOf,
  type Limits,
  type ResetForm,
  rateLimitHeaders,
} from './request-budget.ts'
import { ttlOf } from './ttl.ts'

/** One request as the sandbox saw it. Never holds a credential, only its kind. */
export interface LogEntry {
  /** Sandbox clock, ms since the epoch. */
  readonly at: number
  readonly method: string
  /** Below the base path. */
  readonly path: string
  /** Without `?`. */
  readonly query: string
  readonly status: number
  readonly bucket: Bucket
  readonly credentialKind: Credential['kind']
}

/** The newest requests, and counts of all of them. @param keep how many entries stay in memory; the counts are kept for ever */
export function createJournal(keep = 20_000) {
  const entries: LogEntry[] = []
  const byPath = new Map<string, Map<string, number>>()
  let total = 0
  return {
    entries,
    write(entry: LogEntry): void {
      entries.push(entry)
      // In batches, because removing from the front moves every entry.
      if (entries.length >= keep * 2) entries.splice(0, keep)
      const counts = byPath.get(entry.path) ?? new Map<string, number>()
      counts.set(String(entry.status), (counts.get(String(entry.status)) ?? 0) + 1)
      byPath.set(entry.path, counts)
      total += 1
    },
    /** `{total, byPath: {path: {status: n}}}` of everything ever written. */
    counts: () => ({
      total,
      byPath: Object.fromEntries([...byPath].map(([path, counts]) => [path, Object.fromEntries(counts)])),
    }),
  }
}

type Journal = ReturnType<typeof createJournal>

/**
 * Routes for the tester, outside the API and free of its budget:
 * `GET /__sandbox/clock` -> `{now}`; `PUT /__sandbox/clock` with `{now: ISO}`, `{advanceSeconds: n}` or, of recordings,
 * `{next: path}` (to the path's next recorded response) -> `{now}`; 409 when that would go back, 404 when none comes; `GET /__sandbox/requests` -> `{total, byPath: {path: {status: n}}}`;
 * `GET /__sandbox/history?from&to` (ISO, both optional, [from, to)) -> the true history of the game;
 * `GET /__sandbox/counter?player&name&at` -> `{value}`, null when unknown.
 */
function addControl(app: Hono, clock: MovableClock, journal: Journal, { game: openGame, nextInstant }: Shown): void {
  const show = () => ({ now: new Date(clock.now()).toISOString() })
  app.get('/__sandbox/clock', (c) => c.json(show()))
  app.put('/__sandbox/clock', async (c) => {
    const { next: path, now, advanceSeconds } = clockForm.parse(await c.req.json().catch(() => undefined))
    const next = path === undefined ? undefined : nextInstant?.(path, clock.now())
    if (path !== undefined && next === undefined)
      return c.json({ error: `No later answer of ${path}.`, ...show() }, 404)
    const asked = advanceSeconds === undefined ? Date.parse(now ?? '') : clock.now() + advanceSeconds * 1000
    const instant = next ?? asked
    if (Number.isNaN(instant)) return c.json({ error: 'Send {"now": ISO instant} or {"advanceSeconds": number}.' }, 400)
    if (instant < clock.now()) return c.json({ error: 'The clock does not go back.', ...show() }, 409)
    await clock.moveTo(instant)
    return c.json(show())
  })
  app.get('/__sandbox/requests', (c) => c.json(journal.counts()))
  if (!openGame) return
  app.get('/__sandbox/history', (c) => {
    const game = openGame()
    const now = game.advanceTo(clock.now())
    const { from, to } = c.req.query()
    const bounds = [from === undefined ? 0 : Date.parse(from), to === undefined ? now + 1 : Date.parse(to)] as const
    if (bounds.some(Number.isNaN)) return c.json({ error: 'from and to are ISO instants.' }, 400)
    return c.json(game.history(...bounds))
  })
  app.get('/__sandbox/counter', (c) => {
    const { player = '', name = '', at = '' } = c.req.query()
    const game = openGame()
    const now = game.advanceTo(clock.now())
    const value = game.counterAt(player, name, at === '' ? now : Date.parse(at))
    return c.json({ value: value ?? null })
  })
}

/** What the sandbox can show besides its clock and its journal. */
export interface Shown {
  /** The living world; undefined when there is none. */
  readonly game?: (() => Game) | undefined
  /** When a path's answer changes next after an instant; undefined when never. */
  readonly nextInstant?: ((path: string, after: number) => number | undefined) | undefined
}

/** What the clock is to be set to; a field of another type counts as absent. */
const clockForm = z
  .object({
    next: z.string().optional().catch(undefined),
    now: z.string().optional().catch(undefined),
    advanceSeconds: z.number().optional().catch(undefined),
  })
  .catch({})

interface SandboxParts extends Shown {
  readonly clock: MovableClock
  readonly source: AnswerSource
  readonly journal: Journal
  /** Replacements of single routes, by path. */
  readonly hooks: ReadonlyMap<string, AnswerHook>
  readonly limits: Limits
  readonly windowSeconds: number
  readonly resetForm: ResetForm
  readonly desk: IdentityDesk
  /** How long each API answer takes, ms of the sandbox clock. */
  readonly latencyMs: number
  readonly faults: Faults
}

const apiPath = '/v3'
const release = 'v3.7.2'

/** The routes: the API below `/v3`, the controls of the sandbox itself below `/__sandbox`. */
export function sandboxApp(parts: SandboxParts): Hono {
  const { clock, journal, faults, desk } = parts
  const spend = createBudget(parts.limits, parts.windowSeconds)
  const app = new Hono()
  addControl(app, clock, journal, parts)
  app.get('/authorize', (c) => authorize(c, desk))
  addTokenControl(app, desk)
  addFaultControl(app, faults, clock)

  app.all(`${apiPath}/*`, async (c) => {
    const url = new URL(c.req.url)
    const { method } = c.req
    const address = getConnInfo(c).remote.address ?? 'unknown'
    const at = clock.now()
    const credential = credentialOf(c.req.header('authorization'), address, (token) => desk.tokens.use(token, at))
    const request = {
      // A HEAD is a GET whose body is left out at the end.
      method: method === 'HEAD' ? 'GET' : method,
      path: decodedPath(url.pathname.slice(apiPath.length)),
      query: url.searchParams,
      body: (await c.req.text()) || undefined,
      contentType: c.req.header('content-type'),
      requester: credential.requester,
    }
    const bucket = bucketOf(request.path)
    const allowance = spend(credential, bucket, at)
    const response = await respond(c, request, credential, allowance).catch((failure: unknown) => {
      const detail = failure instanceof Error ? failure.message : String(failure)
      return c.json({ error: 'InternalError', detail, code: 500 }, 500)
    })
    const hasCredential = c.req.header('authorization') !== undefined
    const spoilt = await faults.strike(response, { ...request, requester: credential.id, hasCredential }, clock.now())
    journal.write({
      at,
      method,
      path: request.path,
      query: url.search.slice(1),
      status: (spoilt ?? response).status,
      bucket,
      credentialKind: credential.kind,
    })
    return spoilt ? deliver(spoilt, c.env as HttpBindings, clock) : response
  })
  app.notFound((c) => c.json({ error: 'NotFound', detail: `Everything is below ${apiPath}.`, code: 404 }, 404))
  return app

  async function respond(
    c: Context,
    request: ApiRequest,
    credential: Credential,
    allowance: Allowance,
  ): Promise<Response> {
    if (parts.latencyMs > 0) await clock.sleep(parts.latencyMs)
    const now = clock.now()
    c.header('Date', new Date(now).toUTCString())
    c.header('Version', release)
    for (const [name, value] of Object.entries(rateLimitHeaders(allowance, parts.resetForm, now))) c.header(name, value)

    const refusal = turnedAway(credential, allowance)
    if (refusal) return sendRefusal(c, refusal)
    addIdentity(c, credential)

    const hooked = await parts.hooks.get(request.path)?.({ ...request, headers: c.req.header(), now })
    if (hooked) return replace(c, hooked, request.path, now)
    const personal = answerIdentity(request, now, desk)
    if (personal)
      return isRefusal(personal) ? sendRefusal(c, personal) : c.json(personal, 200, { 'Cache-Control': 'no-store' })
    const answer = parts.source.answer(request, now)
    return isRefusal(answer) ? sendRefusal(c, answer) : send(c, answer, now)
  }
}

/** Why a request is refused before anybody looks at its path, if it is. */
function turnedAway(credential: Credential, allowance: Allowance): Refusal | undefined {
  if (allowance.exceeded)
    return { status: 429, error: 'TooManyRequest', detail: `Request limit of bucket ${allowance.bucket} exceeded.` }
  if (credential.malformed)
    return { status: 401, error: 'MalformedTokenError', detail: 'The Authorization header must be "Bearer <token>".' }
  if (credential.kind === 'invalid') return refuse.invalidToken('The provided token is invalid.')
  return undefined
}

function sendRefusal(c: Context, { status, error, detail, objects, allow = 'GET, HEAD' }: Refusal): Response {
  if (status === 405) c.header('Allow', allow)
  return c.json({ error, detail, code: status, ...(objects ? { objects } : {}) }, status)
}

function addIdentity(c: Context, { requester }: Credential): void {
  if (!requester) return
  c.header('UserType', requester.kind)
  c.header('UserID', requester.player)
}

function addCacheHeaders(c: Context, producedAt: number, maxAge: number, personal = false): void {
  c.header('Cache-Control', `max-age=${maxAge}`)
  c.header('Expires', new Date(producedAt + maxAge * 1000).toUTCString())
  c.header('Cache-Source', personal ? 'USER' : 'SHARED')
}

function send(c: Context, copy: Copy, now: number): Response {
  // A recorded response that has expired comes as it came then.
  if (now > copy.producedAt + copy.maxAge * 1000) c.header('Date', new Date(copy.producedAt).toUTCString())
  c.header('Content-Type', 'application/json')
  c.header('Vary', 'Accept-Encoding')
  for (const [name, value] of Object.entries(copy.headers)) c.header(name, value)
  addCacheHeaders(c, copy.producedAt, copy.maxAge, copy.personal)
  if (!/\bgzip\b/.test(c.req.header('accept-encoding') ?? '') || copy.plain().length <= 1000)
    return c.body(copy.plain())
  c.header('Content-Encoding', 'gzip')
  return c.body(copy.gzip())
}

function replace(c: Context, hooked: HookAnswer, path: string, now: number): Response {
  const { status = 200, headers = {}, body } = hooked
  c.header('Content-Type', 'application/json')
  if (status === 200) addCacheHeaders(c, Math.floor(now / 1000) * 1000, ttlOf(path))
  for (const [name, value] of Object.entries(headers)) c.header(name, value ?? undefined)
  c.status(status as StatusCode)
  if (typeof body === 'string') return c.body(body)
  return c.body(body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body))
}
