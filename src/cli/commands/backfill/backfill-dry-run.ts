import type { App } from '../../../app/app.ts'
import { readOnlyReason } from '../../../db/access.ts'
import type { Database, Sql } from '../../../db/database.ts'
import { unfinishedCampaign } from '../../../sync/backfill/campaign.ts'
import type { Price } from '../../../sync/backfill/plan.ts'
import { isWorklist, type Resource, type Worklist } from '../../../sync/resource.ts'
import type { Context } from '../../context.ts'
import { rolledBack } from '../../database.ts'
import { exitCode } from '../../exit-codes.ts'
import { keysKnown } from '../../named-keys.ts'
import { estimatePages, estimateWorklist, showPrice, type Wanted } from './backfill-estimate.ts'

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
