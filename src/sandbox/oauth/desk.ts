import type { Hono } from 'hono'
import { seededRandom } from '../../app/clock.ts'
import type { ApiRequest } from '../http/answer.ts'
import { addAuthorize } from './authorize.ts'
import { createCodes } from './codes.ts'
import type { DeskContext } from './context.ts'
import { answerIdentity } from './identity.ts'
import { addTokenControl } from './token-control.ts'
import { createTokens, type KnownToken } from './tokens.ts'

/** How the desk begins. */
export type DeskSettings = Pick<DeskContext, 'clock' | 'clients' | 'people'> & {
  readonly seed: number
  /** API tokens known from the beginning. */
  readonly tokens: readonly string[]
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
export function openIdentityDesk({ seed, tokens: fixed, ...settings }: DeskSettings): IdentityDesk {
  const random = seededRandom(seed ^ 0x0a07)
  const codes = createCodes(random)
  const tokens = createTokens(random, fixed, (digest) => settings.people().anyone(digest), settings.clock.now())
  const context = { ...settings, codes, tokens }
  return {
    addRoutes: (app) => {
      addAuthorize(app, context)
      addTokenControl(app, context)
    },
    use: tokens.use,
    answer: (request, now) => answerIdentity(request, now, context),
  }
}
