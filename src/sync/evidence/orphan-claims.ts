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
