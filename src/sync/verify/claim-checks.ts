import type { ResourceBase } from '../declare/resource.ts'
import { orphanClaims } from '../evidence/orphan-claims.ts'
import { type ClaimKind, policiesOf } from '../evidence/policies.ts'
import type { Check } from './check.ts'

/** Kinds that are concluded, and forgotten, with the response that confirms them, whatever is configured. */
const CONCLUDED: readonly ClaimKind[] = ['shown', 'returned', 'joined', 'rank', 'appeared']

/** What must hold of the claims about the keys of a resource. */
export function claimChecks(resource: ResourceBase): Check[] {
  return orphanClaims(resource).map(({ table, find }) => ({
    name: 'claim',
    table: 'sync.claim',
    meaning: `claims that a version of ${table} has ended, or is pending, which is not current`,
    find,
  }))
}

/** What must hold of every claim. */
export const claimWide: readonly Check[] = [
  {
    name: 'claim count',
    table: 'sync.claim',
    meaning: 'claims that end before they begin, that no response made, or that enough responses made to be concluded',
    find: `select resource, kind, subject, first_at, last_at, times from sync.claim
            where times < 1 or first_at > last_at or first_received_at > last_received_at
               ${CONCLUDED.map((kind) => `or kind = '${kind}' and times >= ${policiesOf({ absences: 2 })[kind].responses}`).join('\n               ')}`,
  },
]
