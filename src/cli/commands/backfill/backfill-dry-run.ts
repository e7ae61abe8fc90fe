import type { App } from '../../../app/app.ts'
import { FatalError } from '../../../app/errors.ts'
import { readOnlyReason } from '../../../db/access.ts'
import type { Database, Sql } from '../../../db/database.ts'
import { unfinishedCampaign } from '../../../sync/backfill/campaign.ts'
import type { Price } from '../../../sync/backfill/plan.ts'
import { isWorklist, type Resource, type Worklist } from '../../../sync/resource.ts'
import { type Context, exitCode } from '../../context.ts'
import { keysKnown } from '../sync/named-keys.ts'
import { priceOfPages, priceOfWorklist, showPrice, type Wanted } from './backfill-price.ts'

/** `backfill --dry-run`: says what it would take, and changes nothing. Returns the exit code. */
export async function dryRun(
  resource: Resource | Worklist,
  wanted: Wanted,
  db: Database,
  context: Context,
): Promise<number> {
  // Where nothing can be written, the worklist is taken as the last sync left it.
  const isReadOnly = (await readOnlyReason(db)) !== null
  const price = !isWorklist(resource)
    ? await priceOfPages(db, resource, context.app)
    : isReadOnly
      ? await priceOfWanted(db, resource, { ...wanted, isReadOnly }, context.app)
      : await rehearse(db, async (sql) => {
          await resource.plan(sql, new Date(context.app.clock.now()))
          return await priceOfWanted(sql, resource, wanted, context.app)
        })
  showPrice(price, context, true)
  return exitCode.done
}

async function priceOfWanted(
  sql: Sql,
  resource: Worklist,
  wanted: Wanted & { readonly isReadOnly?: boolean },
  app: App,
): Promise<Price> {
  const { keys, unknown } = await keysKnown(resource, sql, wanted.names)
  const unfinished = wanted.restart ? undefined : await unfinishedCampaign(sql, resource.name)
  const since = wanted.since ?? unfinished?.since ?? new Date(app.clock.now())
  const only = wanted.names.length > 0 ? keys : undefined
  return await priceOfWorklist(sql, resource, { ...wanted, since, only, unknown }, app)
}

/** Runs work in a transaction that leaves nothing behind. */
async function rehearse<T>(db: Database, work: (sql: Sql) => Promise<T>) {
  const over = new Error('rolled back')
  let result: { readonly value: T } | undefined
  await db
    .transaction(async (sql) => {
      result = { value: await work(sql) }
      throw over
    })
    .catch((error: unknown) => {
      if (error !== over) throw error
    })
  if (!result) throw new FatalError('the rehearsal gave no result')
  return result.value
}
