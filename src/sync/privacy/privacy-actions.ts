import { and, gt, gte, isNotNull, or, type SQL, sql as text } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import type { Removed } from '../archive/erase-archived.ts'
import type { Person } from '../declare/personal.ts'
import { sha256 } from '../normalize/hash.ts'
import { privacyAction } from '../tables/privacy.ts'

interface Cause {
  /** What was observed until then is not restored. */
  readonly at: Date
  readonly policy: 'anonymize' | 'delete' | 'purge'
  readonly reason: string
  readonly runId: string | null
  /** Whether the uuid is kept, rather than its SHA-256. */
  readonly isNamed: boolean
}

/** SHA-256 of a player's uuid, in hex: recognizes a player who is not to be named. */
export function hashOf(playerUuid: string): string {
  return sha256(playerUuid.toLowerCase()).toString('hex')
}

/** Records that something was removed, never what it was; nothing where nothing was there. */
export async function recordActions(sql: Sql, removed: readonly Removed[], cause: Cause): Promise<void> {
  const { isNamed, ...shared } = cause
  const sums = new Map<string, Removed>()
  for (const { rows, ...removal } of removed) {
    const name = `${removal.playerUuid} ${removal.fieldGroup}`
    sums.set(name, { ...removal, rows: rows + (sums.get(name)?.rows ?? 0) })
  }
  if (sums.size === 0) return
  const actions = [...sums.values()].map(({ playerUuid, fieldGroup, rows }) => ({
    ...shared,
    playerUuid: isNamed ? playerUuid : null,
    playerHash: isNamed ? null : sha256(playerUuid.toLowerCase()),
    fieldGroup,
    rows,
  }))
  await typed(sql).insert(privacyAction).values(actions)
}

/**
 * Removals at the instant of a response or later, but for those that the response itself caused: what it says of these people
 * is older than what was removed, and must not restore it.
 * @returns `hash` is the SHA-256 of the uuid, in hex, where the player is not named
 */
export async function actionsSince(
  sql: Sql,
  people: readonly Person[],
  { at, runId }: { readonly at: Date; readonly runId: string },
) {
  const { playerUuid, playerHash, fieldGroup } = privacyAction
  const isLate = and(
    gte(privacyAction.at, at),
    or(gt(privacyAction.at, at), text`${privacyAction.runId} is distinct from ${runId}`),
  )
  const uuids = people.map((person) => person.playerUuid)
  const latest = text`max(${privacyAction.at})`.mapWith(privacyAction.at)
  const select = (hash: SQL<string | null>, whose: SQL | undefined) =>
    typed(sql)
      .select({ player: playerUuid, hash, group: fieldGroup, at: latest })
      .from(privacyAction)
      .where(and(whose, isLate))
      .groupBy(playerUuid, playerHash, fieldGroup)
  const unnamed = select(text<string | null>`encode(${playerHash}, 'hex')`, isNotNull(playerHash))
  return await select(text<string | null>`null`, anyOf(playerUuid, uuids)).unionAll(unnamed)
}
