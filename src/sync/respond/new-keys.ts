import { instantText } from '../../db/bulk/values.ts'
import type { Sql } from '../../db/database.ts'
import type { History } from '../declare/resource.ts'
import { corroborate, forgetClaims, type PendingClaim, pendingClaims, type Witness } from '../evidence/claims.ts'
import type { Prepared } from '../normalize/prepare.ts'
import { historySql } from '../sql/history-sql.ts'

interface Roots {
  readonly roots: readonly Prepared[]
  /** All keys that the response has. */
  readonly seen: ReadonlySet<string>
  readonly isComplete: boolean
  /** A person accepts the response. */
  readonly accept: boolean
}

export interface WithoutNew {
  /** What is loaded; new keys that are believed begin with the first response that showed them. */
  readonly roots: readonly Prepared[]
  /** How many new keys this response alone shows. */
  readonly held: number
  /** New keys that the response before showed and this one lacks. */
  readonly contradicted: readonly PendingClaim[]
}

/** So long after a new key was shown a response without it contradicts it even where it may lack others; ms. */
const longestClaim = 3_600_000

/** Holds back the keys that no earlier response showed, where a history asks for two (`corroboratesNew`). */
export async function holdBackNew(
  sql: Sql,
  witness: Witness,
  history: History,
  { roots, seen, isComplete, accept }: Roots,
): Promise<WithoutNew> {
  const fresh = new Set(accept ? [] : await keysWithoutVersion(sql, history, roots))
  const over = (await pendingClaims(sql, witness, 'appeared')).filter(
    ({ subject, firstAt }) =>
      !fresh.has(subject) &&
      (isComplete || seen.has(subject) || witness.at.getTime() - firstAt.getTime() > longestClaim),
  )
  await forgetClaims(sql, witness.resource, 'appeared', over)
  const claims = [...fresh].map((subject) => ({ subject }))
  const { confirmed, pending } = await corroborate(sql, witness, 'appeared', claims)
  const since = new Map(confirmed.map(({ subject, firstAt }) => [subject, instantText(firstAt)]))
  const held = new Set(pending.map(({ subject }) => subject))
  return {
    roots: roots.flatMap((entity) => {
      if (held.has(entity.key)) return []
      const first = since.get(entity.key)
      return [first === undefined ? entity : { ...entity, since: first }]
    }),
    held: held.size,
    contradicted: over.filter(({ subject }) => !seen.has(subject)),
  }
}

async function keysWithoutVersion(sql: Sql, history: History, roots: readonly Prepared[]): Promise<string[]> {
  if (roots.length === 0) return []
  const { table, keyArrays, keyNames, keyJoin, keyValues } = historySql(history)
  const rows = await sql.query<{ position: number }>(
    `select incoming.position::int as position
       from unnest(${keyArrays}) with ordinality as incoming(${keyNames}, position)
      where not exists (select from ${table.name} version
                         where ${keyJoin('version', 'incoming')} and version.valid_until = 'infinity')`,
    keyValues(roots.map(({ root }) => root)),
  )
  return rows.flatMap(({ position }) => roots[position - 1]?.key ?? [])
}
