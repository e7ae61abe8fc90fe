import { and, eq, sql as fragment, lte, type SQL } from 'drizzle-orm'
import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import { LOCKED_ARCHIVE } from '../archive/archive.ts'
import type { LastAccepted } from '../ledger/ledger.ts'
import { claim } from '../tables/claim.ts'
import { workItem } from '../tables/ledger.ts'

/** The columns of a key that is free. */
export const free = { leasedUntil: null, leasedBy: null }

export function isKey(resource: string, key: string) {
  return and(eq(workItem.resource, resource), eq(workItem.key, key))
}

/** The last accepted response about a key, its row locked until the transaction ends; the archive is locked before, if it is to be. */
export async function lastOfKey(
  sql: Sql,
  resource: string,
  key: string,
  { archives }: { readonly archives: boolean },
): Promise<(LastAccepted & { readonly currentKeys: number; readonly goneAt: Date | null }) | undefined> {
  const [item] = await sql.query<
    Pick<typeof workItem.$inferSelect, 'goneAt' | 'contentHash' | 'reload' | 'records'> & { observedAt: Date }
  >(
    `${archives ? `with archive as (${LOCKED_ARCHIVE}) ` : ''}
     select observed_at as "observedAt", gone_at as "goneAt", content_hash as "contentHash", reload, records from sync.work_item
      where resource = $1 and key = $2 and observed_at is not null for update`,
    [resource, key],
  )
  if (!item) return undefined
  const { observedAt, goneAt, contentHash, reload, records } = item
  return {
    // What was produced before a tombstone does not undo it.
    observedAt: Math.max(observedAt.getTime(), goneAt?.getTime() ?? 0),
    // From a lake, and of a key whose responses were retracted, there is none.
    contentHash: contentHash ?? new Uint8Array(),
    reload,
    // One record for one key: an older program counted quarantined pieces too.
    records: Math.min(records ?? 1, 1),
    currentKeys: 1,
    goneAt,
  }
}

interface Checked {
  readonly key: string
  /** Ms since the epoch. */
  readonly now: number
  /** Set when a response was accepted. */
  readonly accepted?: {
    readonly observedAt: Date
    readonly contentHash: Uint8Array
    readonly reload: boolean
    readonly records: number
    readonly credential?: 'guest' | 'token' | undefined
  }
  /** Whether a response shows the key and is no older than what is known, whatever came of it. */
  readonly isShown?: boolean
}

/** What releases a claimed key with what the request brought. */
export function checkedRow(sql: Sql, resource: string, { key, now, accepted, isShown }: Checked): SQL {
  return typed(sql)
    .update(workItem)
    .set({
      ...free,
      checkedAt: fragment`greatest(${workItem.checkedAt}, ${new Date(now)}::timestamptz)`,
      ...(accepted && {
        ...accepted,
        // Of the two kinds, the token is shown more.
        credential: fragment`greatest(${workItem.credential}, ${accepted.credential ?? null}::text)`,
        firstObservedAt: fragment`coalesce(${workItem.firstObservedAt}, ${accepted.observedAt}::timestamptz)`,
      }),
      ...(isShown && { goneAt: null }),
    })
    .where(isKey(resource, key))
    .getSQL()
}

/**
 * Forgets that keys were refused: they are shown, or it is concluded, or not credible.
 * @param until of refusals that came no later, ms by the clock of this machine; what was recorded before says nothing of others
 */
export async function forgetRefusals(
  sql: Sql,
  resource: string,
  keys: readonly string[],
  until?: number,
): Promise<void> {
  const isOver = until === undefined ? undefined : lte(claim.lastReceivedAt, new Date(until))
  await typed(sql)
    .delete(claim)
    .where(
      and(eq(claim.resource, resource), anyOf(claim.kind, ['gone', 'forbidden']), anyOf(claim.subject, keys), isOver),
    )
}
