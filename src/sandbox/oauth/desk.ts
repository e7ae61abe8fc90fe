import type { Hono } from 'hono'
import { seededRandom } from '../../app/clock.ts'
import type { MovableClock } from '../clock.ts'
import type { ApiRequest } from '../http/answer.ts'
import { addAuthorize } from './authorize.ts'
import type { RegisteredClient } from './clients.ts'
import { createCodes } from './codes.ts'
import { answerIdentity } from './identity.ts'
import type { People } from './people.ts'
import { addTokenControl } from './token-control.ts'
import { createTokens, type KnownToken } from './tokens.ts'

/** What the desk works with. */
export interface DeskSettings {
  readonly clock: MovableClock
  readonly seed: number
  readonly clients: readonly RegisteredClient[]
  /** API tokens known from the beginning. */
  readonly tokens: readonly string[]
  readonly people: () => People
}

/** Issues credentials and knows who they belong to. */
export interface IdentityDesk {
  /** Adds `/authorize` and the control routes of tokens. */
  addRoutes(app: Hono): void
  /** What is known of a token at `now` (ms of the sandbox clock); notes its use. */
  use(token: string, now: number): KnownToken | undefined
  /** A body or a refusal for the identity routes; undefined for every other path. */
  answer(request: ApiRequest, now: number): object | undefined
}

/** Everything about identity, in one place (API reference 2.1, 3.1). */
export function openIdentityDesk({ clock, seed, clients, tokens: fixed, people }: DeskSettings): IdentityDesk {
  const random = seededRandom(seed ^ 0x0a07)
  const codes = createCodes(random)
  const tokens = createTokens(random, fixed, (digest) => people().anyone(digest), clock.now())
  return {
    addRoutes: (app) => {
      addAuthorize(app, { clock, clients, codes, people })
      addTokenControl(app, clock, tokens, people)
    },
    use: tokens.use,
    answer: (request, now) => answerIdentity(request, now, { clients, codes, tokens, people }),
  }
}
