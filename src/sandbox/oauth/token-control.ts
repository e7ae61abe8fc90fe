import type { Hono } from 'hono'
import { knownScopes, parseScopes } from './clients.ts'
import type { IdentityDesk } from './desk.ts'

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
