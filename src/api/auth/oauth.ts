import { createHash, randomBytes as systemBytes, timingSafeEqual } from 'node:crypto'
import { FatalError, UsageError } from '../../base/errors.ts'
import { DEFAULT_BASE_URL } from '../http/request.ts'

/** Everything an application can ask a player for (API reference 3.1). `identify` identifies the player. */
export const SCOPES = [
  'identify',
  'main_access',
  'character_list_access',
  'character_data_access',
  'character_build_access',
  'online_status',
  'hunted_characters_access',
  'guild_history_access',
  'guild_high_ranked_access',
] as const

/** A scope of today, or any other name. */
export type Scope = (typeof SCOPES)[number] | (string & Record<never, never>)

/** Draws unpredictable bytes. */
export type RandomBytes = (size: number) => Uint8Array

/** Where the browser goes for the public service. Any other server has it at `<origin>/authorize`. */
const PUBLIC_AUTHORIZE_URL = 'https://wynncraft.com/authorize'

/** The parameters of the page where a player gives consent. */
export interface AuthorizeRequest {
  /** The page itself: `authorizeEndpoint(baseUrl)`. */
  readonly authorizeUrl: string
  readonly clientId: string
  /** Where the browser comes back to with `code` and `state`: https, or http on localhost or 127.0.0.1. */
  readonly redirectUri: string
  readonly scope: readonly Scope[]
  /** Drawn for this login alone; a redirect without it does not belong to the login. See `createState`. */
  readonly state: string
  /** `challenge` of `createPkce`. */
  readonly codeChallenge: string
}

/** A secret of this login, and what may be shown of it beforehand (PKCE, RFC 7636, method S256). */
export interface Pkce {
  /** Kept until the code is exchanged; 43 characters. */
  readonly verifier: string
  /** Its SHA-256, for the authorize URL. */
  readonly challenge: string
}

/**
 * The page where a player gives consent, for an API at `baseUrl`.
 * @throws UsageError when that is no URL
 */
export function authorizeEndpoint(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) throw new UsageError('the base URL must be a URL, such as https://api.wynncraft.com/v3')
  const { origin } = new URL(baseUrl)
  return origin === 'https://api.wynncraft.com' ? PUBLIC_AUTHORIZE_URL : `${origin}/authorize`
}

/**
 * The URL to open in the player's browser.
 * @throws UsageError when `authorizeUrl` is no URL
 */
export function authorizeUrl(request: AuthorizeRequest): string {
  if (!URL.canParse(request.authorizeUrl)) throw new UsageError('the authorize URL must be a URL')
  const url = new URL(request.authorizeUrl)
  const fields = {
    response_type: 'code',
    client_id: request.clientId,
    redirect_uri: request.redirectUri,
    scope: request.scope.join(' '),
    state: request.state,
    code_challenge: request.codeChallenge,
    code_challenge_method: 'S256',
  }
  for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, value)
  return url.href
}

/** Draws a PKCE pair; one for each login. */
export function createPkce(randomBytes: RandomBytes = systemBytes): Pkce {
  const verifier = Buffer.from(randomBytes(32)).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** Draws a `state`; one for each login. */
export function createState(randomBytes: RandomBytes = systemBytes): string {
  return Buffer.from(randomBytes(32)).toString('base64url')
}

/** What a login is for. */
export interface LoginRequest {
  /** Of the API; default the public service. */
  readonly baseUrl?: string | undefined
  readonly clientId: string
  /** Where the browser comes back to: https, or http on localhost or 127.0.0.1. */
  readonly redirectUri: string
  readonly scope: readonly Scope[]
  /** Private applications only. */
  readonly clientSecret?: string | undefined
}

/** A login under way. Its state and verifier stay inside. */
export interface Login {
  /** To open in the player's browser. */
  readonly url: string
  /**
   * What to give `oauth.token`, from the address that the browser came back to.
   * @throws FatalError when the player refused, or when the redirect does not belong to this login
   */
  exchange(redirectedTo: string | null): CodeExchange
}

/** A code and what proves that it belongs to this login. */
export interface CodeExchange {
  /** From the redirect; good once, for five minutes. */
  readonly code: string
  /** The one the browser was sent with. */
  readonly redirectUri: string
  readonly clientId: string
  /** Private applications only. */
  readonly clientSecret?: string | undefined
  readonly codeVerifier: string
}

/** Begins a login with PKCE and a state of its own; needs a browser, and a server at `redirectUri`. */
export function beginLogin(request: LoginRequest, randomBytes: RandomBytes = systemBytes): Login {
  const { baseUrl = DEFAULT_BASE_URL, clientId, redirectUri, scope, clientSecret } = request
  const state = createState(randomBytes)
  const { verifier, challenge } = createPkce(randomBytes)
  const page = authorizeEndpoint(baseUrl)
  const url = authorizeUrl({ authorizeUrl: page, clientId, redirectUri, scope, state, codeChallenge: challenge })

  function exchange(redirectedTo: string | null): CodeExchange {
    const fields = new URL(redirectedTo ?? '', redirectUri).searchParams
    if (!sameText(fields.get('state') ?? '', state))
      throw new FatalError('this redirect does not belong to the login: its state is another one, or none')
    const refused = fields.get('error')
    if (refused !== null)
      throw new FatalError(`the login was refused: ${refused} ${fields.get('error_description') ?? ''}`.trimEnd())
    const code = fields.get('code')
    if (code === null || code === '') throw new FatalError('the redirect carries no code')
    return { code, redirectUri, clientId, clientSecret, codeVerifier: verifier }
  }

  return { url, exchange }
}

/** Compares in constant time: digests have one length. */
export function sameText(actual: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(actual), digest(expected))
}
