import type { Preparation } from '../normalize/prepare.ts'
import type { PrivacyInput } from '../privacy/privacy.ts'
import type { Guards, LastAccepted } from '../validate/validate-snapshot.ts'

/** One answer, understood as far as it can be, and what is known of the one before it. */
export interface IncomingResponse extends PrivacyInput {
  readonly preparation: Preparation
  readonly last: (LastAccepted & { readonly living: number }) | undefined
  /** When it came, by the clock of this machine; ms since the epoch. */
  readonly receivedAt: number
  readonly guards: Guards
}
