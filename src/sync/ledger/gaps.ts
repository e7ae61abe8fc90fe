import { and, desc, eq, gte, lte, type SQL, sql as text } from 'drizzle-orm'
import type { Database, Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { anyOf, together, typed } from '../../db/typed.ts'
import { accepted } from '../sql/history-sql.ts'
import { run } from '../tables/ledger.ts'
import { expectation, gap } from '../tables/state.ts'

/** How often a resource is to be observed from an instant on. */
interface Expectation {
  readonly resource: string
  /** Seconds from one observation to the next; null: none is expected, because the resource is switched off. */
  readonly everySeconds: number | null
  /** The command that set it. */
  readonly setBy: 'start' | 'sync' | 'backfill'
  readonly at: Date
}

/** What is expected of a resource at an instant, or undefined when nothing was ever set. */
export async function expectationAt(
  sql: Sql,
  resource: string,
  at: Date,
): Promise<{ readonly everySeconds: number | null; readonly setBy: string } | undefined> {
  const [row] = await typed(sql)
    .select({ everySeconds: expectation.everySeconds, setBy: expectation.toldBy })
    .from(expectation)
    .where(and(eq(expectation.resource, resource), lte(expectation.validFrom, at)))
    .orderBy(desc(expectation.validFrom))
    .limit(1)
  return row
}

/** Sets how often a resource is to be observed from `at` on; writes a row only when that differs from what is in force. */
export async function setExpectedInterval(
  db: Database,
  { resource, everySeconds, setBy, at }: Expectation,
): Promise<void> {
  const inForce = await expectationAt(db, resource, at)
  if (inForce && inForce.everySeconds === everySeconds) return
  await db.transaction(async (sql) => {
    // The first one holds for the time before it, too.
    await invalidateCoverage(sql, resource, inForce ? at : null)
    if (!inForce && everySeconds !== null) await recordFormerGaps(sql, resource, everySeconds)
    const expected = { everySeconds, toldBy: setBy }
    await typed(sql)
      .insert(expectation)
      .values({ resource, validFrom: at, ...expected })
      .onConflictDoUpdate({ target: [expectation.resource, expectation.validFrom], set: expected })
  })
}

/**
 * Records how often a resource of which recordings are loaded should have been observed until an instant, and that it is not from then on.
 * What `start` or `sync` said of it holds.
 */
export async function expectUntil(
  db: Database,
  { resource, everySeconds, at }: Omit<Expectation, 'setBy'>,
): Promise<void> {
  await db.transaction(async (sql) => {
    const ofResource = eq(expectation.resource, resource)
    const former = await typed(sql).select({ setBy: expectation.toldBy }).from(expectation).where(ofResource)
    if (former.some(({ setBy }) => setBy !== 'backfill')) return
    await invalidateCoverage(sql, resource, null)
    if (former.length === 0 && everySeconds !== null) await recordFormerGaps(sql, resource, everySeconds)
    await typed(sql).delete(expectation).where(ofResource)
    await typed(sql)
      .insert(expectation)
      .values([
        { resource, validFrom: new Date(0), everySeconds, toldBy: 'backfill' },
        { resource, validFrom: at, everySeconds: null, toldBy: 'backfill' },
      ])
  })
}

/** Records what was missed between the responses that came before anything was expected of a resource. */
async function recordFormerGaps(sql: Sql, resource: string, everySeconds: number): Promise<void> {
  await sql.query(
    `insert into sync.gap (resource, began_at, ended_at, missed, reason)
     with seen as (
       select run.observed_at as at, run.observed_at + (max(run.finished_at) - min(run.finished_at)) as until
         from sync.run
        where run.resource = $1 and run.${accepted}
          and not exists (select from sync.observation one where one.resource = $1)
        group by run.observed_at
        union
       select one.received_at, one.received_at from sync.observation one
        where one.resource = $1 and one.status not in ('rejected', 'stale')
     ), step as (
       select seen.until as began, lead(seen.at) over (order by seen.at) as ended from seen
     ), missing as (
       select step.*, ceil(extract(epoch from step.ended - step.began) / $2::float8 - 0.5) - 1 as missed from step
     )
     select $1::text, missing.began, missing.ended, least(missing.missed, 2147483647)::int, $3::text from missing
      where missing.missed > 0
        and not exists (select from sync.expectation one where one.resource = $1)
        and not exists (select from sync.gap known
                         where known.resource = $1 and known.began_at < missing.ended and known.ended_at > missing.began)`,
    [resource, everySeconds, noRequest],
  )
}

/** An observation of a resource: a response that holds all of it, or one about any key of a worklist. */
interface Observed {
  readonly resource: string
  /** The instant that the response speaks for; of a worklist when it came. */
  readonly observedAt: Date
  /** When the response came, by the clock of this machine. */
  readonly receivedAt: Date
  /** Seconds that the API caches it. */
  readonly cacheSeconds: number
  /** Since when its request waited for the rate limit; null when it did not. */
  readonly waitedSince: Date | null
}

/** The last accepted response of a resource, as the next one is compared with it. */
export interface LastObserved {
  /** The instant that it speaks for; of a worklist when it came. Null before the first. */
  readonly seenAt: Date | null
  /** When it came, and when the latest identical copy of it did. */
  readonly first: Date | null
  readonly latest: Date | null
  readonly expected: readonly Expected[] | null
}

/** SQL: how often the resource `$1` is expected, as JSON. */
const expectations = `(select jsonb_agg(jsonb_build_object('from', 1000 * extract(epoch from expected.valid_from), 'every', expected.every_seconds)
                      order by expected.valid_from)
         from sync.expectation expected where expected.resource = $1) as expected`

/** SQL: one row of `LastObserved` of the resource `$1`, or none. */
export const LAST_OBSERVED = `select copy.observed_at as "seenAt", min(copy.finished_at) as first, max(copy.finished_at) as latest, ${expectations}
       from sync.run copy
      where copy.resource = $1 and copy.${accepted}
        and copy.observed_at = (select max(run.observed_at) from sync.run where run.resource = $1 and run.${accepted})
      group by copy.observed_at`

/** The same of a worklist, of which a response about any key is an observation. */
export const LAST_OBSERVED_KEY = `select one.received_at as "seenAt", one.received_at as first, one.received_at as latest, ${expectations}
       from sync.observation one
      where one.resource = $1 and one.status not in ('rejected', 'stale') order by one.received_at desc limit 1`

/** What a request takes, and what a header that counts whole seconds leaves out; ms. */
const imprecision = 5000

/** What records what was missed between the last observation of a resource and this one. */
export async function gapRows(
  sql: Sql,
  observed: Observed,
  last: LastObserved,
): Promise<Readonly<Record<string, SQL>>> {
  const { resource, observedAt, receivedAt, cacheSeconds, waitedSince } = observed
  const { seenAt, first, latest, expected } = last
  if (!expected || !seenAt || !first || !latest) return {}
  const apart = receivedAt.getTime() - latest.getTime()
  // An identical copy that was requested later speaks for as much later.
  const began = seenAt.getTime() + latest.getTime() - first.getTime()
  const ended = observedAt.getTime() === seenAt.getTime() ? began + apart : observedAt.getTime()
  // How far apart two responses speak depends on how old their copies were; whether they were requested in time does not.
  const isSameTime = Math.abs(ended - began - apart) <= 1000 * cacheSeconds + imprecision
  const gaps = gapsBetween({ began, ended, distance: isSameTime ? apart : ended - began, expected })
  if (gaps.length === 0) return {}
  const reason = (await reasonSince(sql, resource, latest)) ?? waitReason(waitedSince)
  const rows = gaps.map((one) => rowOfGap(resource, one, reason))
  // Of a worklist, two responses at once may find the same gap.
  return { gaps: typed(sql).insert(gap).values(rows).onConflictDoNothing().getSQL() }
}

/** Records what should have been observed between two responses of a resource, for a reason that is known. */
export async function recordGapBetween(
  sql: Sql,
  resource: string,
  { began, ended }: { readonly began: Date; readonly ended: Date },
  reason: string,
): Promise<void> {
  const [row] = await sql.query<{ expected: Expected[] | null }>(`select ${expectations}`, [resource])
  if (!row?.expected) return
  const from = began.getTime()
  const to = ended.getTime()
  const gaps = gapsBetween({ began: from, ended: to, distance: to - from, expected: row.expected })
  const rows = gaps.map((one) => rowOfGap(resource, one, reason))
  if (rows.length > 0) await typed(sql).insert(gap).values(rows).onConflictDoNothing()
}

function rowOfGap(resource: string, { began, ended, missed }: Gap, reason: string) {
  const between = { beganAt: new Date(began), endedAt: new Date(ended) }
  return { resource, ...between, missed, reason: missed === 0 ? 'switched off' : reason }
}

/** Why there was no response: what the last attempt in between came to. */
async function reasonSince(sql: Sql, resource: string, since: Date): Promise<string | undefined> {
  const [row] = await typed(sql)
    .select({ reason: text<string | null>`coalesce(${run.error}, ${run.reason})` })
    .from(run)
    .where(
      and(
        eq(run.resource, resource),
        anyOf(run.status, ['failed', 'interrupted', 'rejected', 'stale']),
        gte(run.startedAt, since),
      ),
    )
    .orderBy(text`${run.startedAt} desc nulls last`)
    .limit(1)
  return row?.reason ?? undefined
}

const noRequest = 'no request was sent'

function waitReason(since: Date | null): string {
  if (since === null) return noRequest
  return `budget used up by others: the request waited for the rate limit since ${since.toISOString()}`
}

/** How often something is expected from an instant on, in order of time. */
interface Expected {
  /** Ms since the epoch. */
  readonly from: number
  /** Seconds; null: not at all. */
  readonly every: number | null
}

/** A stretch of time in which `missed` observations should have been made; 0: none were expected. Ms since the epoch. */
interface Gap {
  readonly began: number
  readonly ended: number
  readonly missed: number
}

/** Two observations; ms since the epoch. */
interface Between {
  readonly began: number
  readonly ended: number
  /** How far apart they are for the purpose of being on time, ms. */
  readonly distance: number
  /** All expectations there are, at least one; the first holds for the time before it, too. */
  readonly expected: readonly Expected[]
}

/**
 * What was missed between two observations. The next one is on time until half its time has passed again, so that
 * neither drift nor a retry is a gap. Where the expectation changed in between, each part is a gap of its own.
 */
export function gapsBetween({ began, ended, distance, expected }: Between): Gap[] {
  if (ended <= began || distance <= 0) return []
  return expected.flatMap(({ from, every }, nth) => {
    const begins = nth === 0 ? began : Math.max(from, began)
    const until = expected[nth + 1]?.from ?? Number.POSITIVE_INFINITY
    const ends = Math.min(until, began + distance)
    if (begins >= ends) return []
    const missed = every === null ? 0 : missedIn((ends - begins) / 1000 / every)
    if (missed === 0 && every !== null) return []
    return [{ began: begins, ended: until < began + distance ? until : ended, missed }]
  })
}

/** Observations that are missing in a stretch of so many periods, between one at its beginning and one at its end. */
function missedIn(periods: number): number {
  return Math.max(0, Math.ceil(periods - 0.5) - 1)
}

/**
 * Invalidates what is counted of a resource from an instant on, before something is written that changes it. Counting waits
 * until the transaction ends.
 * @param at null: since ever
 */
export async function invalidateCoverage(sql: Sql, resource: string, at: Date | null): Promise<void> {
  await lockForTransaction(sql, countingLock(resource), 'shared')
  await together(sql, invalidation(resource, at))
}

/** The same where the transaction has the lock of counting. Where the ledger is compacted, what is counted stays. */
export function invalidation(resource: string, at: Date | null): Readonly<Record<string, SQL>> {
  const hour = text`date_trunc('hour', coalesce(${at}::timestamptz, '-infinity'), 'UTC')`
  return {
    reached: text`update sync.coverage_reach reach set counted_until = greatest(reach.thinned_until, ${hour})
        where reach.resource = ${resource} and reach.counted_until > greatest(reach.thinned_until, ${hour})
       returning reach.counted_until`,
    counted: text`delete from sync.coverage_hour counted using reached
        where counted.resource = ${resource} and counted.hour >= reached.counted_until`,
  }
}

/** Counting waits for transactions that write what is counted, and they wait for it. */
export function countingLock(resource: string): string {
  return `coverage ${resource}`
}
