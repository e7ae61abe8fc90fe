import { and, asc, between, eq, getTableColumns, gte, inArray, lt, sql as text } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { rawAnswer } from '../tables/archive.ts'
import { drift, observation, quarantine, run } from '../tables/ledger.ts'
import { guardAction } from '../tables/state.ts'

const { contentHash: _c, reload: _r, bodyHash: _b, normalized: _n, living, ...shownColumns } = getTableColumns(run)

interface WantedRuns {
  /** Names; none for all. */
  readonly resources: readonly string[]
  readonly failed: boolean
  readonly since: Date | undefined
  readonly until?: Date
  /** 0 for all. */
  readonly limit: number
  readonly offset?: number
  /** Left out: the latest first. */
  readonly order?: { readonly by: RunOrder; readonly isFalling: boolean }
}

/** What the latest runs can be sorted by. */
type RunOrder = 'startedAt' | 'resource' | 'status' | 'took' | 'records' | 'inserted' | 'changed' | 'closed'

/** So many of the latest runs are sorted by something else than when they began. */
const SORTED_RUNS = 10_000

/** One row of the ledger, without what only the engine needs. */
export type LedgerRun = Awaited<ReturnType<typeof readRuns>>[number]

export async function readRuns(
  sql: Sql,
  { resources, failed, since, until, limit, offset = 0, order = { by: 'startedAt', isFalling: true } }: WantedRuns,
) {
  const wanted = and(
    resources.length > 0 ? inArray(run.resource, [...resources]) : undefined,
    failed ? inArray(run.status, ['failed', 'rejected']) : undefined,
    since ? gte(run.startedAt, since) : undefined,
    until ? lt(run.startedAt, until) : undefined,
  )
  const latest = [text`${run.startedAt} desc nulls last`, asc(run.resource)]
  const { by, isFalling } = order
  const column = by === 'took' ? text`${run.finishedAt} - ${run.startedAt}` : run[by]
  const sorted = typed(sql)
    .select({ runId: run.runId })
    .from(run)
    .where(wanted)
    .orderBy(...latest)
    .limit(SORTED_RUNS)
  const chosen = typed(sql)
    .select({ ...shownColumns, currentKeys: living })
    .from(run)
    .where(by === 'startedAt' ? wanted : inArray(run.runId, sorted))
    .orderBy(isFalling ? text`${column} desc nulls last` : text`${column} asc nulls last`, ...latest)
    .offset(offset)
  return await (limit > 0 ? chosen.limit(limit) : chosen)
}

/** The runs whose id begins like this, two at most. */
export async function runsCalled(sql: Sql, id: string): Promise<LedgerRun[]> {
  return await typed(sql)
    .select({ ...shownColumns, currentKeys: living })
    .from(run)
    .where(text`starts_with(${run.runId}::text, ${id.toLowerCase()})`)
    .limit(2)
}

function columnsOf<Table, Name extends keyof Table>(table: Table, ...names: readonly Name[]): Pick<Table, Name> {
  return Object.fromEntries(names.map((name) => [name, table[name]])) as Pick<Table, Name>
}

/** Everything that a run left, at most so many of each: its requests as far as they are archived, responses by key, guards, quarantine, drift. */
export async function readTraces(
  sql: Sql,
  { runId, resource, startedAt, finishedAt }: LedgerRun,
  most = Number.MAX_SAFE_INTEGER,
) {
  const db = typed(sql)
  // The clocks of request and ledger are one machine's; the margin is for the end of a request after that of its run.
  const span = [new Date(startedAt.getTime() - 60_000), new Date(finishedAt.getTime() + 60_000)] as const
  const requests = await db
    .select(columnsOf(rawAnswer, 'request', 'key', 'httpStatus', 'receivedAt', 'status'))
    .from(rawAnswer)
    .where(and(eq(rawAnswer.resource, resource), between(rawAnswer.takenAt, ...span), eq(rawAnswer.runId, runId)))
    .orderBy(rawAnswer.answerId, rawAnswer.position)
    .limit(most)
  const responses = await db
    .select(columnsOf(observation, 'key', 'status', 'observedAt', 'reason'))
    .from(observation)
    .where(
      and(eq(observation.resource, resource), between(observation.receivedAt, ...span), eq(observation.runId, runId)),
    )
    .orderBy(observation.receivedAt)
    .limit(most)
  const guards = await db
    .select(columnsOf(guardAction, 'at', 'key', 'guard', 'action', 'reason'))
    .from(guardAction)
    .where(and(eq(guardAction.resource, resource), between(guardAction.at, ...span), eq(guardAction.runId, runId)))
    .orderBy(guardAction.at)
    .limit(most)
  // As text: a rising number may be too long for JSON.
  const id = text<string>`${quarantine.id}::text`
  const quarantined = await db
    .select({ id, ...columnsOf(quarantine, 'key', 'path', 'reason') })
    .from(quarantine)
    .where(and(eq(quarantine.resource, resource), eq(quarantine.runId, runId)))
    .orderBy(quarantine.id)
    .limit(most)
  const drifted = await db
    .select(columnsOf(drift, 'kind', 'path', 'member', 'key'))
    .from(drift)
    .where(and(eq(drift.resource, resource), eq(drift.runId, runId)))
    .orderBy(drift.id)
    .limit(most)
  return { requests, responses, guards, quarantine: quarantined, drift: drifted }
}
