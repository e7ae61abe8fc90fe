import { randomUUID } from 'node:crypto'
import type { Sql } from '../../db/database.ts'
import { goneInterval, lease } from '../worklist/work-items.ts'

/** Holder of the leases of a backfill. A lock says whether it lives; when none does, the leases are of a dead one. */
const holder = 'backfill'

/** One backfill of a resource, however many processes it takes. */
export interface Campaign {
  readonly backfillId: string
  readonly resource: string
  /** A key is done when it was answered at or after this instant. */
  readonly since: Date
  readonly startedAt: Date
}

/** Which keys of a campaign are meant. */
export interface Among {
  readonly resource: string
  readonly since: Date
  /** Only these. */
  readonly only?: readonly string[] | undefined
  /** Not these. */
  readonly except?: readonly string[] | undefined
}

/** What is still to ask. What the API no longer had is left out for a week, unless it is named. */
const isOpen = `resource = $1 and (checked_at is null or checked_at < $2)
   and ($3::text[] is null or key = any($3)) and key <> all($4::text[])
   and (gone_at is null or $3 is not null or checked_at < $5)`

function openness({ resource, since, only, except = [] }: Among) {
  return [resource, since, only ?? null, except, new Date(since.getTime() - goneInterval)]
}

/** The latest campaign of a resource, and when it finished; null while it has not. */
export async function latestCampaign(
  sql: Sql,
  resource: string,
): Promise<(Campaign & { readonly finishedAt: Date | null }) | undefined> {
  const [latest] = await sql.query<Campaign & { finishedAt: Date | null }>(
    `select backfill_id as "backfillId", resource, since, started_at as "startedAt", finished_at as "finishedAt"
       from sync.backfill where resource = $1 order by started_at desc limit 1`,
    [resource],
  )
  return latest
}

/** The latest campaign, unless it is finished. */
export async function unfinishedCampaign(sql: Sql, resource: string): Promise<Campaign | undefined> {
  const latest = await latestCampaign(sql, resource)
  if (!latest || latest.finishedAt) return undefined
  const { finishedAt: _, ...campaign } = latest
  return campaign
}

/** Begins a campaign; one that was not finished is left behind. */
export async function beginCampaign(
  sql: Sql,
  { resource, since, startedAt, keys }: Omit<Campaign, 'backfillId'> & { readonly keys: number },
): Promise<Campaign> {
  const backfillId = randomUUID()
  await sql.query(
    `insert into sync.backfill (backfill_id, resource, started_at, since, keys) values ($1, $2, $3, $4, $5)`,
    [backfillId, resource, startedAt, since, keys],
  )
  return { backfillId, resource, since, startedAt }
}

/** Lets a campaign count what was answered after another instant as done. */
export async function setSince(sql: Sql, campaign: Campaign, since: Date): Promise<Campaign> {
  await sql.query('update sync.backfill set since = $2 where backfill_id = $1', [campaign.backfillId, since])
  return { ...campaign, since }
}

/** Every key of the campaign is done. */
export async function finishCampaign(sql: Sql, { backfillId }: Campaign, at: Date): Promise<void> {
  await sql.query('update sync.backfill set finished_at = $2 where backfill_id = $1 and finished_at is null', [
    backfillId,
    at,
  ])
}

/** How many keys are still to ask, and how many of them nobody has ever asked for. */
export async function countOpen(sql: Sql, among: Among): Promise<{ readonly keys: number; readonly fresh: number }> {
  const [row] = await sql.query<{ keys: number; fresh: number }>(
    `select count(*) as keys, count(*) filter (where checked_at is null) as fresh from sync.work_item where ${isOpen}`,
    openness(among),
  )
  return row ?? { keys: 0, fresh: 0 }
}

/** Takes the next keys: those that were never asked for, then the stalest. Keys that somebody else has are passed over. */
export async function claimOpen(sql: Sql, among: Among, count: number, now: number): Promise<string[]> {
  const rows = await sql.query<{ key: string }>(
    `with due as materialized (
       select resource, key from sync.work_item where ${isOpen} and (leased_until is null or leased_until < $6)
        order by checked_at nulls first, key limit $7 for update skip locked),
     taken as (
       update sync.work_item item set leased_until = $8, leased_by = $9 from due
        where item.resource = due.resource and item.key = due.key
        returning item.key, item.checked_at)
     select key from taken order by checked_at nulls first, key`,
    [...openness(among), new Date(now), count, new Date(now + lease), holder],
  )
  return rows.map(({ key }) => key)
}

/** Gives back what a backfill of this resource holds, but not what is named. */
export async function freeLeases(sql: Sql, resource: string, except: readonly string[] = []): Promise<void> {
  await sql.query(
    `update sync.work_item set leased_until = null, leased_by = null
      where resource = $1 and leased_by = $2 and key <> all($3::text[])`,
    [resource, holder, except],
  )
}

/** Puts keys on the worklist that are not there yet. */
export async function listKeys(sql: Sql, resource: string, keys: readonly string[]): Promise<void> {
  await sql.query(
    `insert into sync.work_item (resource, key) select distinct $1, key from unnest($2::text[]) as named(key)
     on conflict do nothing`,
    [resource, keys],
  )
}

/** The key whose answer is the latest: whoever asks for it finds out whether the API answers at all. */
export async function latestAnswered(sql: Sql, resource: string): Promise<string | undefined> {
  const [row] = await sql.query<{ key: string }>(
    `select key from sync.work_item where resource = $1 and observed_at is not null and gone_at is null
      order by checked_at desc limit 1`,
    [resource],
  )
  return row?.key
}
