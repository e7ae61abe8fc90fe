import { and, eq } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import type { Worklist } from '../declare/resource.ts'
import { isRestrictedBy } from '../privacy/privacy.ts'
import { historySql } from '../sql/history-sql.ts'
import { workItem } from '../tables/ledger.ts'

/** Why the API refuses a key: that it is private (403), or that there is no such thing (404). */
export type RefusalKind = 'hidden' | 'gone'

/** One refusal that the application itself wrote. */
export interface Refusal {
  readonly key: string
  readonly kind: RefusalKind
  /** By the clocks of the service and of this machine, whichever is behind; ms since the epoch. */
  readonly at: number
  /** By the clock of this machine, ms since the epoch. */
  readonly receivedAt: number
  /** What it was requested with. */
  readonly credential?: 'guest' | 'token' | undefined
}

export interface RefusalState {
  /**
   * `pending`: another one is needed. `confirmed`: it may be concluded. `concluded`: it was before, and nothing
   * new follows.
   */
  readonly state: 'pending' | 'confirmed' | 'concluded'
  /** Whether a response about the key was ever accepted: only then can something end. */
  readonly wasShown: boolean
  /** Whether the listing of the keys had ended it before: then it speaks for no failure of the service. */
  readonly isExpected?: boolean
}

/** A tombstone needs two refusals that are so far apart, ms. */
const tombstoneSpacing = 10 * 60_000

/**
 * Counts a refusal. It is confirmed by a second one of another cache window, for a tombstone ten minutes later; any
 * response in between begins anew.
 * @param absences how many refusals a tombstone needs; two at least
 */
export async function noteRefusal(
  sql: Sql,
  resource: Worklist,
  refusal: Refusal,
  absences: number,
): Promise<RefusalState> {
  const { key, kind, at } = refusal
  const isKey = and(eq(workItem.resource, resource.name), eq(workItem.key, key))
  const [item] = await typed(sql).select().from(workItem).where(isKey).for('update')
  const wasShown = (item?.observedAt ?? null) !== null
  if (await isConcluded(sql, resource, refusal, item)) return { state: 'concluded', wasShown }
  const hidesSomething = (resource.personal?.refusalHides.length ?? 0) > 0
  if (kind === 'hidden' && !hidesSomething) return { state: 'pending', wasShown }
  if (!item) return { state: 'pending', wasShown }
  // What a guest is refused, the player may still show to the token.
  if (kind === 'hidden' && item.credential === 'token' && refusal.credential === 'guest')
    return { state: 'pending', wasShown }
  const before = item.refusal === kind ? item : undefined
  const since = Math.min(before?.refusedSince?.getTime() ?? at, at)
  const refusedTimes = (before?.refusedTimes ?? 0) + 1
  await typed(sql)
    .update(workItem)
    .set({ refusal: kind, refusedSince: new Date(since), refusedTimes })
    .where(isKey)
  const [times, spacing] =
    kind === 'gone' ? [Math.max(2, absences), tombstoneSpacing] : [2, resource.cacheSeconds * 1000]
  const isRepeated = refusedTimes >= times && at - since >= spacing
  // A list of everything that is later than the first refusal and names the key speaks against all of them.
  const isConfirmed = isRepeated && !(kind === 'gone' && (await isListedSince(sql, resource, key, new Date(since))))
  const isExpected = kind === 'gone' && (await hasListingEnded(sql, resource, key))
  return { state: isConfirmed ? 'confirmed' : 'pending', wasShown, isExpected }
}

async function isConcluded(
  sql: Sql,
  { name, personal }: Worklist,
  { key, kind }: Pick<Refusal, 'key' | 'kind'>,
  item: typeof workItem.$inferSelect | undefined,
): Promise<boolean> {
  if (kind === 'gone') return (item?.goneAt ?? null) !== null
  return personal !== undefined && (await isRestrictedBy(sql, personal, { resource: name, key }))
}

/** Whether a complete response after an instant lists the key, where the resource has a listing. */
async function isListedSince(sql: Sql, { listing }: Worklist, key: string, since: Date): Promise<boolean> {
  if (!listing) return false
  const { table, keyText } = historySql(listing.history)
  const rows = await sql.query(
    `select from ${table.name} listed
      where ${keyText('listed')} = $2 and listed.valid_until = 'infinity'
        and not exists (select from sync.claim missed where missed.resource = $1 and missed.kind = 'missing' and missed.subject = $2)
        and exists (select from sync.run where run.resource = $1 and run.observed_at > $3 and run.complete
                       and run.status in ('ok', 'unchanged', 'partial'))`,
    [listing.resource, key, since],
  )
  return rows.length > 0
}

/** Whether the listing once had the key, and responses in a row lacked it since. */
async function hasListingEnded(sql: Sql, { listing }: Worklist, key: string): Promise<boolean> {
  if (!listing) return false
  const { table, keyText } = historySql(listing.history)
  const [row] = await sql.query<{ ended: boolean }>(
    `select coalesce(bool_and(listed.valid_until < 'infinity'), false) as ended from ${table.name} listed where ${keyText('listed')} = $1`,
    [key],
  )
  return row?.ended === true
}

/** What another refusal would redact or end. */
export interface PendingRefusals {
  readonly redactions: number
  readonly tombstones: number
  /** Some of the keys, the oldest first. */
  readonly oldest: readonly {
    readonly key: string
    readonly pending: 'redaction' | 'tombstone'
    readonly since: Date
  }[]
}

/** What is refused and not concluded yet, by resource. @param limit of keys that are named for each */
export async function readPendingRefusals(sql: Sql, limit: number): Promise<Map<string, PendingRefusals>> {
  const rows = await sql.query<PendingRefusals & { resource: string }>(
    `select resource, count(*) filter (where refusal = 'hidden')::int as redactions,
            count(*) filter (where refusal = 'gone')::int as tombstones,
            jsonb_agg(jsonb_build_object(
              'key', key, 'pending', case refusal when 'hidden' then 'redaction' else 'tombstone' end,
              'since', refused_since) order by nth) filter (where nth <= $1) as oldest
       from (select *, row_number() over (partition by resource order by refused_since, key collate "C") as nth
               from sync.work_item where refusal is not null) pending
      group by resource`,
    [limit],
  )
  return new Map(
    rows.map(({ resource, oldest, ...counts }) => [
      resource,
      { ...counts, oldest: oldest.map((item) => ({ ...item, since: new Date(item.since) })) },
    ]),
  )
}
