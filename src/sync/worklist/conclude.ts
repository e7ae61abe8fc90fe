import { and, eq, inArray } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import { lockArchive } from '../archive/archive.ts'
import type { Worklist } from '../declare/resource.ts'
import { invalidateCoverage } from '../ledger/gaps.ts'
import { noCounts } from '../ledger/ledger.ts'
import { namesInResponses } from '../outbox/outbox.ts'
import { applyRefusal } from '../privacy/privacy.ts'
import type { RuleSource } from '../privacy/restrictions/rule-source.ts'
import { forgetRefusals, lastOfKey } from '../respond/checked-keys.ts'
import { tombstoneAction } from '../respond/guard-actions.ts'
import { tombstoneKey } from '../respond/missing-keys.ts'
import { type Outcome, recordOutcome } from '../respond/record-outcome.ts'
import type { Engine } from '../run/engine.ts'
import { rawAnswer } from '../tables/archive.ts'
import { observation } from '../tables/ledger.ts'
import { type Refusal, refusedSince } from './refusals.ts'
import { markGone } from './work-items.ts'

/**
 * Concludes a confirmed refusal: redacts what it hides, or tombstones what is gone. Nothing follows when a response came in
 * between.
 */
export async function concludeRefusal(
  resource: Worklist,
  engine: Engine,
  runId: string,
  refusal: Refusal,
): Promise<Outcome | undefined> {
  const { key, kind, receivedAt } = refusal
  const { clock } = engine.guards
  return await engine.db.transaction(async (sql) => {
    const last = await lastOfKey(sql, resource.name, key, { archives: engine.raw === true })
    const since = await refusedSince(sql, resource, refusal, clock)
    if (!since) return undefined
    // By a clock that is behind, it still comes after the last response.
    const after = (at: number) => new Date(Math.max(at, (last?.observedAt ?? 0) + 1))
    const concluded =
      kind === 'hidden'
        ? await redact(sql, resource, engine, {
            key,
            runId,
            at: after(clock === 'api' ? refusal.at : Math.min(refusal.at, receivedAt)),
            receivedAt: new Date(receivedAt),
          })
        : await tombstone(sql, resource, key, after(since.getTime()))
    const subject = { resource: resource.name, people: namesInResponses(resource), key, runId, status: kind }
    const nothing = { ...noCounts, reason: null, observedAt: null, guarded: [], drift: [] }
    const outcome = { ...subject, ...nothing, concludes: kind, at: new Date(receivedAt), ...concluded }
    return await recordOutcome(sql, outcome, engine.notifies)
  })
}

async function redact(
  sql: Sql,
  { name, personal }: Worklist,
  { privacy = 'anonymize' }: Engine,
  source: Pick<RuleSource, 'key' | 'runId' | 'at' | 'receivedAt'>,
) {
  if (personal) await applyRefusal(sql, personal, { ...source, resource: name, policy: privacy })
  return { changed: 1, reason: 'refused twice: what it hides is redacted' }
}

async function tombstone(sql: Sql, resource: Worklist, key: string, at: Date) {
  const { closed, withdrawn, goneAt } = await tombstoneKey(sql, resource, key, at)
  await markGone(sql, resource.name, key, goneAt)
  const reason = 'it is refused again, and one response alone had shown it since its tombstone: that is taken back'
  return {
    closed,
    changed: withdrawn,
    guarded: [
      ...(withdrawn > 0 ? [{ guard: 'absence', action: 'withdrawn', reason, key } as const] : []),
      ...(closed > 0 ? [{ ...tombstoneAction, key }] : []),
    ],
  }
}

/** Rejects what was refused in runs whose refusals are not credible. @param runs.since when the first of them came */
export async function rejectRefusals(
  resource: Worklist,
  { db, raw }: Engine,
  runs: { readonly runIds: readonly string[]; readonly since: Date },
  keys: readonly string[],
  reason: string,
): Promise<void> {
  await db.transaction(async (sql) => {
    if (raw) await lockArchive(sql)
    await invalidateCoverage(sql, resource.name, runs.since)
    await forgetRefusals(sql, resource.name, keys)
    const ofRun = (table: typeof observation | typeof rawAnswer) =>
      and(eq(table.resource, resource.name), anyOf(table.runId, runs.runIds), anyOf(table.key, keys))
    await typed(sql)
      .update(observation)
      .set({ status: 'rejected', reason })
      .where(and(ofRun(observation), inArray(observation.status, ['hidden', 'gone'])))
    await typed(sql)
      .update(rawAnswer)
      .set({ status: 'rejected' })
      .where(and(ofRun(rawAnswer), eq(rawAnswer.status, 'unconfirmed')))
  })
}
