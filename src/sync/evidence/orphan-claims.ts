import { countOf } from '../../db/count-of.ts'
import type { Sql } from '../../db/database.ts'
import type { History, ResourceBase } from '../declare/resource.ts'
import { historySql } from '../sql/history-sql.ts'
import type { ClaimKind } from './policies.ts'

/** Claims about a version that is current. */
const OF_CURRENT: readonly ClaimKind[] = ['missing', 'unread', 'shown', 'returned']

interface OrphanClaims {
  /** The history whose versions the claims are about. */
  readonly table: string
  /** SQL of those about no current version: `resource`, `kind`, `subject`, `first_at`. */
  readonly find: string
}

/** Of each history of a resource the claims that nothing current is left of. */
export function orphanClaims(resource: ResourceBase): OrphanClaims[] {
  const related = Object.entries(resource.relatedHistories ?? {})
  return [
    ofHistory(resource.name, resource.history),
    ...related.map(([name, history]) => ofHistory(`${resource.name}/${name}`, history)),
  ]
}

function ofHistory(resource: string, history: History): OrphanClaims {
  const { table, keyText } = historySql(history)
  return {
    table: table.name,
    find: `select resource, kind, subject, first_at from sync.claim
            where resource = '${resource}' and kind in (${OF_CURRENT.map((kind) => `'${kind}'`).join(', ')})
              and not exists (select from ${table.name} version
                               where version.valid_until = 'infinity' and ${keyText('version')} = claim.subject)`,
  }
}

/** Forgets claims that nothing current is left of, where versions went by another way than a response. */
export async function forgetOrphanClaims(sql: Sql, resource: ResourceBase): Promise<void> {
  for (const { find } of orphanClaims(resource))
    await sql.query(
      `delete from sync.claim using (${find}) orphan
        where claim.resource = orphan.resource and claim.kind = orphan.kind and claim.subject = orphan.subject`,
    )
}

/**
 * Takes over what responses to another database claimed: as one response, however many were counted there, and where this one claims the
 * same, nothing is counted. Returns how many were new.
 * @param claims SQL that selects rows of sync.claim
 */
export async function copyClaims(
  sql: Sql,
  claims: string,
  parameters: readonly (string | readonly string[])[],
): Promise<number> {
  return await countOf(
    sql,
    `insert into sync.claim (resource, kind, subject, value, first_at, last_at, first_received_at, last_received_at, times, run_id)
     select resource, kind, subject, value, first_at, last_at, first_received_at, last_received_at, 1, run_id from (${claims}) copied
     on conflict do nothing
     returning 1`,
    parameters,
  )
}
