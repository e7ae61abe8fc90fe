import { seededRandom } from '../../base/clock.ts'
import type { MovableClock } from '../clock.ts'
import type { RegisteredClient } from './clients.ts'
import { type Codes, createCodes } from './codes.ts'
import type { People } from './people.ts'
import { createTokens, type Tokens } from './tokens.ts'

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
