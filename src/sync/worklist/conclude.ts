import type { Sql } from '../../db/database.ts'
import { invalidateCoverage } from '../coverage/count.ts'
import type { Engine } from '../engine.ts'
import { noCounts } from '../load/load-counts.ts'
import { tombstoneKey } from '../load/missing-keys.ts'
import { applyRefusal } from '../privacy/privacy.ts'
import { notifyChannel } from '../record/notifications.ts'
import type { Worklist } from '../resource.ts'
import type { KeyResult } from '../run/run-summary.ts'
import { appendGuardActions, type GuardAction, tombstoneAction } from '../validate/guard-actions.ts'
import type { Refusal } from './refusals.ts'
import { lastOfKey } from './work-items.ts'

/**
 * Draws the conclusion from a confirmed refusal: redacts what it hides, or ends what is gone. Nothing follows when an answer
 * came in between.
 */
export async function concludeRefusal(
  resource: Worklist,
  engine: Engine,
  runId: string,
  refusal: Refusal,
): Promise<KeyResult | undefined> {
  const { key, kind } = refusal
  return await engine.db.transaction(async (sql) => {
    // As in every transaction that touches the archive: before anything else.
    if (engine.raw) await sql.query('lock table sync.raw_answer in row exclusive mode')
    const last = await lastOfKey(sql, resource.name, key)
    const [item] = await sql.query<{ since: Date }>(
      `select refused_since as since from sync.work_item where resource = $1 and key = $2 and refusal = $3`,
      [resource.name, key, kind],
    )
    if (!item) return undefined
    // By a clock that is behind, it still comes after the last answer.
    const after = (at: number) => new Date(Math.max(at, (last?.observedAt ?? 0) + 1))
    const told =
      kind === 'hidden'
        ? await redact(sql, resource, engine, runId, { ...refusal, at: after(refusal.at).getTime() })
        : await tombstone(sql, resource, key, after(item.since.getTime()))
    await sql.query(
      `update sync.work_item set refusal = null, refused_since = null, refused_times = null
        where resource = $1 and key = $2`,
      [resource.name, key],
    )
    await sql.query(
      `update sync.raw_answer set status = $4
        where resource = $1 and key = $2 and run_id = $3 and status = 'unconfirmed'`,
      [resource.name, key, runId, kind],
    )
    const at = new Date(refusal.receivedAt)
    await appendGuardActions(sql, { resource: resource.name, at, runId }, told.guarded)
    if (engine.notifies)
      await notifyChannel(sql, {
        resource: resource.name,
        key,
        runId,
        at,
        status: kind,
        counts: told,
        guarded: told.guarded,
      })
    return told
  })
}

type Concluded = KeyResult & { readonly guarded: readonly GuardAction[] }

const nothing = { ...noCounts, observedAt: 0, guarded: [] }

async function redact(
  sql: Sql,
  resource: Worklist,
  { privacy = 'anonymize' }: Engine,
  runId: string,
  { key, at }: Refusal,
): Promise<Concluded> {
  const source = { resource: resource.name, key, at: new Date(at), runId, policy: privacy }
  if (resource.personal) await applyRefusal(sql, resource.personal, source)
  return { ...nothing, status: 'hidden', changed: 1, reason: 'refused twice: what it hides is redacted' }
}

async function tombstone(sql: Sql, resource: Worklist, key: string, at: Date): Promise<Concluded> {
  const closed = await tombstoneKey(sql, resource, key, at)
  await sql.query(
    'update sync.work_item set gone_at = $3, content_hash = null where resource = $1 and key = $2',
    // Whatever is shown again is news, also where it is the same as before.
    [resource.name, key, at],
  )
  return {
    ...nothing,
    status: 'gone',
    closed,
    reason: null,
    guarded: closed === 0 ? [] : [{ ...tombstoneAction, key }],
  }
}

/** What was refused in a run whose refusals are not believed counts for nothing. */
export async function rejectRefusals(
  resource: Worklist,
  { db, raw }: Engine,
  run: { readonly runId: string; readonly startedAt: Date },
  keys: readonly string[],
  reason: string,
): Promise<void> {
  await db.transaction(async (sql) => {
    if (raw) await sql.query('lock table sync.raw_answer in row exclusive mode')
    await invalidateCoverage(sql, resource.name, run.startedAt)
    await sql.query(
      `update sync.work_item set refusal = null, refused_since = null, refused_times = null
        where resource = $1 and key = any($2::text[])`,
      [resource.name, keys],
    )
    await sql.query(
      `update sync.observation set status = 'rejected', reason = $4
        where resource = $1 and key = any($2::text[]) and run_id = $3 and status in ('hidden', 'gone')`,
      [resource.name, keys, run.runId, reason],
    )
    await sql.query(
      `update sync.raw_answer set status = 'rejected'
        where resource = $1 and key = any($2::text[]) and run_id = $3 and status = 'unconfirmed'`,
      [resource.name, keys, run.runId],
    )
  })
}
