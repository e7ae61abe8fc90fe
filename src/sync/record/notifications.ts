import type { Sql } from '../../db/database.ts'
import type { GuardAction } from '../validate/guard-actions.ts'
import type { Counts } from './ledger.ts'

/** What an answer, or the end of a run, has to tell. */
export interface Notification extends Partial<Counts> {
  readonly resource: string
  readonly runId: string
  /** Of a worklist. */
  readonly key?: string | undefined
  readonly status: string
  readonly at: Date
  /** The instant the answer speaks for. */
  readonly observedAt?: Date | null | undefined
  readonly guarded?: readonly GuardAction[]
  readonly drift?: readonly { readonly kind: string; readonly path: string; readonly member: string }[]
  /** What a run failed with. */
  readonly error?: string | null | undefined
}

/** So many notices of one kind at most from one transaction: whoever wants all of them reads the tables. */
const enough = 20
/** Characters of a text: a payload of NOTIFY has room for less than 8000 bytes, and a character may take four. */
const longest = 400

/**
 * `NOTIFY wynnsync` with one JSON object for everything that happened; belongs into its transaction, so that who hears
 * it finds it in the tables. Nothing is sent when nothing happened.
 */
export async function notifyChannel(sql: Sql, news: Notification): Promise<void> {
  const { resource, runId: run, key, at } = news
  const common = { resource, ...(key === undefined ? {} : { key }), run, at: at.toISOString() }
  const payloads = notificationsOf(news).map((notice) => JSON.stringify({ ...notice, ...common }, shortened))
  if (payloads.length === 0) return
  await sql.query(`select pg_notify('wynnsync', payload) from unnest($1::text[]) as told(payload)`, [payloads])
}

function notificationsOf(notification: Notification): object[] {
  const { status, observedAt, guarded = [], drift = [], error } = notification
  const { inserted = 0, changed = 0, closed = 0, events = 0 } = notification
  const notices: object[] = []
  if (inserted + changed + closed + events > 0) {
    const instant = observedAt?.toISOString() ?? null
    notices.push({ event: 'change', status, observedAt: instant, inserted, changed, closed, events })
  }
  if (error) notices.push({ event: 'failure', message: error })
  for (const { guard, action, reason, key } of guarded.slice(0, enough))
    notices.push({ event: 'guard', guard, action, message: reason, ...(key === undefined ? {} : { key }) })
  for (const { kind, path, member } of drift.slice(0, enough)) notices.push({ event: 'drift', kind, path, member })
  return notices
}

function shortened(_name: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > longest ? `${value.slice(0, longest - 1)}…` : value
}
