import type { History, ResourceBase } from '../declare/resource.ts'
import { type ClaimKind, policiesOf } from '../evidence/policies.ts'
import { historySql } from '../sql/history-sql.ts'
import type { Check } from './check.ts'

/** Claims about a version that is current. */
const OF_CURRENT: readonly ClaimKind[] = ['missing', 'shown', 'returned']

/** Kinds that are concluded, and forgotten, with the response that confirms them, whatever is configured. */
const CONCLUDED: readonly ClaimKind[] = ['shown', 'returned', 'joined', 'rank', 'appeared']

/** What must hold of the claims about the keys of a resource. */
export function claimChecks(resource: ResourceBase): Check[] {
  const related = Object.entries(resource.relatedHistories ?? {})
  return [
    ofHistory(resource.name, resource.history),
    ...related.map(([name, history]) => ofHistory(`${resource.name}/${name}`, history)),
  ]
}

function ofHistory(resource: string, history: History): Check {
  const { table, keyText } = historySql(history)
  return {
    name: 'claim',
    table: 'sync.claim',
    meaning: `claims that a version of ${table.name} has ended, or is pending, which is not current`,
    find: `select resource, kind, subject, first_at from sync.claim
            where resource = '${resource}' and kind in (${OF_CURRENT.map((kind) => `'${kind}'`).join(', ')})
              and not exists (select from ${table.name} version
                               where version.valid_until = 'infinity' and ${keyText('version')} = claim.subject)`,
  }
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
