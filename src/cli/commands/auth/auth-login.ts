import { spawn } from 'node:child_process'
import {
  ApiError,
  authorizeEndpoint,
  authorizeUrl,
  createPkce,
  createState,
  type TokenRequest,
  Unauthorized,
} from '../../../api/index.ts'
import { openApi } from '../../../app/app-api.ts'
import {
  type Credential,
  forgetCredential,
  normalBaseUrl,
  prepareToStore,
  readCredential,
  type StoredCredential,
  storeCredential,
} from '../../../app/stored-credential.ts'
import { FatalError, messageOf, UsageError } from '../../../base/errors.ts'
import { wholeNumber } from '../../../base/settings.ts'
import { type Context, writeSummary } from '../../context.ts'
import { fetchGrant, nameOf, primaryOf } from './auth.ts'
import { awaitCode, listenForCode, oneLine } from './auth-listener.ts'

interface LoginFlags {
  readonly clientId: string
  readonly clientSecret?: string
  /** Each may hold several, separated by blanks or commas. */
  readonly scope?: readonly string[]
  readonly port?: string
  /** False: only print the address. */
  readonly browser?: boolean
}

interface ExchangeFlags {
  readonly code: string
  readonly clientId: string
  readonly redirectUri: string
  readonly clientSecret?: string
  readonly codeVerifier?: string
}

/** `auth login`: OAuth in the browser, with PKCE and a redirect to this machine. */
export async function authLogin(context: Context, flags: LoginFlags): Promise<void> {
  const { app, out, err, signal } = context
  const { clientId, browser = true, clientSecret = app.config.clientSecret } = flags
  const port = wholeNumber('--port', flags.port ?? '0', 65_535)
  prepareToStore(app.config.credentialsFile)
  const state = createState()
  const pkce = createPkce()
  const listener = await listenForCode({ port, state, onStray: (why) => err.write(`${why}\n`) })
  const { redirectUri } = listener
  let page = { status: 500, text: 'The login failed. You can close this tab; the terminal has the reason.' }
  try {
    const url = authorizeUrl({
      authorizeUrl: authorizeEndpoint(app.config.baseUrl),
      clientId,
      redirectUri,
      scope: scopesOf(flags.scope),
      state,
      codeChallenge: pkce.challenge,
    })
    // One JSON document is all that may be on stdout.
    const output = context.flags.json ? err : out
    output.write(`Log in on this page, it comes back by itself:\n\n  ${url}\n\n`)
    if (browser) openBrowser(url)
    const code = await awaitCode(listener, app.clock, signal)
    const stored = await obtainToken(
      { code, clientId, redirectUri, clientSecret, codeVerifier: pkce.verifier },
      context,
    )
    page = { status: 200, text: `wynnsync is logged in as ${oneLine(nameOf(stored.who))}. You can close this tab.` }
    reportLogin(stored, context)
  } catch (error) {
    if (error instanceof FatalError) {
      page = { status: 400, text: `The login failed: ${oneLine(error.message)}\nYou can close this tab.` }
    }
    throw error
  } finally {
    await listener.close(page)
  }
}

/** `auth exchange`: a code that was obtained by hand. */
export async function authExchange(context: Context, flags: ExchangeFlags): Promise<void> {
  const { config } = context.app
  const { code, clientId, redirectUri, codeVerifier, clientSecret = config.clientSecret } = flags
  if (!URL.canParse(redirectUri)) throw new UsageError('--redirect-uri must be the address that the code was sent to')
  if (codeVerifier === undefined && clientSecret === undefined) {
    throw new UsageError(
      'a code is exchanged with --code-verifier (public applications), WYNNSYNC_CLIENT_SECRET (private ones), or both',
    )
  }
  prepareToStore(config.credentialsFile)
  reportLogin(await obtainToken({ code, clientId, redirectUri, clientSecret, codeVerifier }, context), context)
}

interface Token {
  readonly token: () => string
  readonly scopes: readonly string[]
}

/** Exchanges the code for a token, fetches its scopes and player, and stores it. */
async function obtainToken(request: TokenRequest, context: Context): Promise<StoredCredential> {
  const { app } = context
  const { credentialsFile, baseUrl } = app.config
  const exchanged = await exchange(request, context)
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
  // At once: the code is spent, so a lost token takes another login.
  storeCredential(credentialsFile, credential)
  if (replaced !== null && replaced.baseUrl !== credential.baseUrl) {
    app.log.warn(`it replaces the stored credential for ${replaced.baseUrl}`)
  }
  const named = { ...credential, ...(await describe(exchanged, context)) }
  storeCredential(credentialsFile, named)
  return named
}

async function exchange(request: TokenRequest, { app, signal }: Context): Promise<Token> {
  const api = openApi(app, null)
  try {
    const { access_token: token, scope } = (await api.oauth.token({ ...request, signal })).read()
    return { token: () => token, scopes: (scope ?? '').split(' ').filter((part) => part !== '') }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const advice =
      'a code is good once, for five minutes, and only with the parameters that it was requested with; log in again'
    throw new FatalError(`the code was not accepted: ${error.message}; ${advice}`, {
      context: { path: error.path, status: error.status },
    })
  } finally {
    await api.close()
  }
}

/** The player and scopes of a token. Unknown while the service fails; the token is kept. */
async function describe({ token, scopes }: Token, { app, signal }: Context) {
  const credential: Credential = { from: 'file', token, stored: null }
  const api = openApi(app, credential)
  try {
    const grant = await fetchGrant(api, signal)
    return { who: primaryOf(grant), scopes: grant.scopes.length > 0 ? grant.scopes : scopes }
  } catch (error) {
    if (error instanceof Unauthorized) {
      forgetCredential(app.config.credentialsFile)
      throw error
    }
    app.log.warn(`the token is stored, but its player could not be fetched: ${messageOf(error)}`)
    return { who: null, scopes }
  } finally {
    await api.close()
  }
}

/** The credential that is about to be replaced; null also for an unusable one. */
function readReplaced(file: string): StoredCredential | null {
  try {
    return readCredential(file)
  } catch {
    return null
  }
}

/** `identify` is the least scope that gives the player. */
function scopesOf(given: readonly string[] = ['identify']): string[] {
  const scopes = given.flatMap((text) => text.split(/[\s,]+/)).filter((scope) => scope !== '')
  if (scopes.length === 0) throw new UsageError('--scope must have at least one scope, such as identify')
  return [...new Set(scopes)]
}

function reportLogin(credential: StoredCredential, context: Context): void {
  const { app } = context
  const { kind, baseUrl, scopes, obtainedAt, who } = credential
  const { credentialsFile: file } = app.config
  const text = `Logged in to ${baseUrl} as ${oneLine(nameOf(who))}, with ${oneLine(scopes.join(' ')) || 'no scope'}.
The token is kept in ${file}; sync uses it from now on.
`
  writeSummary(context, { who, kind, scopes, baseUrl, obtainedAt, file }, text)
  if (app.config.token !== undefined) {
    app.log.warn('WYNNSYNC_TOKEN is set and goes before the stored token: unset it to use what you logged in for')
  }
}

/** The program that opens an address in the user's browser, without a shell that would read the address its own way. */
const openers: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
}

/** Opens the address in the user's browser, if there is one. */
function openBrowser(url: string): void {
  const [command = 'xdg-open', ...args] = openers[process.platform] ?? []
  const child = spawn(command, [...args, url], { detached: true, stdio: 'ignore', windowsHide: true })
  child.once('error', () => {})
  child.unref()
}
