import { ApiError, authorizeEndpoint, authorizeUrl, createPkce, createState, Unauthorized } from '../../../api/index.ts'
import { openApi } from '../../../app/app-api.ts'
import { FatalError, UsageError } from '../../../app/errors.ts'
import {
  type Credential,
  forgetCredential,
  normalBaseUrl,
  prepareToStore,
  readCredential,
  type StoredCredential,
  storeCredential,
} from '../../../app/stored-credential.ts'
import { wholeNumber } from '../../../app/whole-number.ts'
import { type Context, exitCode } from '../../context.ts'
import { askGrant, nameOf, primaryOf } from './auth-identity.ts'
import { awaitCode, listenForCode, oneLine } from './auth-listener.ts'
import { openBrowser } from './open-browser.ts'

export interface LoginOptions {
  readonly clientId: string
  readonly clientSecret?: string
  /** Each may hold several, separated by blanks or commas. */
  readonly scope?: readonly string[]
  readonly port?: string
  /** False: only print the address. */
  readonly browser?: boolean
}

export interface ExchangeOptions {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string
  readonly clientSecret?: string
  readonly codeVerifier?: string
}

/** `auth login`: OAuth in the browser, with PKCE and a redirect to this machine. Returns the exit code. */
export async function authLogin(options: LoginOptions, context: Context): Promise<number> {
  const { app, out, err, flags, signal } = context
  const { clientId } = options
  const port = options.port === undefined ? 0 : wholeNumber('--port', options.port, 65_535)
  prepareToStore(app.config.credentialsFile)
  const state = createState()
  const pkce = createPkce()
  const listener = await listenForCode({ port, state, onStray: (why) => err.write(`${why}\n`) })
  const { redirectUri } = listener
  let page = { status: 500, text: 'The login did not work. You can close this tab; the terminal tells more.' }
  try {
    const url = authorizeUrl({
      authorizeUrl: authorizeEndpoint(app.config.baseUrl),
      clientId,
      redirectUri,
      scope: scopesOf(options.scope),
      state,
      codeChallenge: pkce.challenge,
    })
    // One JSON document is all that may be on stdout.
    const said = flags.json ? err : out
    said.write(`Log in on this page, it comes back by itself:\n\n  ${url}\n\n`)
    if (options.browser !== false) openBrowser(url)
    const code = await awaitCode(listener, app.clock, signal)
    const clientSecret = options.clientSecret ?? app.config.clientSecret
    const stored = await obtain({ code, clientId, redirectUri, clientSecret, codeVerifier: pkce.verifier }, context)
    page = { status: 200, text: `wynnsync is logged in as ${oneLine(nameOf(stored.who))}. You can close this tab.` }
    tell(stored, context)
    return exitCode.done
  } catch (error) {
    if (error instanceof FatalError) {
      page = { status: 400, text: `The login did not work: ${oneLine(error.message)}\nYou can close this tab.` }
    }
    throw error
  } finally {
    await listener.close(page)
  }
}

/** `auth exchange`: a code that was obtained by hand. Returns the exit code. */
export async function authExchange(options: ExchangeOptions, context: Context): Promise<number> {
  const { config } = context.app
  const { code, clientId, redirectUri, codeVerifier, clientSecret = config.clientSecret } = options
  if (!URL.canParse(redirectUri)) throw new UsageError('--redirect-uri wants the address that the code was sent to')
  if (codeVerifier === undefined && clientSecret === undefined) {
    throw new UsageError(
      'a code is exchanged with --code-verifier (public applications), WYNNSYNC_CLIENT_SECRET (private ones), or both',
    )
  }
  prepareToStore(config.credentialsFile)
  tell(await obtain({ code, clientId, redirectUri, clientSecret, codeVerifier }, context), context)
  return exitCode.done
}

/** What goes to `POST /oauth/token`. */
interface Obtaining {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string
  readonly clientSecret: string | undefined
  readonly codeVerifier: string | undefined
}

/** What came back. */
interface Exchanged {
  readonly token: () => string
  readonly scopes: readonly string[]
}

/** Turns the code into a token, asks whose it is, and stores it. */
async function obtain(obtaining: Obtaining, context: Context): Promise<StoredCredential> {
  const { app } = context
  const { credentialsFile, baseUrl } = app.config
  const exchanged = await exchange(obtaining, context)
  const credential: StoredCredential = {
    kind: 'oauth',
    baseUrl: normalBaseUrl(baseUrl),
    scopes: exchanged.scopes,
    obtainedAt: new Date(app.clock.now()).toISOString(),
    lastUsedAt: null,
    who: null,
    token: exchanged.token,
  }
  const replaced = readReplaced(credentialsFile)
  // At once: the code is spent, so a token that is lost here takes another login.
  storeCredential(credentialsFile, credential)
  if (replaced !== null && replaced.baseUrl !== credential.baseUrl) {
    app.log.warn(`it replaces the stored credential for ${replaced.baseUrl}`)
  }
  const named = { ...credential, ...(await describe(exchanged, context)) }
  storeCredential(credentialsFile, named)
  return named
}

async function exchange(obtaining: Obtaining, { app, signal }: Context): Promise<Exchanged> {
  const api = openApi(app, null)
  try {
    const { access_token: token, scope } = (await api.oauth.token({ ...obtaining, signal })).read()
    return { token: () => token, scopes: (scope ?? '').split(' ').filter((one) => one !== '') }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const advice = 'a code is good once, for five minutes, and only with what it was asked for with; log in again'
    throw new FatalError(`the code was not accepted: ${error.message}; ${advice}`, {
      context: { path: error.path, status: error.status },
    })
  } finally {
    await api.close()
  }
}

/** Whose token it is and what it may do. When the service cannot say now, the token is kept all the same. */
async function describe({ token, scopes }: Exchanged, { app, signal }: Context) {
  const credential: Credential = { from: 'file', token, stored: null }
  const api = openApi(app, credential)
  try {
    const grant = await askGrant(api, signal)
    return { who: primaryOf(grant), scopes: grant.scopes.length > 0 ? grant.scopes : scopes }
  } catch (error) {
    if (error instanceof Unauthorized) {
      forgetCredential(app.config.credentialsFile)
      throw error
    }
    const why = error instanceof Error ? error.message : String(error)
    app.log.warn(`the token is stored; whose it is could not be asked: ${why}`)
    return { who: null, scopes }
  } finally {
    await api.close()
  }
}

/** What is about to be replaced; whatever is unusable will not be missed. */
function readReplaced(file: string): StoredCredential | null {
  try {
    return readCredential(file)
  } catch {
    return null
  }
}

/** `identify` is the least that lets the API say who somebody is. */
function scopesOf(given: readonly string[] = ['identify']): string[] {
  const scopes = given.flatMap((text) => text.split(/[\s,]+/)).filter((scope) => scope !== '')
  if (scopes.length === 0) throw new UsageError('--scope wants at least one scope, such as identify')
  return [...new Set(scopes)]
}

function tell(credential: StoredCredential, { app, out, flags }: Context): void {
  const { kind, baseUrl, scopes, obtainedAt, who } = credential
  const { credentialsFile: file } = app.config
  if (flags.json) out.write(`${JSON.stringify({ who, kind, scopes, baseUrl, obtainedAt, file })}\n`)
  else if (!flags.quiet) {
    out.write(`Logged in to ${baseUrl} as ${oneLine(nameOf(who))}, with ${oneLine(scopes.join(' ')) || 'no scope'}.\n`)
    out.write(`The token is kept in ${file}; sync uses it from now on.\n`)
  }
  if (app.config.token !== undefined) {
    app.log.warn('WYNNSYNC_TOKEN is set and goes before the stored token: unset it to use what you logged in for')
  }
}
