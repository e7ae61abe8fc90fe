import { randomUUID } from 'node:crypto'
import { and, asc, count, desc, eq, gt, isNotNull, isNull, lt, not, or, type SQL, sql as text } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import { workItem } from '../tables/ledger.ts'
import { backfill } from '../tables/state.ts'
import { goneInterval, lease, longestLease } from '../worklist/work-items.ts'

/** Holder of the leases of a backfill. A lock says whether it lives; when none does, the leases are of a dead one. */
const holder = 'backfill'

/** One backfill of a resource, however many processes it takes. */
export interface Campaign {
  readonly backfillId: string
  readonly resource: string
  /** A key is done when its last response came at or after this instant. */
  readonly since: Date
  readonly startedAt: Date
}

export interface OpenKeys {
  readonly resource: string
  readonly since: Date
  readonly only?: readonly string[] | undefined
  readonly except?: readonly string[] | undefined
}

/** Keys without a response since then. What the API no longer had is left out for most of a day, unless it is named. */
function isOpen({ resource, since, only, except = [] }: OpenKeys): SQL | undefined {
  const { key, checkedAt, goneAt } = workItem
  return and(
    eq(workItem.resource, resource),
    or(isNull(checkedAt), lt(checkedAt, since)),
    only ? anyOf(key, only) : or(isNull(goneAt), lt(checkedAt, new Date(since.getTime() - goneInterval))),
    not(anyOf(key, except)),
  )
}

/** The latest campaign of a resource, and when it finished; null while it has not. */
export async function latestCampaign(
  sql: Sql,
  resource: string,
): Promise<(Campaign & { readonly finishedAt: Date | null }) | undefined> {
  const [latest] = await typed(sql)
    .select()
    .from(backfill)
    .where(eq(backfill.resource, resource))
    .orderBy(text`${backfill.startedAt} desc nulls last`)
    .limit(1)
  return latest
}

/** The latest campaign, unless it is finished. */
export async function unfinishedCampaign(sql: Sql, resource: string): Promise<Campaign | undefined> {
  const latest = await latestCampaign(sql, resource)
  return latest?.finishedAt ? undefined : latest
}

/** Begins a campaign; one that was not finished is left behind. */
export async function beginCampaign(
  sql: Sql,
  { keys, ...begun }: Omit<Campaign, 'backfillId'> & { readonly keys: number },
): Promise<Campaign> {
  const campaign = { backfillId: randomUUID(), ...begun }
  await typed(sql)
    .insert(backfill)
    .values({ ...campaign, keys })
  return campaign
}

/** Lets a campaign count keys with a response after another instant as done. */
export async function setSince(sql: Sql, campaign: Campaign, since: Date): Promise<Campaign> {
  await typed(sql).update(backfill).set({ since }).where(eq(backfill.backfillId, campaign.backfillId))
  return { ...campaign, since }
}

/** Every key of the campaign is done. */
export async function finishCampaign(sql: Sql, { backfillId }: Campaign, at: Date): Promise<void> {
  await typed(sql)
    .update(backfill)
    .set({ finishedAt: at })
    .where(and(eq(backfill.backfillId, backfillId), isNull(backfill.finishedAt)))
}

/** How many keys are open, and how many of them never had a response. */
export async function countOpen(sql: Sql, open: OpenKeys): Promise<{ readonly keys: number; readonly fresh: number }> {
  const fresh = text`count(*) filter (where ${isNull(workItem.checkedAt)})`.mapWith(Number)
  const [row] = await typed(sql).select({ keys: count(), fresh }).from(workItem).where(isOpen(open))
  return row ?? { keys: 0, fresh: 0 }
}

/** Leases the next keys: those that never had a response, then the stalest. Keys that another process holds are left out. */
export async function claimOpen(sql: Sql, open: OpenKeys, limit: number, now: number): Promise<string[]> {
  const { leasedUntil } = workItem
  const isFree = or(isNull(leasedUntil), lt(leasedUntil, new Date(now)), gt(leasedUntil, new Date(now + longestLease)))
  const db = typed(sql)
  // A CTE that locks rows is never inlined: as a plain subquery the planner may run it several times, each time locking more.
  const due = db.$with('due').as(
    db
      .select({ resource: workItem.resource, key: workItem.key })
      .from(workItem)
      .where(and(isOpen(open), isFree))
      .orderBy(text`${workItem.checkedAt} nulls first`, asc(workItem.key))
      .limit(limit)
      .for('update', { skipLocked: true }),
  )
  const rows = await db
    .with(due)
    .update(workItem)
    .set({ leasedUntil: new Date(now + lease), leasedBy: holder })
    .from(due)
    .where(and(eq(workItem.resource, due.resource), eq(workItem.key, due.key)))
    .returning({ key: workItem.key, checkedAt: workItem.checkedAt })
  const checked = ({ checkedAt }: (typeof rows)[number]) => checkedAt?.getTime() ?? 0
  return rows.sort((a, b) => checked(a) - checked(b) || (a.key < b.key ? -1 : 1)).map(({ key }) => key)
}

/** Gives back what a backfill of this resource holds. */
export async function freeLeases(sql: Sql, resource: string): Promise<void> {
  await typed(sql)
    .update(workItem)
    .set({ leasedUntil: null, leasedBy: null })
    .where(and(eq(workItem.resource, resource), eq(workItem.leasedBy, holder)))
}

/** The key whose response is the latest: a request for it shows whether the API responds at all. */
export async function latestAnswered(sql: Sql, resource: string): Promise<string | undefined> {
  const [row] = await typed(sql)
    .select({ key: workItem.key })
    .from(workItem)
    .where(and(eq(workItem.resource, resource), isNotNull(workItem.observedAt), isNull(workItem.goneAt)))
    .orderBy(desc(workItem.checkedAt))
    .limit(1)
  return row?.key
}
