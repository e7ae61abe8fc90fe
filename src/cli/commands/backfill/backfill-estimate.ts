import { and, eq } from 'drizzle-orm'
import { ASSUMED_LIMIT } from '../../../api/http/response-headers.ts'
import type { App } from '../../../app/app.ts'
import { chooseCredential } from '../../../app/stored-credential.ts'
import { FatalError } from '../../../base/errors.ts'
import { readOnlyReason } from '../../../db/access.ts'
import type { Database, Sql } from '../../../db/database.ts'
import { anyOf, typed } from '../../../db/typed.ts'
import { resources } from '../../../resources/index.ts'
import { countOpen, unfinishedCampaign } from '../../../sync/backfill/campaign.ts'
import { lastLimit, type Price, priceOf } from '../../../sync/backfill/plan.ts'
import { isWorklist, type Resource, type Worklist } from '../../../sync/declare/resource.ts'
import { lastAccepted } from '../../../sync/ledger/ledger.ts'
import { workItem } from '../../../sync/tables/ledger.ts'
import { addKeys } from '../../../sync/worklist/work-items.ts'
import { type Context, rolledBack, writeResult } from '../../context.ts'
import { exitCode } from '../../exit-codes.ts'
import { keysKnown } from '../../named-keys.ts'
import { bytesText, durationText } from '../../output/units.ts'

export interface Wanted {
  readonly limit: number | undefined
  readonly names: readonly string[]
  readonly since: Date | undefined
  readonly restart: boolean
}

/** Records of one page, as observed; the API reference (4.1) does not say. */
const pageSize = 20

/** The resource that lists the keys of a worklist. */
export function sourceOf({ keySource }: Worklist): Resource {
  const found = resources.find((candidate) => candidate.name === keySource)
  if (!found || isWorklist(found)) throw new FatalError(`there is no resource ${keySource}`)
  return found
}

export async function keyCount(sql: Sql, { name }: Worklist): Promise<number> {
  return await typed(sql).$count(workItem, eq(workItem.resource, name))
}

/**
 * Estimates the fetch of the keys that are not done.
 * @param unknown names that take a request of their own to resolve
 */
export async function estimateWorklist(
  sql: Sql,
  resource: Worklist,
  { since, only, limit, unknown, isReadOnly = false }: Pick<Wanted, 'limit'> & Meant,
  app: App,
): Promise<Price> {
  const assumptions: string[] = []
  const isEmpty = only === undefined && (await keyCount(sql, resource)) === 0
  const guess = estimateOf(resource)
  if (isEmpty) {
    const why = `${sourceOf(resource).name} was never synced, it is synced first`
    const whyReadOnly = 'the worklist is empty, and this database is read-only'
    assumptions.push(`${guess.keys} ${resource.name}: ${isReadOnly ? whyReadOnly : why}`)
  } else if (isReadOnly) assumptions.push('the worklist is as the last sync left it: the database is read-only')
  if (only && !isReadOnly) await addKeys(sql, resource.name, only)
  const unlisted = only && isReadOnly ? await countUnlisted(sql, resource.name, only) : 0
  const open = isEmpty
    ? { keys: guess.keys, fresh: guess.keys }
    : await countOpen(sql, { resource: resource.name, since, only })
  if (unknown.length > 0) assumptions.push(`the API knows ${unknown.join(', ')}`)
  const keys = Math.min(limit ?? Number.POSITIVE_INFINITY, open.keys + unlisted + unknown.length)
  const fresh = Math.min(keys, open.fresh + unlisted + unknown.length)
  const requests = keys + (isEmpty ? 1 : 0) + unknown.length
  const perMinute = await limitOf(sql, resource.route, app, assumptions)
  return await priceOf(sql, resource, { keys, fresh, again: keys - fresh, requests, perMinute, assumptions }, guess)
}

interface Meant {
  readonly since: Date
  readonly only: readonly string[] | undefined
  readonly unknown: readonly string[]
  /** Nothing may be written: keys that are not on the worklist are counted instead of listed. */
  readonly isReadOnly?: boolean
}

async function countUnlisted(sql: Sql, resource: string, keys: readonly string[]): Promise<number> {
  const named = [...new Set(keys)]
  const isListed = and(eq(workItem.resource, resource), anyOf(workItem.key, named))
  return named.length - (await typed(sql).$count(workItem, isListed))
}

/** Estimates a walk through all pages. Changes of known records are not counted: they cannot be foreseen. */
export async function estimatePages(sql: Sql, resource: Resource, app: App): Promise<Price> {
  const guess = estimateOf(resource)
  const currentKeys = (await lastAccepted(sql, resource.name))?.currentKeys ?? undefined
  const assumptions = [`${pageSize} records on a page`]
  if (currentKeys === undefined) assumptions.push(`${guess.keys} ${resource.name}: they were never synced`)
  const keys = currentKeys ?? guess.keys
  const requests = Math.ceil(keys / pageSize)
  const perMinute = await limitOf(sql, resource.route, app, assumptions)
  const fresh = currentKeys === undefined ? keys : 0
  return await priceOf(sql, resource, { keys, fresh, again: 0, requests, perMinute, assumptions }, guess)
}

/** Prints the estimate, before the work begins. */
export function showPrice(price: Price, context: Context, isResult = false): void {
  if (!isResult && (context.flags.json || context.flags.quiet)) return
  const { resource, keys, requests, minutes, rows, bytes, assumptions } = price
  const number = (value: number) => value.toLocaleString('en-US')
  const text =
    `${resource}: ${number(keys)} to fetch in ${number(requests)} requests, about ${durationText(60 * minutes)}; ` +
    `about ${number(rows)} rows, ${bytesText(Math.ceil(bytes / 1e6) * 1e6)}\n${assumptions.map((assumption) => `  assumed: ${assumption}\n`).join('')}`
  writeResult(context, price, text)
}

/** Requests per minute: of the latest rate-limit headers, else what the API grants guests and tokens (API reference 2.2). */
async function limitOf(sql: Sql, route: string, { config }: App, assumptions: string[]): Promise<number> {
  const guest = isGuest(config)
  const known = await lastLimit(sql, { route, server: new URL(config.baseUrl).origin, guest })
  if (known !== undefined) return known
  const limit = guest ? ASSUMED_LIMIT.guest : ASSUMED_LIMIT.token
  assumptions.push(`${limit} requests a minute, what the API grants ${guest ? 'guests' : 'a token'}`)
  return limit
}

function isGuest(config: App['config']): boolean {
  try {
    return chooseCredential(config) === null
  } catch {
    // A stored credential that cannot be used is not sent either.
    return true
  }
}

function estimateOf({ name, backfill }: Resource | Worklist) {
  if (!backfill) throw new FatalError(`${name} declares no backfill`)
  return backfill
}

/** `backfill --dry-run`: prints the estimate and changes nothing. Returns the exit code. */
export async function dryRun(
  resource: Resource | Worklist,
  wanted: Wanted,
  db: Database,
  context: Context,
): Promise<number> {
  // Planning writes; a read-only database is estimated by the worklist of the last sync.
  const isReadOnly = (await readOnlyReason(db)) !== null
  const price = !isWorklist(resource)
    ? await estimatePages(db, resource, context.app)
    : isReadOnly
      ? await estimateWanted(db, resource, { ...wanted, isReadOnly }, context.app)
      : await rolledBack(db, async (sql) => {
          await resource.plan(sql, new Date(context.app.clock.now()))
          return await estimateWanted(sql, resource, wanted, context.app)
        })
  showPrice(price, context, true)
  return exitCode.done
}

async function estimateWanted(
  sql: Sql,
  resource: Worklist,
  wanted: Wanted & { readonly isReadOnly?: boolean },
  app: App,
): Promise<Price> {
  const { keys, unknown } = await keysKnown(resource, sql, wanted.names)
  const unfinished = wanted.restart ? undefined : await unfinishedCampaign(sql, resource.name)
  const since = wanted.since ?? unfinished?.since ?? new Date(app.clock.now())
  const only = wanted.names.length > 0 ? keys : undefined
  return await estimateWorklist(sql, resource, { ...wanted, since, only, unknown }, app)
}
