import { and, desc, eq, gte, lte, sql as text } from 'drizzle-orm'
import type { Database, Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import { accepted } from '../record/accepted.ts'
import { run } from '../record/tables.ts'
import { expectation, gap } from '../record/watch-tables.ts'
import { invalidateCoverage } from './count.ts'
import { type Between, type Expected, gapsBetween } from './gap.ts'

/** How often a resource is to be observed from an instant on. */
export interface Expectation {
  readonly resource: string
  /** Seconds from one observation to the next; null: none is expected, because the resource is switched off. */
  readonly everySeconds: number | null
  /** The command that set it. */
  readonly setBy: 'start' | 'sync'
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
    const expected = { everySeconds, toldBy: setBy }
    await typed(sql)
      .insert(expectation)
      .values({ resource, validFrom: at, ...expected })
      .onConflictDoUpdate({ target: [expectation.resource, expectation.validFrom], set: expected })
  })
}

/** An observation of a resource whose response holds all of it. */
export interface Observed {
  readonly resource: string
  /** The instant that the response speaks for. */
  readonly observedAt: Date
  /** When the response came, by the clock of this machine. */
  readonly receivedAt: Date
  /** Seconds that the API caches it. */
  readonly cacheSeconds: number
  /** Since when its request waited for the rate limit; null when it did not. */
  readonly waitedSince: Date | null
}

/** What a request takes, and what a header that counts whole seconds leaves out; ms. */
const imprecision = 5000

/**
 * Records what was missed between the last accepted response that holds all of a resource and this one.
 * To be called in the transaction of the response, before its ledger row.
 */
export async function recordGap(
  sql: Sql,
  { resource, observedAt, receivedAt, cacheSeconds, waitedSince }: Observed,
): Promise<void> {
  const [last] = await sql.query<{ at: Date; first: Date; latest: Date; expected: Expected[] | null }>(
    `select copy.observed_at as at, min(copy.finished_at) as first, max(copy.finished_at) as latest, ${expectations}
       from sync.run copy
      where copy.resource = $1 and copy.${accepted}
        and copy.observed_at = (select max(run.observed_at) from sync.run where run.resource = $1 and run.${accepted})
      group by copy.observed_at`,
    [resource],
  )
  if (!last?.expected) return
  const apart = receivedAt.getTime() - last.latest.getTime()
  // An identical copy that was requested later speaks for as much later.
  const began = last.at.getTime() + last.latest.getTime() - last.first.getTime()
  const ended = observedAt.getTime() === last.at.getTime() ? began + apart : observedAt.getTime()
  // How far apart two responses speak depends on how old their copies were; whether they were requested in time does not.
  const isSameTime = Math.abs(ended - began - apart) <= 1000 * cacheSeconds + imprecision
  const distance = isSameTime ? apart : ended - began
  const between = { began, ended, distance, expected: last.expected, since: last.latest }
  await writeGaps(sql, resource, { ...between, waitedSince })
}

/** The same for a worklist, of which a response about any key is an observation. Before the observation row. */
export async function recordWorklistGap(sql: Sql, resource: string, receivedAt: Date): Promise<void> {
  const [last] = await sql.query<{ at: Date; expected: Expected[] | null }>(
    `select one.received_at as at, ${expectations} from sync.observation one
      where one.resource = $1 and one.status not in ('rejected', 'stale') order by one.received_at desc limit 1`,
    [resource],
  )
  if (!last?.expected) return
  const [began, ended] = [last.at.getTime(), receivedAt.getTime()]
  await writeGaps(sql, resource, { began, ended, distance: ended - began, expected: last.expected, since: last.at })
}

const expectations = `(select jsonb_agg(jsonb_build_object('from', 1000 * extract(epoch from expected.valid_from), 'every', expected.every_seconds)
                      order by expected.valid_from)
         from sync.expectation expected where expected.resource = $1) as expected`

interface BetweenResponses extends Between {
  /** When the last response before came, by the clock of this machine. */
  readonly since: Date
  readonly waitedSince?: Date | null
}

async function writeGaps(
  sql: Sql,
  resource: string,
  { since, waitedSince = null, ...between }: BetweenResponses,
): Promise<void> {
  const gaps = gapsBetween(between)
  if (gaps.length === 0) return
  const reason = (await reasonSince(sql, resource, since)) ?? waitReason(waitedSince)
  const rows = gaps.map(({ began, ended, missed }) => ({
    resource,
    beganAt: new Date(began),
    endedAt: new Date(ended),
    missed,
    reason: missed === 0 ? 'switched off' : reason,
  }))
  // Of a worklist, two responses at once may find the same gap.
  await typed(sql).insert(gap).values(rows).onConflictDoNothing()
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
    .orderBy(desc(run.startedAt))
    .limit(1)
  return row?.reason ?? undefined
}

function waitReason(since: Date | null): string {
  if (since === null) return 'no request was sent'
  return `budget used up by others: the request waited for the rate limit since ${since.toISOString()}`
}
