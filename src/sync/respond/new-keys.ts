import { instantText } from '../../db/bulk/values.ts'
import type { Sql } from '../../db/database.ts'
import type { History } from '../declare/resource.ts'
import { corroborate, forgetClaims, type PendingClaim, pendingClaims, type Witness } from '../evidence/claims.ts'
import { isBurst, NEW_AT_ONCE } from '../evidence/policies.ts'
import type { Prepared } from '../normalize/prepare.ts'
import type { Appeared, NewKeys } from './load.ts'

interface Among {
  /** How many records the response has. */
  readonly of: number
  /** The instant that the last accepted response speaks for. */
  readonly lastSeen: Date
}

/** What is new in responses that are further apart did not come at once; ms. */
const longestMoment = 24 * 3_600_000

/**
 * Judges keys without a current version. Where a history asks for two responses (`corroboratesNew`), or most records have a key that no
 * earlier response showed, one response alone shows none of them: it may be that of another resource, or one with keys spelled otherwise.
 */
export async function judgeNewKeys(
  sql: Sql,
  witness: Witness,
  { corroboratesNew = false }: History,
  appeared: readonly Appeared[],
  { of, lastSeen }: Among,
): Promise<NewKeys> {
  const isAtOnce = witness.at.getTime() - lastSeen.getTime() <= longestMoment
  const entities = appeared.flatMap(({ entity, isBack }) => (corroboratesNew || !isBack ? [entity] : []))
  const isDoubted = corroboratesNew || (isAtOnce && isBurst(entities.length, of, NEW_AT_ONCE))
  const before = new Set((await pendingClaims(sql, witness, 'appeared')).map(({ subject }) => subject))
  const doubted = entities.filter(({ key }) => isDoubted || before.has(key))
  const claims = doubted.map(({ key }) => ({ subject: key }))
  const { confirmed } = await corroborate(sql, witness, 'appeared', claims)
  const since = new Map(confirmed.map(({ subject, firstAt }) => [subject, instantText(firstAt)]))
  return new Map(doubted.map((entity) => [entity, since.get(entity.key) ?? null]))
}

/** So long after a new key was shown a response without it contradicts it even where it may lack others; ms. */
const longestClaim = 3_600_000

interface Shown {
  /** All keys that the response has. */
  readonly seen: ReadonlySet<string>
  readonly isComplete: boolean
  /** Those that are still held back. */
  readonly held: readonly Prepared[]
}

/** Forgets what is claimed of keys and not pending any more. Returns those that the response before showed and this one lacks. */
export async function forgetNewKeys(
  sql: Sql,
  witness: Witness,
  { seen, isComplete, held }: Shown,
): Promise<readonly PendingClaim[]> {
  const isHeld = new Set(held.map(({ key }) => key))
  const over = (await pendingClaims(sql, witness, 'appeared')).filter(
    ({ subject, firstAt }) =>
      !isHeld.has(subject) &&
      (isComplete || seen.has(subject) || witness.at.getTime() - firstAt.getTime() > longestClaim),
  )
  await forgetClaims(sql, witness.resource, 'appeared', over)
  return over.filter(({ subject }) => !seen.has(subject))
}
