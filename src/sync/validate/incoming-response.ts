import type { Preparation } from '../normalize/prepare.ts'
import type { PrivacyInput } from '../privacy/privacy.ts'
import type { Guards, LastAccepted } from './validate-snapshot.ts'

/** A normalized response, and the last accepted one. */
export interface IncomingResponse extends ReceivedResponse {
  readonly preparation: Preparation
}

/** A response whose records may not have been parsed. */
export interface ReceivedResponse extends PrivacyInput {
  readonly last: (LastAccepted & { readonly currentKeys: number }) | undefined
  /** By the clock of this machine, ms since the epoch. */
  readonly receivedAt: number
  readonly guards: Guards
}
