import { createHash } from 'node:crypto'
import type { SandboxOptions } from '../../../src/sandbox/index.ts'
import { given } from '../given.ts'

export const verifier = 'a-verifier-of-at-least-forty-three-letters.~_0'
export const challenge = createHash('sha256').update(verifier).digest('base64url')
export const redirectUri = 'http://127.0.0.1:45678/back'

type Fields = Readonly<Record<string, string | undefined>>

/** A sandbox with a small game, and the steps of logging in. A field set to undefined is left out. */
export async function givenLogin(options: Partial<SandboxOptions> = {}) {
  const { sandbox, clock, get } = await given({ game: { guilds: 90, players: 300 }, ...options })
  const origin = sandbox.url.replace('/v3', '')

  /** Asks the authorize page; the redirect is not followed. */
  async function authorize(changes: Fields = {}) {
    const fields = {
      response_type: 'code',
      client_id: 'sandbox',
      redirect_uri: redirectUri,
      scope: 'identify main_access',
      state: 'a state',
      code_challenge: challenge,
      code_challenge_method: 'S256',
      ...changes,
    }
    const answer = await fetch(`${origin}/authorize?${parameters(fields)}`, { redirect: 'manual' })
    const location = answer.headers.get('location')
    return { status: answer.status, location, back: new URL(location ?? 'http://nowhere').searchParams }
  }

  /** Exchanges a code, with the fields of the public client. */
  async function exchange(changes: Fields) {
    const fields = {
      grant_type: 'authorization_code',
      redirect_uri: redirectUri,
      client_id: 'sandbox',
      code_verifier: verifier,
      ...changes,
    }
    return get<Record<string, string>>('/oauth/token', { method: 'POST', body: parameters(fields) })
  }

  /** Logs a player in and gives the access token. */
  async function login(changes: Fields = {}): Promise<string> {
    const { back } = await authorize(changes)
    return (await exchange({ code: back.get('code') ?? '' })).body.access_token ?? ''
  }

  /** A control route of tokens. */
  async function control<Body = Record<string, string>>(method: string, body?: object) {
    const answer = await fetch(`${origin}/__sandbox/tokens`, { method, ...(body && { body: JSON.stringify(body) }) })
    const parsed: Body = JSON.parse(await answer.text())
    return { status: answer.status, body: parsed }
  }

  /** Asks with a credential. */
  const as = <Body = Record<string, unknown>>(token: string, path: string) =>
    get<Body>(path, { headers: { authorization: `Bearer ${token}` } })

  return { sandbox, clock, get, authorize, exchange, login, control, as }
}

function parameters(fields: Fields): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) parameters.set(name, value)
  return parameters
}
