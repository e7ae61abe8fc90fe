import { type Api, ApiError, Forbidden, parseIdentities, Unauthorized } from '../../../api/index.ts'
import type { App } from '../../../app/app.ts'
import { openApi } from '../../../app/app-api.ts'
import {
  type Credential,
  chooseCredential,
  forgetCredential,
  readCredential,
  type Who,
} from '../../../app/stored-credential.ts'
import { FatalError, RetryableError } from '../../../base/errors.ts'
import { type Context, writeResult, writeSummary } from '../../context.ts'
import { formatTable } from '../../output/table.ts'
import { oneLine } from './auth-listener.ts'

/** A player as `whoami` gives it (API reference 7.5). */
type OwnIdentity = Awaited<ReturnType<typeof fetchWhoami>>

/** Scopes of an OAuth token, and its profiles: players as the application may see them (API reference 3.1). */
type OwnGrant = Awaited<ReturnType<typeof fetchGrant>>

/** @throws RetryableError when the response has no player */
async function fetchWhoami(api: Api, signal: AbortSignal) {
  const response = await api.players.whoami({ signal })
  const [entry] = Object.entries(parseIdentities(response.body))
  if (!entry) throw new RetryableError('unexpected shape: /player/whoami has no player')
  const [uuid, { username, online, nickname, rank, supportRank }] = entry
  const orNull = { username: username ?? null, online: online ?? null, nickname: nickname ?? null }
  return { uuid, ...orNull, rank: rank ?? null, supportRank: supportRank ?? null }
}

/** @throws Unauthorized or Forbidden for a credential that is no valid OAuth token */
export async function fetchGrant(api: Api, signal: AbortSignal) {
  const { application, profiles } = (await api.oauth.me({ signal })).read()
  return {
    clientId: application?.client_id ?? null,
    scopes: application?.scopes ?? [],
    profiles: Object.entries(profiles).map(([uuid, { username, primary, rank, supportRank, accessRules }]) => ({
      uuid,
      username: username ?? null,
      /** The account plays as this one. */
      primary: primary === true,
      rank: rank ?? null,
      supportRank: supportRank ?? null,
      /** Who may see what: rule to `public`, `friend` ... */
      accessRules: accessRules ?? {},
    })),
  }
}

/** The player that a token of several profiles is known by. */
export function primaryOf({ profiles }: OwnGrant): Who | null {
  const profile = profiles.find(({ primary }) => primary) ?? profiles[0]
  return profile ? { uuid: profile.uuid, username: profile.username } : null
}

/** A person as one word for messages; the uuid only where there is no name. */
export function nameOf(who: Who | null): string {
  return who ? (who.username ?? who.uuid) : 'an unnamed player'
}

/** `auth whoami`: the player of the credential, as programs of old read it. */
export async function authWhoami(context: Context): Promise<void> {
  const { app, signal } = context
  const credential = requireCredential(app)
  const identity = await withCredential(app, credential, (api) => fetchWhoami(api, signal))
  const { baseUrl } = app.config
  const text = lines({ ...identityLines(identity), ...credentialLines(app, credential) })
  writeResult(context, { ...identity, baseUrl, from: credential.from }, text)
}

/** `auth status`: player, scopes and profiles of the credential, and when it was last used before now. */
export async function authStatus(context: Context): Promise<void> {
  const { app, signal } = context
  const credential = requireCredential(app)
  const { from, stored } = credential
  const { grant, identity } = await withCredential(app, credential, async (api) => {
    const grant = await grantOf(stored?.kind ?? 'unknown', api, signal)
    // An API token has a player and nothing else.
    return grant === null || grant.profiles.length === 0
      ? { grant, identity: await fetchWhoami(api, signal).catch(nullWith(grant)) }
      : { grant, identity: null }
  })
  const kind = grant === null ? 'token' : 'oauth'
  const times = { obtainedAt: stored?.obtainedAt ?? null, lastUsedAt: stored?.lastUsedAt ?? null }
  const { clientId, scopes, profiles } = grant ?? { clientId: null, scopes: [], profiles: [] }
  const { baseUrl } = app.config
  const facts = { ...kindLines(grant), ...identityLines(identity), ...credentialLines(app, credential) }
  const text = lines(facts) + profileTables(profiles)
  writeResult(context, { kind, clientId, scopes, profiles, identity, ...times, baseUrl, from }, text)
}

/** `auth logout`: deletes the stored credential. */
export async function authLogout(context: Context): Promise<void> {
  const { app } = context
  const { credentialsFile: file, token } = app.config
  const forgotten = forgetCredential(file)
  const text = forgotten
    ? `Forgotten: ${file} is gone. The token itself stays valid until you revoke it on the website, or until it was not used for 15 days.\n`
    : `Nothing was stored in ${file}.\n`
  writeSummary(context, { forgotten, file }, text)
  if (token !== undefined) app.log.warn('WYNNSYNC_TOKEN is still set, and is used')
}

/** Runs requests with the credential. @throws FatalError with what to do when it is refused */
async function withCredential<T>(app: App, credential: Credential, work: (api: Api) => Promise<T>): Promise<T> {
  const api = openApi(app, credential)
  try {
    return await work(api)
  } catch (error) {
    if (!(error instanceof Unauthorized || error instanceof Forbidden)) throw error
    const { from } = credential
    const { credentialsFile: file } = app.config
    const place = from === 'file' ? file : from
    const advice =
      from === 'file'
        ? 'log in again with wynnsync auth login'
        : 'give WYNNSYNC_TOKEN a new one from the website, or unset it and log in with wynnsync auth login'
    const missing = error instanceof Forbidden ? ' (a token without the scope identify has no player)' : ''
    throw new FatalError(`the credential from ${place} is refused: ${error.message}; ${advice}${missing}`, {
      context: { path: error.path, status: error.status },
    })
  } finally {
    await api.close()
  }
}

/** Null for an API token. Which kind `WYNNSYNC_TOKEN` is shows here only: the route refuses the other (API reference 3.1). */
async function grantOf(kind: 'oauth' | 'token' | 'unknown', api: Api, signal: AbortSignal): Promise<OwnGrant | null> {
  if (kind === 'token') return null
  try {
    return await fetchGrant(api, signal)
  } catch (error) {
    if (kind === 'unknown' && (error instanceof Unauthorized || error instanceof Forbidden)) return null
    throw error
  }
}

/** A grant without the scope to name its player is shown without one. */
function nullWith(grant: OwnGrant | null): (error: unknown) => null {
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
    `not logged in to ${config.baseUrl}${stored}. Log in with wynnsync auth login, or set WYNNSYNC_TOKEN`,
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

function profileTables(profiles: OwnGrant['profiles']): string {
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

/** One fact a line, without the unknown ones. */
function lines(facts: Readonly<Record<string, unknown>>): string {
  const known = Object.entries(facts).filter(([, value]) => value !== null && value !== undefined && value !== '')
  const width = Math.max(...known.map(([name]) => name.length)) + 2
  return known.map(([name, value]) => `${name.padEnd(width)}${oneLine(String(value))}\n`).join('')
}
