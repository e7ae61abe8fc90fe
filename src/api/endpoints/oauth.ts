import { RetryableError } from '../../base/errors.ts'
import type { CodeExchange } from '../auth/oauth.ts'
import { type CallOptions, type ReadableResponse, readObject } from '../call.ts'
import type { Transport } from '../http/transport.ts'
import { type Grant, parseGrant, parseToken, type Token } from '../schemas/oauth.ts'

/** What turns a code into a token. */
export interface TokenRequest extends CallOptions, Omit<CodeExchange, 'codeVerifier'> {
  /** `verifier` of `createPkce`; public applications must give it. */
  readonly codeVerifier?: string | undefined
}

/** OAuth (API reference 3.1). The page before it is the browser's business: see `authorizeUrl`. */
export function oauthEndpoints(transport: Transport) {
  return {
    /**
     * `POST /oauth/token`: exchanges a code for an access token, without the client's own credential. Sent once: repeated
     * only when the server could not be reached, because a code is used up by its first use. `access_token` in the body is not
     * enumerable: it shows in no log, no `JSON.stringify` and no `util.inspect`, and a spread leaves it behind.
     * @throws BadRequest, Unauthorized or Forbidden when code, secret or verifier are refused; RetryableError when the
     *   response was lost (the code may be used up then: log in again)
     */
    async token(request: TokenRequest): Promise<ReadableResponse<Token, Token>> {
      const { code, redirectUri, clientId, clientSecret, codeVerifier, ...call } = request
      const form = {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri,
        client_id: clientId,
        ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
        ...(codeVerifier === undefined ? {} : { code_verifier: codeVerifier }),
      }
      const secrets = [code, clientSecret, codeVerifier].filter((secret) => secret !== undefined)
      const route = '/oauth/token'
      const tokenRequest = { method: 'POST', route, form, secrets, credential: 'none', repeatable: false } as const
      const response = await readObject(transport, tokenRequest, call, parseToken)
      const { access_token } = response.body
      if (typeof access_token !== 'string' || access_token === '')
        throw new RetryableError(`unexpected shape: ${route} responded without an access token`)
      const token = Object.defineProperty(response.read(), 'access_token', { enumerable: false })
      return { ...response, body: token, read: () => token }
    },
    /**
     * `GET /oauth/me`: the application and the players of an OAuth access token, which must be the client's `token`.
     * @throws Unauthorized or Forbidden without one, with an API token, or when it has been revoked
     */
    me: (call: CallOptions = {}): Promise<ReadableResponse<Record<string, unknown>, Grant>> =>
      readObject(transport, { route: '/oauth/me', credential: 'required' }, call, parseGrant),
  }
}
