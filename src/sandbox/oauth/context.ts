import type { MovableClock } from '../clock.ts'
import type { RegisteredClient } from './clients.ts'
import type { Codes } from './codes.ts'
import type { People } from './people.ts'
import type { Tokens } from './tokens.ts'

/** What the routes of identity work with. */
export interface DeskContext {
  readonly clock: MovableClock
  readonly clients: readonly RegisteredClient[]
  readonly codes: Codes
  readonly tokens: Tokens
  readonly people: () => People
}
