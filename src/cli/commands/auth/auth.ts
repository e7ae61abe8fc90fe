import { type Api, ApiError, Forbidden, Unauthorized } from '../../../api/index.ts'
import type { App } from '../../../app/app.ts'
import { openApi } from '../../../app/app-api.ts'
import { FatalError } from '../../../app/errors.ts'
import { type Credential, chooseCredential, forgetCredential, readCredential } from '../../../app/stored-credential.ts'
import { type Context, exitCode } from '../../context.ts'
import { formatTable } from '../../output/table.ts'
import { askGrant, askWhoami, type OwnGrant, type OwnIdentity } from './auth-identity.ts'
import { oneLine } from './auth-listener.ts'

/** `auth whoami`: the player of the credential. Returns the exit code. */
export async function authWhoami(context: Context): Promise<number> {
  const { app, out, flags, signal } = context
  const credential = requireCredential(app)
  const identity = await asking(app, credential, (api) => askWhoami(api, signal))
  const { baseUrl } = app.config
  const { from } = credential
  if (flags.json) out.write(`${JSON.stringify({ ...identity, baseUrl, from })}\n`)
  else out.write(lines({ ...identityLines(identity), ...credentialLines(app, credential) }))
  return exitCode.done
}

/** `auth me`: what the credential is good for, and when it was last used before now. Returns the exit code. */
export async function authMe(context: Context): Promise<number> {
  const { app, out, flags, signal } = context
  const credential = requireCredential(app)
  const { from, stored } = credential
  const found = await asking(app, credential, async (api) => {
    const grant = await askGrantOf(stored?.kind ?? 'unknown', api, signal)
    // Of an API token there is no more to know than whose it is.
    return grant === null || grant.profiles.length === 0
      ? { grant, identity: await askWhoami(api, signal).catch(unless(grant)) }
      : { grant, identity: null }
  })
  const { grant, identity } = found
  const kind = grant === null ? 'token' : 'oauth'
  const times = { obtainedAt: stored?.obtainedAt ?? null, lastUsedAt: stored?.lastUsedAt ?? null }
  if (flags.json) {
    const { clientId, scopes, profiles } = grant ?? { clientId: null, scopes: [], profiles: [] }
    const { baseUrl } = app.config
    out.write(`${JSON.stringify({ kind, clientId, scopes, profiles, identity, ...times, baseUrl, from })}\n`)
  } else {
    out.write(lines({ ...kindLines(grant), ...identityLines(identity), ...credentialLines(app, credential) }))
    if (grant !== null) out.write(profileTables(grant))
  }
  return exitCode.done
}

/** `auth logout`: forgets the stored credential. Returns the exit code. */
export async function authLogout({ app, out, flags }: Context): Promise<number> {
  const { credentialsFile: file, token } = app.config
  const forgotten = forgetCredential(file)
  if (flags.json) out.write(`${JSON.stringify({ forgotten, file })}\n`)
  else if (!flags.quiet) {
    out.write(
      forgotten
        ? `Forgotten: ${file} is gone. The token itself stays valid until you revoke it on the website, or until it was not used for 15 days.\n`
        : `Nothing was stored in ${file}.\n`,
    )
  }
  if (token !== undefined) app.log.warn('WYNNSYNC_TOKEN is still set, and is used')
  return exitCode.done
}

/** Asks with the credential; a refusal becomes an error that says what to do. */
async function asking<T>(app: App, credential: Credential, ask: (api: Api) => Promise<T>): Promise<T> {
  const api = openApi(app, credential)
  try {
    return await ask(api)
  } catch (error) {
    if (!(error instanceof Unauthorized || error instanceof Forbidden)) throw error
    const { from } = credential
    const { credentialsFile: file } = app.config
    const place = from === 'file' ? file : from
    const advice =
      from === 'file'
        ? 'log in again with wynnsync auth login'
        : 'give WYNNSYNC_TOKEN a new one from the website, or unset it and log in with wynnsync auth login'
    const missing = error instanceof Forbidden ? ' (a token without the scope identify does not say whose it is)' : ''
    throw new FatalError(`the credential from ${place} is refused: ${error.message}; ${advice}${missing}`, {
      context: { path: error.path, status: error.status },
    })
  } finally {
    await api.close()
  }
}

/** Null for an API token. Which kind `WYNNSYNC_TOKEN` is shows here only: the route refuses the other (API reference 3.1). */
async function askGrantOf(
  kind: 'oauth' | 'token' | 'unknown',
  api: Api,
  signal: AbortSignal,
): Promise<OwnGrant | null> {
  if (kind === 'token') return null
  try {
    return await askGrant(api, signal)
  } catch (error) {
    if (kind === 'unknown' && (error instanceof Unauthorized || error instanceof Forbidden)) return null
    throw error
  }
}

/** A grant without the scope to name its player is still worth showing. */
function unless(grant: OwnGrant | null): (error: unknown) => null {
  return (error) => {
    if (grant !== null && error instanceof ApiError) return null
    throw error
  }
}

/** @throws FatalError when there is none for this API, with what to do */
function requireCredential({ config }: App): Credential {
  const credential = chooseCredential(config)
  if (credential !== null) return credential
  const other = readCredential(config.credentialsFile)
  const stored = other === null ? '' : `; the stored credential is for ${other.baseUrl}`
  throw new FatalError(
    `nobody is logged in to ${config.baseUrl}${stored}. Log in with wynnsync auth login, or set WYNNSYNC_TOKEN`,
  )
}

function identityLines(identity: OwnIdentity | null): Record<string, unknown> {
  if (identity === null) return {}
  const { uuid, username, rank, supportRank } = identity
  return { player: username, uuid, rank, 'support rank': supportRank }
}

function kindLines(grant: OwnGrant | null): Record<string, unknown> {
  if (grant === null) return { kind: 'API token: it has no scopes, and sees what its owner lets it see' }
  const { clientId, scopes } = grant
  return { kind: 'OAuth token', application: clientId, scopes: scopes.length > 0 ? scopes.join(' ') : 'none' }
}

function credentialLines({ config }: App, { from, stored }: Credential): Record<string, unknown> {
  const place = { from: from === 'file' ? config.credentialsFile : from, for: config.baseUrl }
  if (stored === null) return place
  return { ...place, obtained: stored.obtainedAt, 'last used': stored.lastUsedAt ?? 'not yet since the login' }
}

function profileTables({ profiles }: OwnGrant): string {
  const rows = profiles.map((profile) => ({ ...profile, primary: profile.primary ? 'yes' : 'no' }))
  const rules = profiles.flatMap(({ username, uuid, accessRules }) =>
    Object.entries(accessRules).map(([rule, seenBy]) => ({ username: username ?? uuid, rule, 'seen by': seenBy })),
  )
  const tables = [
    ...(rows.length > 0 ? [formatTable(['username', 'uuid', 'primary', 'rank', 'supportRank'], rows)] : []),
    ...(rules.length > 0 ? [formatTable(['username', 'rule', 'seen by'], rules)] : []),
  ]
  return tables.map((table) => `\n${table}`).join('')
}

/** One fact a line, those that are known. */
function lines(facts: Readonly<Record<string, unknown>>): string {
  const known = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined && value !== '')
  const width = Math.max(...known.map(([name]) => name.length)) + 2
  return known.map(([name, value]) => `${name.padEnd(width)}${oneLine(String(value))}\n`).join('')
}
