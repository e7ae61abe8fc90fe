import type { Heard } from '../api/heard.ts'
import type { Sql } from '../db/database.ts'
import { forgetAbsences } from './absent.ts'
import { type Absorbed, absorb } from './absorb.ts'
import { noCounts } from './counts.ts'
import type { Engine } from './engine.ts'
import { averageAgain } from './growth/rollup.ts'
import { appendGuardActions, type GuardAction, goneActions, type LastSaid, notSaidYet } from './guard/actions.ts'
import { appendObservation, type RunStatus } from './ledger.ts'
import { announce, type News } from './notices.ts'
import type { Preparation } from './prepare.ts'
import { hearRefusal } from './privacy/privacy.ts'
import { announceRaw, keepRaw, type Taken } from './raw/raw.ts'
import type { Extraction, Worklist } from './resource.ts'
import { endGone } from './settle.ts'
import { lastOfKey, settleKey } from './work-items.ts'

/** What the API said of a key: its answer, or why there is none. */
export type Reply =
  | { readonly kind: 'answer'; readonly extraction: Extraction; readonly preparation: Preparation }
  | { readonly kind: 'hidden'; readonly reason: string }
  | { readonly kind: 'gone' }

interface Saying {
  readonly runId: string
  readonly key: string
  readonly reply: Reply
  /** Word for word, where it is to be kept. */
  readonly heard: readonly Heard[]
  /** What guards said before. */
  readonly said: LastSaid
}

/** Everything of one saying, within its transaction. */
interface Taking extends Saying {
  readonly sql: Sql
  readonly resource: Worklist
  readonly engine: Engine
  /** ms since the epoch */
  readonly now: number
  readonly ledger: {
    readonly resource: string
    readonly key: string
    readonly runId: string
    readonly receivedAt: Date
  }
}

/** What it came to. `observedAt`: the instant an accepted answer speaks for, ms since the epoch; otherwise 0. */
export type TakenIn = Omit<Absorbed, 'contentHash' | 'living' | 'normalized' | 'status'> & {
  readonly status: RunStatus | 'hidden' | 'gone'
  readonly observedAt: number
}

/** Takes what was said of a key into the database: tables, ledger, worklist and raw answer in one transaction. */
export async function takeIn(resource: Worklist, engine: Engine, saying: Saying): Promise<TakenIn> {
  const { runId, key, reply, heard } = saying
  const now = engine.clock.now()
  const ledger = { resource: resource.name, key, runId, receivedAt: new Date(now) }
  return await engine.db.transaction(async (sql) => {
    await announceRaw(sql, heard)
    const taking = { ...saying, sql, resource, engine, now, ledger }
    if (reply.kind === 'hidden') return await takeHidden(taking, reply.reason)
    return reply.kind === 'gone' ? await takeGone(taking) : await takeAnswer(taking, reply)
  })
}

/** Private is not gone: what was known of it is neither confirmed nor ended. */
async function takeHidden(taking: Taking, reason: string): Promise<TakenIn> {
  const { sql, resource, engine, key, now, ledger } = taking
  await appendObservation(sql, { ...ledger, status: 'hidden', reason })
  const teller = { ...ledger, at: ledger.receivedAt, policy: engine.privacy ?? 'anonymize' }
  if (resource.personal) await hearRefusal(sql, resource.personal, teller)
  await settleKey(sql, resource.name, { key, now })
  await keep(taking, { observedAt: null, status: 'hidden' })
  return { ...nothing, status: 'hidden' }
}

async function takeGone(taking: Taking): Promise<TakenIn> {
  const { sql, resource, engine, key, now, ledger } = taking
  const { absences } = engine.guards
  const last = await lastOfKey(sql, resource.name, key)
  // A refusal has no instant of its own; by a clock that is behind the service's it still comes after the last answer.
  const at = new Date(Math.max(now, (last?.observedAt ?? 0) + 1))
  const { closed, gone } = await endGone(sql, resource, key, { absences, at })
  await appendObservation(sql, { ...ledger, status: 'gone', reason: 'the API does not know it any more' })
  await settleKey(sql, resource.name, { key, now, gone })
  await keep(taking, { observedAt: null, status: 'gone' })
  const guarded = await noteGuards(taking, goneActions({ closed, gone }, absences))
  const taken = { ...nothing, status: 'gone', closed, guarded } as const
  await tell(taking, { ...taken, observedAt: null })
  return taken
}

async function takeAnswer(taking: Taking, reply: Reply & { readonly kind: 'answer' }): Promise<TakenIn> {
  const { sql, resource, engine, runId, key, now, ledger } = taking
  const { guards, privacy } = engine
  const last = await lastOfKey(sql, resource.name, key)
  const { extraction, preparation } = reply
  const answer = { extraction, preparation, last, receivedAt: now, guards, privacy, runId, scope: key }
  const absorbed = await absorb(sql, resource, answer)
  const { status, reason, contentHash, records, hidden } = absorbed
  await forgetAbsences(sql, resource.name, [key])
  const accepted = status === 'ok' || status === 'unchanged' || status === 'partial'
  const observedAt = new Date(extraction.observedAt)
  await appendObservation(sql, { ...ledger, observedAt, status, reason })
  if (accepted) await averageAgain(sql, resource, observedAt)
  const settled = accepted ? { key, now, accepted: { observedAt, contentHash, records } } : { key, now }
  await settleKey(sql, resource.name, settled)
  const guarded = await noteGuards(taking, absorbed.guarded)
  await keep(taking, { observedAt, status, hidden })
  await tell(taking, { ...absorbed, guarded, observedAt })
  return { ...absorbed, observedAt: accepted ? extraction.observedAt : 0, guarded }
}

async function keep(taking: Taking, taken: Pick<Taken, 'observedAt' | 'status' | 'hidden'>): Promise<void> {
  const { sql, heard, ledger, engine } = taking
  await keepRaw(sql, heard, { ...ledger, takenAt: ledger.receivedAt, accepted: engine.guards.accept, ...taken })
}

/** What a guard says again and again is said once. */
async function noteGuards({ sql, said, key, ledger }: Taking, actions: readonly GuardAction[]): Promise<GuardAction[]> {
  const news = notSaidYet(said, key, actions)
  await appendGuardActions(sql, { ...ledger, at: ledger.receivedAt }, news)
  return news
}

type Telling = Pick<News, 'status' | 'observedAt' | 'guarded' | 'drift'> & NonNullable<News['counts']>

async function tell({ sql, engine, ledger }: Taking, told: Telling): Promise<void> {
  if (engine.announces) await announce(sql, { ...ledger, at: ledger.receivedAt, ...told, counts: told })
}

const nothing: Omit<TakenIn, 'status'> = {
  ...noCounts,
  reason: null,
  guarded: [],
  drift: [],
  hidden: [],
  observedAt: 0,
}
