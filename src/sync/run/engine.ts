import type { Api } from '../../api/client.ts'
import type { Clock } from '../../base/clock.ts'
import type { Database } from '../../db/database.ts'
import type { Guards } from '../evidence/policies.ts'
import type { PreparedBefore } from '../normalize/prepared-before.ts'
import type { PrivacyPolicy } from '../privacy/restrictions/rule-source.ts'
import type { Admission } from './admission.ts'
import type { Outages } from './outages.ts'

/** The part of a logger that the engine uses (pino has it). */
export type RunLog = Readonly<Record<'debug' | 'info' | 'warn' | 'error', (fields: object, message: string) => void>>

/** What a run needs from outside: everything that can be slow, fail, or differ from day to day. */
export interface Engine {
  readonly db: Database
  readonly api: Api
  readonly clock: Clock
  readonly program: string
  readonly guards: Guards
  /** What is removed when a player restricts something; default: what is restricted. */
  readonly privacy?: PrivacyPolicy | undefined
  readonly log: RunLog
  /** Combat levels for which rewards are asked for, too; default: none. */
  readonly levels?: readonly number[]
  /** Whether raw responses are archived, for `replay`. Default: no. */
  readonly raw?: boolean
  /** Whether changes are sent as notifications on the channel `wynnsync` of the database. Default: no. */
  readonly notifies?: boolean
  /** Whether what it loads is no news, such as recordings. Default: no. */
  readonly isLate?: boolean
  /** What its responses are imported from: `source_id` in `sync.source`. Default: the API. */
  readonly sourceId?: string
  /** What is checked before a response is loaded. Default: everything is taken. */
  readonly admission?: Admission | undefined
  /** Where outages of the database are remembered. Default: nowhere. */
  readonly outages?: Outages
  /** Where what was made of the records of the response before is remembered. Default: nowhere. */
  readonly before?: PreparedBefore
  /** The id of a run that is repeated; default: each run has a new one. */
  readonly runId?: string
}
