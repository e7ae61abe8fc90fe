import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import type { Worklist } from '../declare/resource.ts'
import { corroborate, forgetContradicted, type Witness } from '../evidence/claims.ts'
import { type ClaimKind, type ClockSetting, copySecondsOf, type Guards } from '../evidence/policies.ts'
import { contradictLifted, isRestrictedBy } from '../privacy/privacy.ts'
import { isKey } from '../respond/checked-keys.ts'
import { historySql } from '../sql/history-sql.ts'
import { workItem } from '../tables/ledger.ts'

/** Why the API refuses a key: that it is private (403), or that there is no such thing (404). */
export type RefusalKind = 'hidden' | 'gone'

/** What a refusal claims. */
const claimOf = { hidden: 'forbidden', gone: 'gone' } as const satisfies Record<RefusalKind, ClaimKind>

/** One refusal that the application itself wrote. */
export interface Refusal {
  readonly key: string
  readonly kind: RefusalKind
  /** By the clock of the service; ms since the epoch. */
  readonly at: number
  /** Whether it may be an old copy, as far as its headers tell. */
  readonly isUndated?: boolean
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

/**
 * Notes a refusal as a claim; one of the other kind, like any response, begins anew.
 * @returns confirmed where enough refusals of different cache windows agree, and no list of all keys speaks against it
 */
export async function noteRefusal(
  sql: Sql,
  resource: Worklist,
  refusal: Refusal,
  run: Pick<Witness, 'runId' | 'guards'> & { readonly guards: Pick<Guards, 'clock'> },
): Promise<RefusalState> {
  const { key, kind, at, receivedAt, credential = 'guest' } = refusal
  const { name } = resource
  const [item] = await typed(sql).select().from(workItem).where(isKey(name, key)).for('update')
  const wasShown = (item?.observedAt ?? null) !== null
  const witness = {
    ...run,
    resource: name,
    at: new Date(at),
    receivedAt: new Date(receivedAt),
    cacheSeconds: copySecondsOf(resource, refusal),
  }
  await forgetContradicted(sql, witness, claimOf[kind === 'gone' ? 'hidden' : 'gone'], [], key)
  // What a guest is refused, the player may still show to the token.
  const isLesser = kind === 'hidden' && item?.credential === 'token' && credential === 'guest'
  if (kind === 'hidden' && resource.personal && !isLesser)
    await contradictLifted(sql, resource.personal, { resource: name, key })
  if (await isConcluded(sql, resource, refusal, item)) return { state: 'concluded', wasShown }
  const hidesSomething = (resource.personal?.refusalHides.length ?? 0) > 0
  if (kind === 'hidden' && !hidesSomething) return { state: 'pending', wasShown }
  if (!item || isLesser) return { state: 'pending', wasShown }
  // What one kind of credential is refused says nothing of the other.
  const claim = { subject: key, value: kind === 'hidden' ? credential : '' }
  const { confirmed } = await corroborate(sql, witness, claimOf[kind], [claim])
  const since = confirmed.length > 0 ? await refusedSince(sql, resource, refusal, run.guards.clock) : undefined
  const isExpected = kind === 'gone' && (await hasListingEnded(sql, resource, key))
  return { state: since ? 'confirmed' : 'pending', wasShown, isExpected }
}

/** When what a claim says was first said. The clock of the service may be ahead, and that is right where it is the one that decides. */
const saidSince = (clock: ClockSetting = 'both') =>
  `min(${clock === 'api' ? 'first_at' : 'least(first_at, first_received_at)'})`

/** Since when a key is refused like this, while that is not concluded. A later list of everything that names it speaks against all of it. */
export async function refusedSince(
  sql: Sql,
  resource: Worklist,
  { key, kind }: Pick<Refusal, 'key' | 'kind'>,
  clock: ClockSetting | undefined,
): Promise<Date | undefined> {
  const [claim] = await sql.query<{ since: Date | null }>(
    `select ${saidSince(clock)} as since from sync.claim where resource = $1 and kind = $2 and subject = $3`,
    [resource.name, claimOf[kind], key],
  )
  const since = claim?.since ?? undefined
  return since && kind === 'gone' && (await isListedSince(sql, resource, key, since)) ? undefined : since
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
async function hasListingEnded(sql: Sql, resource: Worklist, key: string): Promise<boolean> {
  if (!resource.listing) return false
  const [row] = await sql.query<{ ended: boolean }>(`select ${listingEnded(resource, '$1')} as ended`, [key])
  return row?.ended === true
}

/** The same as SQL. @param key in SQL */
function listingEnded({ listing }: Worklist, key: string): string {
  if (!listing) return 'false'
  const { table, keyText } = historySql(listing.history)
  const ended = `coalesce(bool_and(listed.valid_until < 'infinity'), false)`
  return `(select ${ended} from ${table.name} listed where ${keyText('listed')} = ${key}::text)`
}

/** How a key responded in another run: with a body, or with a refusal from which nothing followed yet. */
interface EarlierResponse {
  readonly key: string
  readonly response: 'shown' | 'refused' | 'unknown refused'
  readonly runId: string
  readonly receivedAt: Date
}

/** So many are looked at: one key may have responded several times. */
const EARLIER_RESPONSES = 60

/**
 * The last responses of other runs, as the ledger has them, in their order: many refusals at once are as many in several short runs.
 * @param until by the clock of this machine; of what was recorded, as of then
 */
export async function earlierResponses(
  sql: Sql,
  resource: Worklist,
  { runId, until }: { readonly runId: string; readonly until: Date },
): Promise<readonly EarlierResponse[]> {
  return await sql.query<EarlierResponse>(
    `select one.key, one.run_id as "runId", one.received_at as "receivedAt",
            case when one.kind is null then 'shown' when item.observed_at is not null then 'refused' else 'unknown refused' end as response
       from (select key, run_id, received_at, case status when 'gone' then 'gone' when 'hidden' then 'forbidden' end as kind
               from sync.observation
              where resource = $1 and run_id <> $2 and received_at <= $3 and status not in ('rejected', 'stale')
              order by received_at desc limit $4) one
       left join sync.work_item item on item.resource = $1 and item.key = one.key
      where one.kind is null
         or exists (select from sync.claim refused where refused.resource = $1 and refused.kind = one.kind and refused.subject = one.key)
            and (one.kind = 'forbidden' or item.observed_at is not null and not ${listingEnded(resource, 'one.key')})
      order by one.received_at`,
    [resource.name, runId, until, EARLIER_RESPONSES],
  )
}

/** What another refusal would redact or end. */
type PendingRefusals = {
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
    `select resource, count(*) filter (where kind = 'forbidden')::int as redactions,
            count(*) filter (where kind = 'gone')::int as tombstones,
            jsonb_agg(jsonb_build_object(
              'key', subject, 'pending', case kind when 'forbidden' then 'redaction' else 'tombstone' end,
              'since', since) order by nth) filter (where nth <= $1) as oldest
       from (select *, row_number() over (partition by resource order by since, subject collate "C") as nth
               from (select resource, kind, subject, ${saidSince()} as since from sync.claim
                      where kind in ('gone', 'forbidden') group by 1, 2, 3) refused) pending
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
