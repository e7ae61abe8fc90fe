import type { Random } from '../../base/clock.ts'
import { drawSecret } from './tokens.ts'

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
export function createCodes(random: Random) {
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

export type Codes = ReturnType<typeof createCodes>
