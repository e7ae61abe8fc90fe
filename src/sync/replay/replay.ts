import { eq, min } from 'drizzle-orm'
import { ApiError, Forbidden, NotFound, Unavailable } from '../../api/errors.ts'
import { FatalError, messageOf, RetryableError } from '../../base/errors.ts'
import type { Database, Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { typed } from '../../db/typed.ts'
import {
  type ArchivedResponse,
  clientOf,
  countArchived,
  levelsOf,
  NotArchived,
  nextArchived,
} from '../archive/archive-source.ts'
import { type Extraction, isWorklist, type Resource, type Worklist } from '../declare/resource.ts'
import { prepare, rootsOf } from '../normalize/prepare.ts'
import { privacyLock } from '../privacy/privacy.ts'
import type { Engine } from '../run/engine.ts'
import { ingest, startRun } from '../run/ingest.ts'
import { runResource } from '../run/run-resource.ts'
import { accepted, historySql } from '../sql/history-sql.ts'
import { rawAnswer } from '../tables/archive.ts'
import { concludeRefusal } from '../worklist/conclude.ts'
import { addKeys } from '../worklist/work-items.ts'
import { differences, keepDrift, rebuiltBy, swapTables, type TableDifference, tablesOf } from './replayed-tables.ts'
import { createShadow, dropShadow, keepRestrictionStates, shadowOf } from './shadow.ts'

interface ReplayOptions {
  readonly resources: readonly (Resource | Worklist)[]
  /** Replace the tables by those of the replay. */
  readonly swap: boolean
  /** Leave the shadow tables for inspection. */
  readonly keep?: boolean
  readonly signal?: AbortSignal
  /** Called after each response: how many are done, of how many. */
  readonly onProgress?: (done: number, of: number) => void
}

export interface Replayed {
  /** `skipped`: another replay is running. */
  readonly status: 'ok' | 'skipped'
  readonly resources: readonly (Reach & { readonly isReplayed: boolean })[]
  readonly answers: number
  /** Responses that were loaded then and cannot be read now: nothing is swapped where there are any. */
  readonly lost: readonly string[]
  readonly tables: readonly TableDifference[]
  readonly swapped: boolean
}

/** Archived responses in memory at once. */
const batch = 50

/**
 * Rebuilds the tables of resources from all their archived responses in the order in which they were loaded, through the
 * readers and guards of today: into shadow tables, which are compared with the tables and replace them when that is wanted. A
 * resource that holds more than its archive is left alone. Syncs may go on meanwhile; until the swap nothing but the shadow
 * is written.
 * @param engine without an API: no request is sent
 * @throws RetryableError when the database is away, or what ended the signal
 */
export async function replay(engine: Omit<Engine, 'api'>, options: ReplayOptions): Promise<Replayed> {
  const { db } = engine
  const nothing = { status: 'ok', resources: [], answers: 0, lost: [], tables: [], swapped: false } as const
  const lock = await db.tryLock('wynnsync replay')
  if (!lock) return { ...nothing, status: 'skipped' }
  try {
    const reaches = await Promise.all(options.resources.map((resource) => reachOf(db, resource)))
    const isWhole = ({ name }: Resource | Worklist) =>
      reaches.some((one) => one.resource === name && one.from !== null && one.missing === null)
    const able = options.resources.filter(isWhole)
    const resources = reaches.map((one) => ({ ...one, isReplayed: able.some(({ name }) => name === one.resource) }))
    if (able.length === 0) return { ...nothing, resources }
    const names = able.map(({ name }) => name)
    await createShadow(db, names, new Set(rebuiltBy(able).map(({ name }) => name)))
    const walk = openWalk(engine, able, options)
    await walk.on(shadowOf(db), db)
    await keepDrift(db, able)
    await keepRestrictionStates(db, names)
    const tables = await differences(db, able)
    const swapped = options.swap && walk.lost.length === 0
    if (swapped) await swap(engine, able, walk)
    if (!options.keep || swapped) await dropShadow(db)
    return { status: 'ok', resources, answers: walk.answers(), lost: walk.lost, tables, swapped }
  } finally {
    await lock.release()
  }
}

/** Loads what was archived in the meantime, and swaps, while no other transaction archives a response. */
async function swap({ db }: Omit<Engine, 'api'>, resources: readonly (Resource | Worklist)[], walk: Walk) {
  await db.transaction(async (sql) => {
    await sql.query('lock table sync.raw_answer in share row exclusive mode')
    // The walk locks rows of the shadow; what a player restricts meanwhile waits for this.
    await lockForTransaction(sql, privacyLock, 'shared')
    await walk.on(shadowOf(db, sql), sql)
    if (walk.lost.length > 0) throw new FatalError(`nothing was swapped: ${walk.lost[0]}`)
    for (const resource of resources) {
      const { missing } = await reachOf(sql, resource)
      if (missing)
        throw new FatalError(`nothing was swapped: a response of ${resource.name} came that was not archived`)
    }
    await keepDrift(sql, resources)
    await keepRestrictionStates(
      sql,
      resources.map(({ name }) => name),
    )
    await swapTables(sql, resources)
  })
}

type Walk = ReturnType<typeof openWalk>

/** A walk over the archive that can be continued. */
function openWalk(
  engine: Omit<Engine, 'api'>,
  resources: readonly (Resource | Worklist)[],
  { signal, onProgress }: ReplayOptions,
) {
  const byName = new Map(resources.map((one) => [one.name, one]))
  const names = [...byName.keys()]
  const lost: string[] = []
  let last = -1
  let done = 0

  /** Loads, through this database, all archived responses of the source that were not loaded yet. */
  async function on(db: Database, source: Sql): Promise<void> {
    const of = done + (await countArchived(source, names, last))
    for (;;) {
      const responses = await nextArchived(source, names, last, batch)
      if (responses.length === 0) return
      for (const response of responses) {
        signal?.throwIfAborted()
        const resource = byName.get(response.resource)
        const unread = resource && (await loadAgain(resource, engine, db, response, source))
        // What could not be read then either is no loss.
        if (unread && response.status !== 'failed') lost.push(unread)
        last = response.answerId
        done += 1
        onProgress?.(done, Math.max(of, done))
      }
    }
  }

  return { on, answers: () => done, lost }
}

/** Loads one archived response as it was loaded then; returns what is wrong when it cannot be read. */
async function loadAgain(
  resource: Resource | Worklist,
  { clock, guards, ...rest }: Omit<Engine, 'api'>,
  db: Database,
  response: ArchivedResponse,
  source: Sql,
): Promise<string | undefined> {
  const { key, runId, takenAt, accepted } = response
  const engine: Engine = {
    ...rest,
    db,
    api: clientOf(response),
    // The ledger is written as of then.
    clock: { ...clock, now: () => takenAt.getTime() },
    guards: { ...guards, accept: accepted },
    raw: false,
    notifies: false,
    runId,
  }
  const lostFor = (why: string) => `${resource.name} ${key ?? ''} of ${takenAt.toISOString()}: ${why}`
  const lostBy = async (loaded: { readonly quarantined: number; readonly rejected: number }) => {
    if (!extraction || loaded.quarantined + loaded.rejected === 0) return undefined
    const unread = await unreadPart(source, resource, response, extraction)
    return unread && lostFor(unread)
  }
  let refusal: unknown
  let extraction: Extraction | undefined
  try {
    const again = withInstant(await extractAgain(resource, response), response)
    // That it was only a part of a response, such as a file of several, is not in it.
    extraction = response.complete === false && !isWorklist(resource) ? { ...again, complete: false } : again
  } catch (error) {
    // It was rejected then too: nothing follows from it now.
    const isRejected = error instanceof Unavailable || error instanceof ApiError
    if (isRejected && response.status === 'rejected') return undefined
    if (error instanceof Unavailable && (response.status === 'gone' || response.status === 'hidden')) return undefined
    const isResponse = isWorklist(resource) && (error instanceof NotFound || error instanceof Forbidden)
    if (!isResponse) return lostFor(messageOf(error))
    refusal = error
  }
  const extract = async () => {
    if (!extraction) throw refusal
    return extraction
  }
  if (isWorklist(resource)) {
    await addKeys(db, resource.name, [key ?? ''])
    const context = startRun({ resource: { ...resource, extractOne: extract }, key: key ?? '' }, engine)
    const loaded = await ingest(context)
    if (loaded.status === 'failed') throw loaded.error
    // Whether it was concluded then also depended on what else the run met.
    if (loaded.refusal?.state === 'confirmed' && response.status !== 'unconfirmed')
      await concludeRefusal(resource, engine, runId, loaded.refusal)
    return await lostBy(loaded)
  }
  const run = await runResource({ ...resource, extract }, engine)
  if (run.status === 'failed') throw run.temporary ? new RetryableError(`${run.error}`) : new FatalError(`${run.error}`)
  return await lostBy(run)
}

/** The archive has the instant that the clocks came to then. */
function withInstant(extraction: Extraction, { observedAt }: ArchivedResponse): Extraction {
  if (observedAt === null) return extraction
  const later = observedAt.getTime() - extraction.observedAt
  const instants = { observedFrom: extraction.observedFrom + later, observedAt: observedAt.getTime() }
  return { ...extraction, ...instants, clockSkew: 0 }
}

/** What of a response cannot be normalized any more although the tables hold what came of it. */
async function unreadPart(
  source: Sql,
  resource: Resource | Worklist,
  { key, status }: ArchivedResponse,
  { records }: Extraction,
): Promise<string | undefined> {
  const preparation = prepare(resource, records)
  const [first] = preparation.quarantined
  if (!first) return undefined
  const reason = `${first.path}: ${first.reason}`
  // Nothing was quarantined then.
  if (status === 'ok' || status === 'unchanged') return reason
  if (key === null || rootsOf(preparation).length > 0 || status !== 'partial') return undefined
  const { table, keyText } = historySql(resource.history)
  const kept = await source.query(`select from ${table.name} kept where ${keyText('kept')} = $1 limit 1`, [key])
  return kept.length > 0 ? reason : undefined
}

/** Sends the requests of then: everything at once, or where that was not requested, page by page. */
async function extractAgain(resource: Resource | Worklist, response: ArchivedResponse): Promise<Extraction> {
  if (isWorklist(resource)) return await resource.extractOne(clientOf(response), response.key ?? '', {})
  const levels = levelsOf(response)
  return await resource.extract(clientOf(response), { levels }).catch((error: unknown) => {
    if (!(error instanceof NotArchived)) throw error
    return resource.extract(clientOf(response, { isPart: response.complete === false }), { levels, walk: true })
  })
}

/** How far back the archived responses of a resource go, and whether they are complete. */
interface Reach {
  readonly resource: string
  /** When the oldest archived response was loaded; null when there is none. */
  readonly from: Date | null
  /**
   * The latest accepted response that is in the tables and not in the archive; or, where retention has compacted the tables,
   * the instant since when it has not. Null when nothing is missing.
   */
  readonly missing: Date | null
}

/** Accepted responses in the ledger that are not archived; and, where the ledger is compacted, the hour in which it begins. */
const missingWhole = `
  select max(at) as at from (
    select observed_at as at from sync.run answer
     where resource = $1 and ${accepted} and observed_at is not null
       and not exists (select from sync.raw_answer raw where raw.resource = $1 and raw.observed_at = answer.observed_at)
    union all
    select min(hour) from sync.coverage_hour
     where resource = $1 and observed > 0
       and hour < (select thinned_until from sync.coverage_reach where resource = $1)
    having min(hour) + interval '1 hour' < (select min(taken_at) from sync.raw_answer where resource = $1)
  ) missing`

/** What a replay would restore of a compacted table, and of a response that the ledger does not have any more. */
const thinned = `
  select max(fine_since) as at from sync.tier where sample_table = 'raw/' || $1 or sample_table = any($2::text[])`

/** What was purged is in no table, so that no archived response is missing for it. */
const isNamed = `answer.key <> 'removed'`

const missingKeys = `
  select max(at) as at from (
    select received_at as at from sync.observation answer
     where resource = $1 and ${accepted} and ${isNamed}
       and not exists (select from sync.raw_answer raw
                        where raw.resource = $1 and raw.key = answer.key and raw.observed_at = answer.observed_at)
    union all
    select received_at from sync.observation answer
     where resource = $1 and status = 'gone' and ${isNamed}
       and not exists (select from sync.raw_answer raw
                        where raw.resource = $1 and raw.key = answer.key and raw.run_id = answer.run_id)
    union all
    select first_observed_at from sync.work_item item
     where resource = $1 and first_observed_at is not null
       and not exists (select from sync.raw_answer raw
                        where raw.resource = $1 and raw.key = item.key and raw.observed_at = item.first_observed_at)
  ) missing`

/** Whether everything in the tables of a resource could be rebuilt from its archived responses. */
export async function reachOf(sql: Sql, resource: Resource | Worklist): Promise<Reach> {
  const { name } = resource
  const [oldest] = await typed(sql)
    .select({ at: min(rawAnswer.takenAt) })
    .from(rawAnswer)
    .where(eq(rawAnswer.resource, name))
  const [missing] = await sql.query<{ at: Date | null }>(isWorklist(resource) ? missingKeys : missingWhole, [name])
  const [gone] = await sql.query<{ at: Date | null }>(thinned, [name, tablesOf(resource)])
  const since = [missing, gone].flatMap((one) => one?.at?.getTime() ?? [])
  return { resource: name, from: oldest?.at ?? null, missing: since.length > 0 ? new Date(Math.max(...since)) : null }
}
