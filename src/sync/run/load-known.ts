import type { Sql } from '../../db/database.ts'
import type { ResourceBase } from '../declare/resource.ts'
import { hasClaims } from '../evidence/claims.ts'
import { type LastRun, noCounts } from '../ledger/ledger.ts'
import type { LoadResult } from '../respond/load-response.ts'
import { countedOf } from '../respond/pending-versions.ts'
import type { ReceivedResponse } from '../respond/validate-snapshot.ts'

/** What becomes of a response depends on its records. */
export class MustParse extends Error {}

/**
 * What became of a response whose body is that of the last accepted one, byte for byte: the same that parsing it would come to.
 * @param last undefined when the last accepted response has another body by now
 * @throws MustParse when it is not simply unchanged
 */
export async function loadKnown(
  sql: Sql,
  resource: ResourceBase,
  received: ReceivedResponse,
  last: LastRun | undefined,
): Promise<LoadResult> {
  const { observedAt, clockError, dating = [] } = received.extraction
  if (!last || observedAt < last.observedAt || clockError !== undefined) throw new MustParse()
  if (await hasClaims(sql, countedOf(resource), received.scope)) throw new MustParse()
  const { came: records, normalized, currentKeys } = last
  return {
    ...noCounts,
    status: 'unchanged',
    reason: null,
    observedAt: new Date(observedAt),
    records,
    normalized,
    unchanged: normalized,
    currentKeys,
    contentHash: Buffer.from(last.contentHash),
    reload: false,
    drift: [],
    hidden: [],
    guarded: [...dating],
  }
}
