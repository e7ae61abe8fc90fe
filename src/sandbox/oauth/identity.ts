import { type ApiRequest, refuse } from '../http/answer.ts'
import type { IdentityDesk } from './desk.ts'
import { exchange } from './exchange.ts'

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
