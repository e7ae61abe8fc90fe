import type { Preparation } from '../normalize/prepare.ts'
import type { PrivacyInput } from '../privacy/privacy.ts'
import type { Guards, LastAccepted } from './validate-snapshot.ts'

/** A normalized response, and the last accepted one. */
export interface IncomingResponse extends PrivacyInput {
  readonly preparation: Preparation
  readonly last: (LastAccepted & { readonly currentKeys: number }) | undefined
  /** By the clock of this machine, ms since the epoch. */
  readonly receivedAt: number
  readonly guards: Guards
}
