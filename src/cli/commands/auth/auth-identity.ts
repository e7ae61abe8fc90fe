import { type Api, parseIdentities } from '../../../api/index.ts'
import type { Who } from '../../../app/stored-credential.ts'
import { RetryableError } from '../../../base/errors.ts'

/** A player as `whoami` gives it (API reference 7.5). */
export type OwnIdentity = Awaited<ReturnType<typeof fetchWhoami>>

/** Scopes of an OAuth token, and its profiles: players as the application may see them (API reference 3.1). */
export type OwnGrant = Awaited<ReturnType<typeof fetchGrant>>

/** @throws RetryableError when the response has no player */
export async function fetchWhoami(api: Api, signal: AbortSignal) {
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
