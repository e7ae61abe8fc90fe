import { sql as text } from 'drizzle-orm'
import type { Database } from '../../db/database.ts'
import { together } from '../../db/typed.ts'
import type { ResourceBase } from '../declare/resource.ts'
import type { Counts } from '../ledger/ledger.ts'
import type { GuardAction } from '../respond/guard-actions.ts'

/**
 * Writes changes (JSON texts) and sends payloads, in one statement. It belongs at the end of a transaction: from it to the commit, no
 * other transaction gets a number. So numbers have no gap, and none is committed after a higher one.
 */
function publishing(payloads: readonly string[], changes: readonly string[], at: Date) {
  const all = text`${text.param(changes)}::text[]`
  const parts = {
    head: text`insert into sync.outbox_head as head (id, last) values (0, cardinality(${all}))
               on conflict (id) do update set last = head.last + excluded.last returning last`,
    changes: text`insert into sync.outbox (number, at, change)
       select head.last - cardinality(${all}) + one.position, ${at}::timestamptz, one.change::jsonb
         from head, unnest(${all}) with ordinality as one(change, position)`,
  }
  return {
    parts,
    send: text`select pg_notify('wynnsync', payload) from unnest(${text.param(payloads)}::text[]) as notification(payload)`,
  }
}

/** Writes changes in a transaction of their own, and sends nothing. */
export async function publishChanges(db: Database, changes: readonly string[], at: Date): Promise<void> {
  const { parts, send } = publishing([], changes, at)
  await together(db, parts, send)
}

/** How long a change is kept, ms. */
const kept = 86_400_000

/**
 * Removes changes older than a day, the lowest numbers first and never one in between; returns how many. One whose clock was
 * days ahead counts as old.
 */
export async function pruneOutbox(db: Database, now: Date): Promise<number> {
  const from = new Date(now.getTime() - kept)
  const to = new Date(now.getTime() + kept)
  const [row] = await db.query<{ removed: number }>(
    `with gone as (delete from sync.outbox where number < coalesce(
                     (select min(number) from sync.outbox where at between $1 and $2), 9223372036854775807) returning 1)
     select count(*)::int as removed from gone`,
    [from, to],
  )
  return row?.removed ?? 0
}

/** What a response changed, by name; only of resources that are not about people. */
export interface Touched {
  /** Keys of records that appeared, changed or disappeared. */
  readonly keys: Set<string>
  /** Keys of other resources that the changes are about. */
  readonly concerns: Set<string>
}

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
  readonly error?: string | null | undefined
  readonly people: NamesInResponses
  /** Whether the response was no news when it came, such as a recording. */
  readonly isLate?: boolean | undefined
  /** What a response changed, where that may be named. */
  readonly touched?: Touched | undefined
}

/** Whether responses of a resource name people, or each is about the one who is its key. */
type NamesInResponses = 'none' | 'people' | 'key is a player'

export function namesInResponses({ name, personal }: Pick<ResourceBase, 'name' | 'personal'>): NamesInResponses {
  if (!personal) return 'none'
  return personal.responses[name]?.isOfOne === false ? 'people' : 'key is a player'
}

/** So many notifications of one kind at most from one transaction; the tables have all of them. */
const enough = 20
/** So many keys of a change at most. */
const manyKeys = 100
/** What a response speaks for is no news this much later, ms. */
const late = 7_200_000
/** Characters of a text: a payload of NOTIFY has room for less than 8000 bytes, and a character may take four. */
const longest = 400

/**
 * `NOTIFY wynnsync` with one JSON object for everything that happened, and the same as numbered rows of `sync.outbox`;
 * belongs at the end of its transaction, so that a listener finds it in the tables. Undefined when nothing happened.
 */
export function notificationOf(notification: Notification): ReturnType<typeof publishing> | undefined {
  const { resource, runId: run, key, at } = notification
  const common = { resource, ...(key === undefined ? {} : { key }), run, at: at.toISOString() }
  const notifications = notificationsOf(notification)
  if (notifications.length === 0) return undefined
  const payloads = notifications.map((payload) => JSON.stringify({ ...payload, ...common }, shortened))
  const changes = notifications.map((payload) => JSON.stringify(changeOf(notification, payload, common), shortened))
  return publishing(payloads, changes, at)
}

/** What change files say of a notification: no names of players, but what was touched where that is no player. */
function changeOf(notification: Notification, payload: Payload, common: object): object {
  const { people, isLate, touched, observedAt, at } = notification
  const isNameless = ([field]: [string, unknown]) => people === 'none' || plain.includes(field)
  const nameless = Object.fromEntries(Object.entries(payload).filter(isNameless))
  const source = people === 'key is a player' ? { ...common, key: undefined } : common
  const wasLate = isLate || (observedAt != null && at.getTime() - observedAt.getTime() > late)
  const named = payload.event === 'change' && touched
  return {
    ...nameless,
    ...source,
    ...(named && touched.keys.size > 0
      ? { keys: [...touched.keys].slice(0, manyKeys), touched: touched.keys.size }
      : {}),
    ...(named && touched.concerns.size > 0 ? { concerns: [...touched.concerns].slice(0, manyKeys) } : {}),
    ...(wasLate ? { late: true } : {}),
  }
}

type Payload = { readonly event: string } & Record<string, unknown>

/** Fields without free text. */
const plain = ['event', 'status', 'observedAt', 'inserted', 'changed', 'closed', 'events', 'guard', 'action', 'kind']

function notificationsOf(notification: Notification): Payload[] {
  const { status, observedAt, guarded = [], drift = [], error } = notification
  const { inserted = 0, changed = 0, closed = 0, events = 0 } = notification
  const payloads: Payload[] = []
  if (inserted + changed + closed + events > 0) {
    const instant = observedAt?.toISOString() ?? null
    payloads.push({ event: 'change', status, observedAt: instant, inserted, changed, closed, events })
  }
  if (error && status !== 'interrupted') payloads.push({ event: 'failure', message: error })
  for (const { guard, action, reason, key } of guarded.slice(0, enough))
    payloads.push({ event: 'guard', guard, action, message: reason, ...(key === undefined ? {} : { key }) })
  for (const { kind, path, member } of drift.slice(0, enough)) payloads.push({ event: 'drift', kind, path, member })
  return payloads
}

/** Neither halves of characters nor NUL: a JSON column refuses both, and a text that is cut may end in a half. */
function shortened(_name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  const text = value.length > longest ? `${value.slice(0, longest - 1)}…` : value
  return text.replace(/\p{Cs}|\0/gu, '\uFFFD')
}
