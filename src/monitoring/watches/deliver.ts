import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Http } from '../../base/http.ts'
import type { Database } from '../../db/database.ts'
import { type DeliveryState, mostChanges, readNews, writeDelivery } from './delivery-state.ts'
import { dueOf } from './due.ts'
import { readOccurrences, sourcesOf } from './occurrences.ts'
import { sendMessage } from './send.ts'
import type { Watch } from './watch.ts'

export interface Delivering {
  readonly db: Database
  readonly clock: Clock
  readonly site?: string | undefined
  readonly http: Http
  /** Ends attempts. */
  readonly signal: AbortSignal
  /** Until when receivers asked for nothing, by URL; ms since the epoch. */
  readonly pauses: Map<string, number>
  readonly warn: (message: string) => void
}

/** The first wait after a failure, and the longest; after the last of these a message is given up. ms */
const [FIRST, LONGEST, GIVE_UP] = [5000, 1_800_000, 86_400_000]

/**
 * Sends what a watch has to send: at most one message. Which changes it has is written before the first attempt, so that every
 * attempt, also of a later process, has the same key.
 * @param last the last number of the outbox
 * @returns when to look again though no number came, ms since the epoch; undefined: then only
 */
export async function deliver(
  context: Delivering,
  watch: Watch,
  state: DeliveryState,
  last: number,
): Promise<number | undefined> {
  const { db, clock } = context
  const pausedUntil = Math.max(state.retryAt?.getTime() ?? 0, context.pauses.get(addressOf(watch)) ?? 0)
  if (pausedUntil > clock.now()) return pausedUntil
  if (state.sending !== null) return await attempt(context, watch, { ...state, sending: state.sending })
  if (last <= state.number) return undefined
  const sources = sourcesOf(watch.events)
  const changes = await readNews(db, sources, state.number, null)
  const isFull = changes.length === mostChanges
  const upto = isFull ? (changes.at(-1)?.number ?? last) : last
  const occurrences = await readOccurrences(
    db,
    watch,
    changes.map(({ number }) => number),
  )
  // What does not fit into one read is not waited for.
  const { skip, send, at } = dueOf(watch, occurrences, upto, clock.now(), isFull)
  if (send === undefined) {
    if (skip > state.number) await writeDelivery(db, { ...state, number: skip })
    return at
  }
  const sending = { ...state, number: skip, sending: send }
  await writeDelivery(db, sending)
  return await attempt(context, watch, sending)
}

async function attempt(
  { db, clock, http, site, signal, pauses, warn }: Delivering,
  watch: Watch,
  state: DeliveryState & { readonly sending: number },
): Promise<number> {
  const changes = await readNews(db, sourcesOf(watch.events), state.number, state.sending)
  const numbers = changes.map(({ number }) => number)
  const occurrences = await readOccurrences(db, watch, numbers)
  const rest = { watch: state.watch, number: state.sending, sending: null, attempts: 0, retryAt: null }
  if (occurrences.length === 0) {
    // Its people have restricted themselves, or a filter has changed.
    await writeDelivery(db, { ...state, ...rest })
    return clock.now()
  }
  const id = idOf(watch, state, changes.at(-1)?.writtenAt)
  const { failure, isLasting, pause } = await sendMessage(
    watch.target,
    { id, watch: watch.name, occurrences, site },
    { clock, signal, http },
  )
  const now = clock.now()
  if (pause > 0) pauses.set(addressOf(watch), now + pause)
  const pausedUntil = pause > 0 ? new Date(now + pause) : null
  if (failure === null) {
    const delivered = { ...rest, retryAt: pausedUntil, failingSince: null, error: null, deliveredAt: new Date(now) }
    await writeDelivery(db, delivered)
    return now + pause
  }
  // The process ends: that says nothing about the receiver.
  if (signal.aborted) return now
  const failingSince = state.failingSince ?? new Date(now)
  const wait = isLasting ? LONGEST : Math.min(LONGEST, FIRST * 2 ** Math.min(state.attempts, 20))
  const retryAt = new Date(now + Math.max(pause, wait))
  const isOver = now - failingSince.getTime() > GIVE_UP
  if (state.attempts === 0 || isOver)
    warn(`watch ${watch.name}: ${failure}${isOver ? '; the message is given up' : ''}`)
  const failed = { ...state, attempts: state.attempts + 1, retryAt, failingSince, error: failure }
  await writeDelivery(db, isOver ? { ...failed, number: state.sending, sending: null } : failed)
  return retryAt.getTime()
}

/** What messages to the same receiver share. */
function addressOf({ target }: Watch): string {
  return target.type === 'command' ? target.command : target.url
}

/** The instant tells databases apart, whose numbers are the same. */
function idOf({ name }: Watch, { number, sending }: DeliveryState, at: Date | undefined): string {
  const key = JSON.stringify([name, number, sending, at?.toISOString()])
  return `msg_${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
}
