import type { Context, Hono } from 'hono'
import { acceptsRedirect, knownScopes, parseScopes } from './clients.ts'
import type { IdentityDesk } from './tokens.ts'

/**
 * `GET /authorize`, next to the base path as on the website (API reference 3.1). There is no consent page: it redirects at once.
 * `sandbox_user=<username or uuid>` says who allows it, `sandbox_answer=deny` that it is not allowed. A wrong client or
 * redirect target is a 400 here, because a redirect there is not safe; every other error travels in the redirect.
 */
export function authorize(c: Context, parts: IdentityDesk): Response {
  const asked = new URL(c.req.url).searchParams
  const client = parts.clients.find(({ id }) => id === asked.get('client_id'))
  if (!client) return c.text('client_id is not a registered application.\n', 400)
  const redirectUri = asked.get('redirect_uri') ?? ''
  if (!acceptsRedirect(client, redirectUri))
    return c.text('redirect_uri must be registered, and https unless it is on localhost or 127.0.0.1.\n', 400)
  const back = (answer: Record<string, string>) => {
    const target = new URL(redirectUri)
    for (const [name, value] of Object.entries(answer)) target.searchParams.set(name, value)
    const state = asked.get('state')
    if (state !== null) target.searchParams.set('state', state)
    return c.redirect(target.href, 302)
  }
  const denied = (error: string, description: string) => back({ error, error_description: description })

  if (asked.get('response_type') !== 'code') return denied('unsupported_response_type', 'response_type must be code.')
  const scopes = parseScopes(asked.get('scope') ?? '')
  if (!scopes) return denied('invalid_scope', 'scope must be a space-separated list of known scopes.')
  const challenge = asked.get('code_challenge') ?? undefined
  if (challenge === undefined && client.secret === undefined)
    return denied('invalid_request', 'A public application must send code_challenge.')
  if (challenge !== undefined && asked.get('code_challenge_method') !== 'S256')
    return denied('invalid_request', 'code_challenge_method must be S256.')
  if (challenge !== undefined && !/^[\w-]{43}$/.test(challenge))
    return denied('invalid_request', 'code_challenge must be a SHA-256 in base64url.')
  if (asked.get('sandbox_answer') === 'deny') return denied('access_denied', 'The user denied the request.')

  const user = asked.get('sandbox_user')
  const player = user === null ? parts.people().anyone('') : parts.people().find(user)
  if (player === undefined) return c.text('sandbox_user is not the name of exactly one player.\n', 400)
  return back({
    code: parts.codes.issue({ client: client.id, redirectUri, player, scopes, challenge }, parts.clock.now()),
  })
}

/**
 * Routes for the tester: `POST /__sandbox/tokens` with `{kind: 'TOKEN' | 'OAUTH', player?, scopes?, client?}` ->
 * `{token, kind, player}` (kind default TOKEN, player by name or uuid, scopes a list; no scopes: everything);
 * `DELETE` with `{token}` or `{digest}` -> `{revoked}`, 404 when unknown; `GET` -> `{tokens: [...]}` with digests only.
 */
export function addTokenControl(app: Hono, { clock, tokens, people }: IdentityDesk): void {
  app.get('/__sandbox/tokens', (c) => c.json({ tokens: tokens.list() }))
  app.post('/__sandbox/tokens', async (c) => {
    const body: unknown = await c.req.json().catch(() => ({}))
    const { kind = 'TOKEN', player, scopes, client = 'sandbox' } = textFields(body)
    const owner = player === undefined ? people().anyone('') : people().find(player)
    if (owner === undefined) return c.json({ error: 'player is not the name of exactly one player.' }, 404)
    const allowed = scopes === undefined || scopes === '' ? [] : parseScopes(scopes)
    if (!allowed || (kind !== 'TOKEN' && kind !== 'OAUTH'))
      return c.json({ error: 'kind is TOKEN or OAUTH, scopes a list of known scopes.' }, 400)
    const token =
      kind === 'TOKEN'
        ? tokens.issueApi(owner, scopes === undefined ? undefined : allowed, clock.now())
        : tokens.issueOAuth(client, owner, scopes === undefined ? knownScopes : allowed, clock.now())
    return c.json({ token, kind, player: owner })
  })
  app.delete('/__sandbox/tokens', async (c) => {
    const body: unknown = await c.req.json().catch(() => ({}))
    const { token, digest } = textFields(body)
    const revoked = tokens.revoke(token ?? digest ?? '')
    return c.json({ revoked }, revoked ? 200 : 404)
  })
}

/** The fields of a body that are text, and lists of text joined by spaces. */
function textFields(body: unknown): Record<string, string | undefined> {
  if (typeof body !== 'object' || body === null) return {}
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name, Array.isArray(value) ? value.join(' ') : String(value)]),
  )
}
