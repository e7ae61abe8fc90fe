import type { Guards, LastAccepted } from './guard/guard.ts'
import type { Preparation } from './prepare.ts'
import type { Telling } from './privacy/privacy.ts'

/** One answer, understood as far as it can be, and what is known of the one before it. */
export interface Answer extends Telling {
  readonly preparation: Preparation
  readonly last: (LastAccepted & { readonly living: number }) | undefined
  /** When it came, by the clock of this machine; ms since the epoch. */
  readonly receivedAt: number
  readonly guards: Guards
}
