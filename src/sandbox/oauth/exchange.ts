import { createHash } from 'node:crypto'
import { type ApiRequest, type Refusal, refuse } from '../http/answer.ts'
import type { RegisteredClient } from './clients.ts'
import type { IdentityDesk } from './tokens.ts'

/**
 * `POST /oauth/token`: gives a token for a code (API reference 3.1). Only the known fields are read; each may be given once.
 * @param now ms of the sandbox clock
 */
function exchange(request: ApiRequest, now: number, { clients, codes, tokens }: IdentityDesk) {
  const { body, contentType = '' } = request
  if (!/^application\/x-www-form-urlencoded\b/i.test(contentType))
    return refuse.malformedPayload('Send a form: application/x-www-form-urlencoded.')
  const form = new URLSearchParams(body ?? '')
  const twice = [...form.keys()].find((name) => form.getAll(name).length > 1)
  if (twice !== undefined) return refuse.invalidForm(`${twice} was sent twice.`)
  if (form.get('grant_type') !== 'authorization_code')
    return refuse.invalidForm('grant_type must be authorization_code.')
  const client = clients.find(({ id }) => id === form.get('client_id'))
  if (!client) return refuse.invalidForm('client_id is not a registered application.')
  const unproven = checkSecret(client, form.get('client_secret'))
  if (unproven) return unproven

  const code = form.get('code') ?? ''
  const permission = codes.find(code, now)
  if (permission?.token !== undefined) {
    // A second use may be a stolen code: both lose their token.
    tokens.revoke(permission.token)
    return refuse.invalidForm('code was used before.')
  }
  if (!permission || permission.client !== client.id) return refuse.invalidForm('code is unknown or has expired.')
  if (permission.redirectUri !== form.get('redirect_uri'))
    return refuse.invalidForm('redirect_uri is not the one that was authorized.')
  const verifier = form.get('code_verifier')
  if (!provesChallenge(verifier, permission.challenge))
    return refuse.invalidForm('code_verifier does not match code_challenge.')

  const token = tokens.issueOAuth(client.id, permission.player, permission.scopes, now)
  codes.spend(code, token)
  return { access_token: token, token_type: 'bearer', scope: permission.scopes.join(' ') }
}

function checkSecret(client: RegisteredClient, sent: string | null): Refusal | undefined {
  if (client.secret === undefined)
    return sent === null ? undefined : refuse.invalidForm('A public application must not send client_secret.')
  if (sent === client.secret) return undefined
  return refuse.forbidden('client_secret is missing or wrong.')
}

/** PKCE with S256 (RFC 7636): a verifier is needed exactly when there was a challenge. */
function provesChallenge(verifier: string | null, challenge: string | undefined): boolean {
  if (verifier === null || challenge === undefined) return verifier === null && challenge === undefined
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return false
  return createHash('sha256').update(verifier).digest('base64url') === challenge
}

const methods: Readonly<Record<string, string>> = {
  '/oauth/token': 'POST',
  '/oauth/me': 'GET',
  '/player/whoami': 'GET',
}

/**
 * Answers `/oauth/token`, `/oauth/me` and `/player/whoami`, which are never cached (API reference 2.3, 3.1, 3.2).
 * @returns a body or a refusal; undefined for every other path
 */
export function answerIdentity(request: ApiRequest, now: number, parts: IdentityDesk): object | undefined {
  const { path, method, requester } = request
  const expected = methods[path]
  if (expected === undefined) return path.startsWith('/oauth/') ? refuse.notFound() : undefined
  if (method !== expected) return refuse.methodNotAllowed(method, expected)
  if (path === '/oauth/token') return exchange(request, now, parts)
  if (!requester) return refuse.invalidToken('Authentication credentials were not provided.')
  if (path === '/oauth/me' && requester.kind !== 'OAUTH')
    return refuse.forbidden('Only an OAuth access token is accepted here.')
  const profile = parts.people().profile(requester.player, now)
  if (!profile) return refuse.notFound()
  const { identity, accessRules } = profile
  if (path === '/player/whoami') return { [requester.player]: identity }
  const { online, nickname, ...shown } = identity
  return {
    application: { client_id: requester.client ?? '', scopes: requester.scopes ?? [] },
    profiles: { [requester.player]: { ...shown, primary: true, accessRules } },
  }
}
