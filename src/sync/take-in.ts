import type { Heard } from '../api/heard.ts'
import type { Sql } from '../db/database.ts'
import { type Absorbed, absorb, observedBy } from './absorb.ts'
import { noCounts } from './counts.ts'
import type { Engine } from './engine.ts'
import { averageAgain } from './growth/rollup.ts'
import { appendGuardActions, type GuardAction, type LastSaid, missingAction, notSaidYet } from './guard/actions.ts'
import { appendObservation, type RunStatus } from './ledger.ts'
import { announce, type News } from './notices.ts'
import type { Preparation } from './prepare.ts'
import { announceRaw, keepRaw, type Taken } from './raw/raw.ts'
import { noteRefusal, type Refusal, type RefusalKind, type RefusalState } from './refusals.ts'
import { loadWithoutRefused } from './refused.ts'
import type { Extraction, Worklist } from './resource.ts'
import { lastOfKey, settleKey } from './work-items.ts'

/** What the API said of a key: its answer, or why there is none. */
export type Reply =
  | { readonly kind: 'answer'; readonly extraction: Extraction; readonly preparation: Preparation }
  | { readonly kind: RefusalKind; readonly reason: string; readonly respondedAt: number | null }

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
  readonly status: RunStatus | RefusalKind
  readonly observedAt: number
  /** Of a refused key: how far its refusals have come. What follows from them, the run decides. */
  readonly refusal?: Refusal & RefusalState
}

/** Takes what was said of a key into the database: tables, ledger, worklist and raw answer in one transaction. */
export async function takeIn(resource: Worklist, engine: Engine, saying: Saying): Promise<TakenIn> {
  const { runId, key, reply, heard } = saying
  const now = engine.clock.now()
  const ledger = { resource: resource.name, key, runId, receivedAt: new Date(now) }
  const load = (said: Reply) =>
    engine.db.transaction(async (sql) => {
      await announceRaw(sql, heard)
      const taking = { ...saying, sql, resource, engine, now, ledger }
      return said.kind === 'answer' ? await takeAnswer(taking, said) : await takeRefusal(taking, said)
    })
  if (reply.kind !== 'answer') return await load(reply)
  const loading = { resource, preparation: reply.preparation, at: new Date(reply.extraction.observedAt) }
  return await loadWithoutRefused(engine.db, loading, (preparation) => load({ ...reply, preparation }))
}

/** A refusal alone changes nothing of what is known: private is not gone, and either may be said wrongly. */
async function takeRefusal(taking: Taking, reply: Exclude<Reply, { readonly kind: 'answer' }>): Promise<TakenIn> {
  const { sql, resource, engine, key, now, ledger } = taking
  const { kind, reason, respondedAt } = reply
  const { absences } = engine.guards
  const refusal = { key, kind, at: Math.min(respondedAt ?? now, now), receivedAt: now }
  const state = await noteRefusal(sql, resource, refusal, absences)
  await appendObservation(sql, { ...ledger, status: kind, reason })
  await settleKey(sql, resource.name, { key, now })
  await keep(taking, { observedAt: null, status: state.state === 'concluded' ? kind : 'unconfirmed' })
  const isMissing = kind === 'gone' && state.state === 'pending'
  const guarded = await noteGuards(taking, isMissing ? [missingAction(absences)] : [])
  const taken = { ...nothing, status: kind, guarded, refusal: { ...refusal, ...state } }
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
  const accepted = status === 'ok' || status === 'unchanged' || status === 'partial'
  const observedAt = new Date(extraction.observedAt)
  const told = observedBy(extraction, status)
  await appendObservation(sql, { ...ledger, observedAt: told, status, reason })
  if (accepted) await averageAgain(sql, resource, observedAt)
  const shown = status === 'stale' ? 'long ago' : 'now'
  const settled = { key, now, shown, ...(accepted ? { accepted: { observedAt, contentHash, records } } : {}) } as const
  await settleKey(sql, resource.name, settled)
  const guarded = await noteGuards(taking, absorbed.guarded)
  await keep(taking, { observedAt: told, status, hidden })
  await tell(taking, { ...absorbed, guarded, observedAt: told })
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
