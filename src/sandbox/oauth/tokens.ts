import { createHash } from 'node:crypto'
import type { Random } from '../../base/clock.ts'
import type { Requester } from '../http/answer.ts'

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
export function drawSecret(random: Random): string {
  return Array.from({ length: 43 }, () => letters[Math.floor(random() * letters.length)]).join('')
}

/** The SHA-256 of a text, in hex. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Every token of a sandbox. Instants are ms of the sandbox clock.
 * @param random draws the tokens, so that a seed gives the same ones again
 * @param fixed API tokens that are known from the beginning
 * @param playerOf whom a fixed token belongs to, by its digest
 */
export function createTokens(
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

export type Tokens = ReturnType<typeof createTokens>
