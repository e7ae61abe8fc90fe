import type { Database, Sql } from '../../db/database.ts'
import { invalidateCoverage } from './count.ts'
import { type Expected, gapsBetween } from './gap.ts'

/** How often a resource is to be observed from an instant on. */
export interface Expectation {
  readonly resource: string
  /** Seconds from one observation to the next; null: none is expected, because somebody switched the resource off. */
  readonly everySeconds: number | null
  /** Which command says so. */
  readonly toldBy: 'start' | 'sync'
  readonly at: Date
}

/** What is expected of a resource at an instant, or undefined when nobody ever told. */
export async function expectationAt(
  sql: Sql,
  resource: string,
  at: Date,
): Promise<Pick<Expectation, 'everySeconds' | 'toldBy'> | undefined> {
  const [row] = await sql.query<Pick<Expectation, 'everySeconds' | 'toldBy'>>(
    `select every_seconds as "everySeconds", told_by as "toldBy" from sync.expectation
      where resource = $1 and valid_from <= $2 order by valid_from desc limit 1`,
    [resource, at],
  )
  return row
}

/** Says how often a resource is to be observed from `at` on; writes a row only when that differs from what is in force. */
export async function setExpectedInterval(
  db: Database,
  { resource, everySeconds, toldBy, at }: Expectation,
): Promise<void> {
  const inForce = await expectationAt(db, resource, at)
  if (inForce && inForce.everySeconds === everySeconds) return
  await db.transaction(async (sql) => {
    // What is told first holds for the time before it, too.
    await invalidateCoverage(sql, resource, inForce ? at : null)
    await sql.query(
      `insert into sync.expectation (resource, valid_from, every_seconds, told_by) values ($1, $2, $3, $4)
       on conflict (resource, valid_from) do update set every_seconds = excluded.every_seconds, told_by = excluded.told_by`,
      [resource, at, everySeconds, toldBy],
    )
  })
}

/** An answer of a resource that is asked for as a whole. */
export interface Seen {
  readonly resource: string
  /** The instant that it speaks for. */
  readonly observedAt: Date
  /** When it came, by the clock of this machine. */
  readonly receivedAt: Date
  /** Seconds that the API keeps one copy of it. */
  readonly cacheSeconds: number
}

/** What a request takes, and what a header that counts whole seconds leaves out; ms. */
const imprecision = 5000

/**
 * Writes down what was missed between the last accepted answer of a resource that is asked for as a whole and this one.
 * To be called in the transaction of the answer, before its ledger row.
 */
export async function noteGap(sql: Sql, { resource, observedAt, receivedAt, cacheSeconds }: Seen): Promise<void> {
  const [last] = await sql.query<{ at: Date; first: Date; latest: Date; told: Expected[] | null }>(
    `select copy.observed_at as at, min(copy.finished_at) as first, max(copy.finished_at) as latest, ${told}
       from sync.run copy
      where copy.resource = $1 and copy.status in ('ok', 'unchanged', 'partial')
        and copy.observed_at = (select max(run.observed_at) from sync.run
                                 where run.resource = $1 and run.status in ('ok', 'unchanged', 'partial'))
      group by copy.observed_at`,
    [resource],
  )
  if (!last?.told) return
  const asked = receivedAt.getTime() - last.latest.getTime()
  // An identical copy, asked for again, speaks for as much later as it was asked for later.
  const began = last.at.getTime() + last.latest.getTime() - last.first.getTime()
  const ended = observedAt.getTime() === last.at.getTime() ? began + asked : observedAt.getTime()
  // How far apart two answers speak depends on how old their copies were; whether somebody looked in time does not.
  const isSameTime = Math.abs(ended - began - asked) <= 1000 * cacheSeconds + imprecision
  const distance = isSameTime ? asked : ended - began
  await writeGaps(sql, resource, { began, ended, distance, told: last.told, since: last.latest })
}

/** The same for a worklist, of which an answer about any key is an observation. Before the observation row. */
export async function noteWorklistGap(sql: Sql, resource: string, receivedAt: Date): Promise<void> {
  const [last] = await sql.query<{ at: Date; told: Expected[] | null }>(
    `select one.received_at as at, ${told} from sync.observation one
      where one.resource = $1 and one.status not in ('rejected', 'stale') order by one.received_at desc limit 1`,
    [resource],
  )
  if (!last?.told) return
  const [began, ended] = [last.at.getTime(), receivedAt.getTime()]
  await writeGaps(sql, resource, { began, ended, distance: ended - began, told: last.told, since: last.at })
}

const told = `(select jsonb_agg(jsonb_build_object('from', 1000 * extract(epoch from expected.valid_from), 'every', expected.every_seconds)
                      order by expected.valid_from)
         from sync.expectation expected where expected.resource = $1) as told`

interface Between {
  readonly began: number
  readonly ended: number
  readonly distance: number
  readonly told: readonly Expected[]
  /** When the last answer before came, by the clock of this machine. */
  readonly since: Date
}

async function writeGaps(sql: Sql, resource: string, { since, ...between }: Between): Promise<void> {
  const gaps = gapsBetween(between)
  if (gaps.length === 0) return
  const reason = await reasonSince(sql, resource, since)
  for (const { began, ended, missed } of gaps) {
    await sql.query(
      `insert into sync.gap (resource, began_at, ended_at, missed, reason) values ($1, $2, $3, $4, $5)
       -- Of a worklist, two answers at once may find the same gap.
       on conflict (resource, began_at) do nothing`,
      [resource, new Date(began), new Date(ended), missed, missed === 0 ? 'switched off' : reason],
    )
  }
}

/** Why there was no answer: what the last attempt in between came to. */
async function reasonSince(sql: Sql, resource: string, since: Date): Promise<string> {
  const [row] = await sql.query<{ reason: string | null }>(
    `select coalesce(error, reason) as reason from sync.run
      where resource = $1 and status in ('failed', 'rejected', 'stale') and started_at >= $2
      order by started_at desc limit 1`,
    [resource, since],
  )
  return row?.reason ?? 'nobody asked'
}
