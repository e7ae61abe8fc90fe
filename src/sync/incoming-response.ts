import type { Guards, LastAccepted } from './guard/guard.ts'
import type { Preparation } from './prepare.ts'
import type { PrivacyInput } from './privacy/privacy.ts'

/** One answer, understood as far as it can be, and what is known of the one before it. */
export interface IncomingResponse extends PrivacyInput {
  readonly preparation: Preparation
  readonly last: (LastAccepted & { readonly living: number }) | undefined
  /** When it came, by the clock of this machine; ms since the epoch. */
  readonly receivedAt: number
  readonly guards: Guards
}
