import { createHash } from 'node:crypto'
import { type Random, seededRandom } from '../../base/clock.ts'
import type { MovableClock } from '../clock.ts'
import type { Requester } from '../http/answer.ts'
import type { RegisteredClient } from './clients.ts'

/** A token that was issued. The sandbox keeps its digest, never its text. */
interface Issued {
  readonly kind: Requester['kind']
  readonly player: string
  /** The application that got it; undefined for API tokens. */
  readonly client?: string | undefined
  /** Of API tokens only; those of applications belong to the user and the application together. */
  readonly scopes?: readonly string[] | undefined
  readonly issuedAt: number
  usedAt: number
}

/** What a token says about the caller; `counter` names the budget it draws from. */
export interface KnownToken {
  readonly requester: Requester
  readonly counter: string
}

const day = 86_400_000
const deadAfter = 15 * day
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Draws the text of a code or a token: 43 letters, as many as 32 bytes need. */
function drawSecret(random: Random): string {
  return Array.from({ length: 43 }, () => letters[Math.floor(random() * letters.length)]).join('')
}

/** The SHA-256 of a text, in hex. */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Every token of a sandbox. Instants are ms of the sandbox clock.
 * @param random draws the tokens, so that a seed gives the same ones again
 * @param fixed API tokens that are known from the beginning
 * @param playerOf whom a fixed token belongs to, by its digest
 */
function createTokens(
  random: Random,
  fixed: readonly string[],
  playerOf: (digest: string) => string,
  startedAt: number,
) {
  const issued = new Map<string, Issued>()
  const grants = new Map<string, readonly string[]>()
  const unclaimed = new Set(fixed.map(digestOf))
  const grantName = (client: string, player: string) => `${client} ${player}`

  function remember(token: string, one: Omit<Issued, 'usedAt'>): string {
    issued.set(digestOf(token), { ...one, usedAt: one.issuedAt })
    return token
  }

  return {
    /** Issues an API token; with scopes it shows no more than they allow, with none it is in Public Mode. */
    issueApi: (player: string, scopes: readonly string[] | undefined, now: number) =>
      remember(`sandbox_${drawSecret(random)}`, { kind: 'TOKEN', player, scopes, issuedAt: now }),
    /** Issues an access token; its scopes hold for all tokens of this user and application (API reference 3.1). */
    issueOAuth: (client: string, player: string, scopes: readonly string[], now: number) => {
      grants.set(grantName(client, player), scopes)
      return remember(`wgc_${drawSecret(random)}`, { kind: 'OAUTH', player, client, issuedAt: now })
    },
    /** Looks a token up and notes its use; undefined when unknown, revoked, or dead after 15 days without use. */
    use: (token: string, now: number): KnownToken | undefined => {
      const digest = digestOf(token)
      // Whose it is, is only asked when it is used: the game may have to begin for it.
      if (unclaimed.delete(digest))
        issued.set(digest, { kind: 'TOKEN', player: playerOf(digest), issuedAt: startedAt, usedAt: now })
      const one = issued.get(digest)
      if (!one) return undefined
      if (one.kind === 'OAUTH' && now - one.usedAt > deadAfter) {
        issued.delete(digest)
        return undefined
      }
      one.usedAt = now
      const { kind, player, client } = one
      if (client === undefined) return { requester: { kind, player, scopes: one.scopes }, counter: digest }
      const scopes = grants.get(grantName(client, player)) ?? []
      return { requester: { kind, player, client, scopes }, counter: `oauth ${grantName(client, player)}` }
    },
    /** Revokes a token, given as text or as digest; false when there is none. */
    revoke: (tokenOrDigest: string) =>
      [tokenOrDigest, digestOf(tokenOrDigest)].some((digest) => issued.delete(digest) || unclaimed.delete(digest)),
    /** As the control routes list them; instants are ISO. */
    list: () =>
      [...issued].map(([digest, { kind, player, client, scopes, issuedAt, usedAt }]) => ({
        digest,
        kind,
        player,
        client: client ?? null,
        scopes: (client === undefined ? scopes : grants.get(grantName(client, player))) ?? null,
        issuedAt: new Date(issuedAt).toISOString(),
        usedAt: new Date(usedAt).toISOString(),
      })),
  }
}

type Tokens = ReturnType<typeof createTokens>

/** A grant of a player to an application, until the code is exchanged. */
interface Permission {
  readonly client: string
  readonly redirectUri: string
  readonly player: string
  readonly scopes: readonly string[]
  /** PKCE: the SHA-256 of the verifier in base64url. */
  readonly challenge: string | undefined
}

interface Kept extends Permission {
  readonly expiresAt: number
  /** The token that the code gave, once it was exchanged. */
  token: string | undefined
}

const lifetime = 5 * 60_000

/** The authorization codes: single use, five minutes (API reference 3.1). Instants are ms of the sandbox clock. */
function createCodes(random: Random) {
  const codes = new Map<string, Kept>()
  return {
    issue(permission: Permission, now: number): string {
      const code = drawSecret(random)
      codes.set(code, { ...permission, expiresAt: now + lifetime, token: undefined })
      return code
    },
    /** The permission behind a code; `token` is what an earlier exchange gave. Undefined when unknown or expired. */
    find(code: string, now: number): Readonly<Kept> | undefined {
      const kept = codes.get(code)
      // A used code is remembered, so that using it again is noticed.
      return kept && (kept.token !== undefined || now < kept.expiresAt) ? kept : undefined
    },
    /** Remembers that the code gave this token. */
    spend(code: string, token: string): void {
      const kept = codes.get(code)
      if (kept) kept.token = token
    },
  }
}

type Codes = ReturnType<typeof createCodes>

/** What identity routes tell of a player (API reference 7.5). */
interface Identity {
  readonly username: string
  readonly online: boolean
  readonly nickname: string | null
  readonly rank: string
  readonly supportRank: string | null
  readonly shortenedRank: string | null
  readonly legacyRankColour: { readonly main: string; readonly sub: string } | null
  readonly rankBadge: string | null
}

/** An identity and who may see what of this player, by rule in snake_case. */
interface OwnProfile {
  readonly identity: Identity
  readonly accessRules: Readonly<Record<string, string>>
}

/** The players who can own a credential. */
export interface People {
  /** The uuid of exactly one player of this uuid or name, whatever its case. */
  find(asked: string): string | undefined
  /** The uuid of a player, the same one for the same key. */
  anyone(key: string): string
  /** Undefined for an unknown uuid. `now` is ms of the sandbox clock. */
  profile(uuid: string, now: number): OwnProfile | undefined
}

/** People for a sandbox without a game: everybody who is named exists, invented from the name. */
export function inventedPeople(): People {
  const names = new Map<string, string>()
  const invent = (name: string) => {
    const uuid = uuidFrom(digestOf(name.toLowerCase()))
    if (!names.has(uuid)) names.set(uuid, name)
    return uuid
  }
  return {
    find: (asked) => {
      if (names.has(asked.toLowerCase())) return asked.toLowerCase()
      return /^\w{3,16}$/.test(asked) ? invent(asked) : undefined
    },
    anyone: (key) => invent(key === '' ? 'Sandbox_Player' : `Player_${digestOf(key).slice(0, 8)}`),
    profile: (uuid) => {
      const username = names.get(uuid)
      if (username === undefined) return undefined
      return {
        identity: {
          username,
          online: false,
          nickname: null,
          rank: 'Player',
          supportRank: null,
          shortenedRank: null,
          legacyRankColour: null,
          rankBadge: null,
        },
        accessRules: { main_access: 'public', online_status: 'public' },
      }
    },
  }
}

/** Makes hex digits look like a random uuid (version 4). */
function uuidFrom(digits: string): string {
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5')
}

interface DeskSettings {
  readonly clock: MovableClock
  readonly clients: readonly RegisteredClient[]
  readonly people: () => People
}

/** What the routes of identity work with: who can own a credential, and every one that was issued (API reference 2.1, 3.1). */
export interface IdentityDesk extends DeskSettings {
  readonly codes: Codes
  readonly tokens: Tokens
}

/** @param fixed API tokens known from the beginning */
export function openIdentityDesk(seed: number, fixed: readonly string[], settings: DeskSettings): IdentityDesk {
  const random = seededRandom(seed ^ 0x0a07)
  const { clock, people } = settings
  const tokens = createTokens(random, fixed, (digest) => people().anyone(digest), clock.now())
  return { ...settings, codes: createCodes(random), tokens }
}
