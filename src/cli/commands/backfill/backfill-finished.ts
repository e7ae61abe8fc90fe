import type { Sql } from '../../../db/database.ts'
import { latestCampaign } from '../../../sync/backfill/campaign.ts'
import type { Resource, Worklist } from '../../../sync/resource.ts'
import { skippedResult } from '../../../sync/run/run-result.ts'
import { type Context, exitCode } from '../../context.ts'
import type { Wanted } from './backfill-price.ts'

type Backfilled = Resource | Worklist

/**
 * When the latest backfill of a resource finished. Undefined while there is something to do: it has not finished, or the
 * call names keys or an instant, or begins anew.
 */
export async function finishedAt(sql: Sql, { name }: Backfilled, wanted: Wanted): Promise<Date | undefined> {
  if (wanted.restart || wanted.since || wanted.names.length > 0) return undefined
  return (await latestCampaign(sql, name))?.finishedAt ?? undefined
}

/** Says that there is nothing to do. Returns the exit code. */
export function tellFinished({ name }: Backfilled, at: Date, { out, flags }: Context, dryRun: boolean): number {
  const finished = at.toISOString()
  const run = { ...skippedResult(name), status: 'unchanged' }
  if (flags.json) {
    const answer = dryRun ? { resource: name, keys: 0, requests: 0 } : { plan: null, run, left: 0 }
    out.write(`${JSON.stringify({ ...answer, finishedAt: finished })}\n`)
  } else if (!flags.quiet) {
    out.write(`${name}: the backfill finished at ${finished}, so nothing is requested; --restart begins anew\n`)
  }
  return exitCode.done
}
