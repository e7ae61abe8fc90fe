import type { Sql } from '../../db/database.ts'
import type { GuardAction } from '../validate/guard-actions.ts'
import type { Counts } from './ledger.ts'

/** What a response, or the end of a run, changed. */
export interface Notification extends Partial<Counts> {
  readonly resource: string
  readonly runId: string
  /** Of a worklist. */
  readonly key?: string | undefined
  readonly status: string
  readonly at: Date
  /** The instant the response speaks for. */
  readonly observedAt?: Date | null | undefined
  readonly guarded?: readonly GuardAction[]
  readonly drift?: readonly { readonly kind: string; readonly path: string; readonly member: string }[]
  /** What a run failed with. */
  readonly error?: string | null | undefined
}

/** So many notifications of one kind at most from one transaction; the tables have all of them. */
const enough = 20
/** Characters of a text: a payload of NOTIFY has room for less than 8000 bytes, and a character may take four. */
const longest = 400

/**
 * `NOTIFY wynnsync` with one JSON object for everything that happened; belongs into its transaction, so that a
 * listener finds it in the tables. Nothing is sent when nothing happened.
 */
export async function notifyChannel(sql: Sql, notification: Notification): Promise<void> {
  const { resource, runId: run, key, at } = notification
  const common = { resource, ...(key === undefined ? {} : { key }), run, at: at.toISOString() }
  const payloads = notificationsOf(notification).map((payload) => JSON.stringify({ ...payload, ...common }, shortened))
  if (payloads.length === 0) return
  await sql.query(`select pg_notify('wynnsync', payload) from unnest($1::text[]) as notification(payload)`, [payloads])
}

function notificationsOf(notification: Notification): object[] {
  const { status, observedAt, guarded = [], drift = [], error } = notification
  const { inserted = 0, changed = 0, closed = 0, events = 0 } = notification
  const payloads: object[] = []
  if (inserted + changed + closed + events > 0) {
    const instant = observedAt?.toISOString() ?? null
    payloads.push({ event: 'change', status, observedAt: instant, inserted, changed, closed, events })
  }
  if (error) payloads.push({ event: 'failure', message: error })
  for (const { guard, action, reason, key } of guarded.slice(0, enough))
    payloads.push({ event: 'guard', guard, action, message: reason, ...(key === undefined ? {} : { key }) })
  for (const { kind, path, member } of drift.slice(0, enough)) payloads.push({ event: 'drift', kind, path, member })
  return payloads
}

function shortened(_name: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > longest ? `${value.slice(0, longest - 1)}…` : value
}
