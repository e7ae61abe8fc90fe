import type { Api } from '../api/client.ts'
import type { Clock } from '../app/clock.ts'
import type { Database } from '../db/database.ts'
import type { PrivacyPolicy } from './privacy/privacy.ts'
import type { Outages } from './run/outages.ts'
import type { RunLog } from './run/run-log.ts'
import type { Guards } from './validate/validate-snapshot.ts'

/** What a run needs from outside: everything that can be slow, fail, or differ from day to day. */
export interface Engine {
  readonly db: Database
  readonly api: Api
  readonly clock: Clock
  /** Version of this program, for the ledger. */
  readonly program: string
  readonly guards: Guards
  /** What is removed when a player restricts something; default: what is restricted. */
  readonly privacy?: PrivacyPolicy | undefined
  readonly log: RunLog
  /** Whether what the API sends is kept as it came, for `replay`. Default: no. */
  readonly raw?: boolean
  /** Whether whoever listens on the channel `wynnsync` of the database is told what happens. Default: no. */
  readonly notifies?: boolean
  /** Where it is remembered that the database was away. Default: nowhere. */
  readonly outages?: Outages
  /** The id of a run that is repeated; default: each run has a new one. */
  readonly runId?: string
}
