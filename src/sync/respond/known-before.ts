import { FatalError } from '../../base/errors.ts'
import type { Sql } from '../../db/database.ts'
import { lockForTransaction } from '../../db/locks/held-locks.ts'
import { LOCKED_ARCHIVE } from '../archive/archive.ts'
import type { ResourceBase } from '../declare/resource.ts'
import { openClaimsSql } from '../evidence/claims.ts'
import { countingLock, LAST_OBSERVED, LAST_OBSERVED_KEY, type LastObserved } from '../ledger/gaps.ts'
import { LAST_RUN, type LastRun, type LastRunRow, lastRunOf } from '../ledger/ledger.ts'
import { NEWEST_MIGRATION } from '../sql/history-sql.ts'
import { lastOfKey } from './checked-keys.ts'
import { countedOf } from './pending-versions.ts'
import { GONE_FIELDS } from './shape-changes.ts'
import { KNOWN_FIELDS } from './unsent-fields.ts'
import type { KnownBefore, KnownFields } from './validate-response.ts'

/** What is known at the beginning of the transaction of a response. */
export interface Opened extends KnownBefore {
  readonly lastRun: LastRun | undefined
  readonly observed: LastObserved
  readonly migration: number | null
}

/** The last accepted response of a resource, before it is requested, and the newest migration. */
export async function readLast(sql: Sql, resource: string): Promise<Pick<Opened, 'lastRun' | 'migration'>> {
  const [row] = await sql.query<LastRunRow & Pick<Opened, 'migration'>>(
    `select ${NEWEST_MIGRATION} as migration, last.* from (select) one left join lateral (${LAST_RUN}) last on true`,
    [resource],
  )
  if (!row) throw new FatalError(oneRow)
  const { migration, ...last } = row
  return { lastRun: lastRunOf(last), migration }
}

const oneRow = 'a select without a table has one row'

type OpenedRow = Omit<LastRunRow, keyof LastObserved> &
  Omit<KnownFields, 'expected'> &
  LastObserved &
  Pick<Opened, 'gone' | 'migration'> & { readonly isCounting: boolean; readonly claims: readonly string[] }

/**
 * Begins the transaction of a response: takes its locks, and reads what is known, in one statement where the response holds all of a
 * resource. About a key, its row is locked first: two responses about it come one after the other.
 * @param now by the clock of this machine
 */
export async function openResponse(
  sql: Sql,
  resource: ResourceBase,
  { key, now, archives }: { readonly key: string | undefined; readonly now: number; readonly archives: boolean },
): Promise<Opened> {
  const ofKey = key === undefined ? undefined : await lastOfKey(sql, resource.name, key, { archives })
  const archive = archives && key === undefined ? `archive as (${LOCKED_ARCHIVE}),` : ''
  const last = key === undefined ? LAST_RUN : `select null::timestamptz as "observedAt"`
  const [row] = await sql.query<OpenedRow>(
    `with ${archive} counting as materialized (select from sync.lock where name = $4 for share)
     select ${NEWEST_MIGRATION} as migration, exists (select from counting) as "isCounting", last.*,
            observed."seenAt", observed.first, observed.latest, observed.expected,
            ${openClaimsSql('$2', key === undefined ? undefined : '$5')} as claims, ${KNOWN_FIELDS}, ${GONE_FIELDS} as gone
       from (select) one
       left join lateral (${last}) last on true
       left join lateral (${key === undefined ? LAST_OBSERVED : LAST_OBSERVED_KEY}) observed on true`,
    [
      resource.name,
      countedOf(resource),
      new Date(now),
      countingLock(resource.name),
      ...(key === undefined ? [] : [key]),
    ],
  )
  if (!row) throw new FatalError(oneRow)
  const { isCounting, claims, gone, migration, presence, open, wasUnsent, hasUnread, pending, ...others } = row
  if (!isCounting) await lockForTransaction(sql, countingLock(resource.name), 'shared')
  const { seenAt, first, latest, expected, ...run } = others
  const lastRun = key === undefined ? lastRunOf(run) : undefined
  return {
    last: ofKey ?? lastRun,
    lastRun,
    claims: new Set(claims),
    fields: { presence, open, wasUnsent, hasUnread, pending },
    gone,
    observed: { seenAt, first, latest, expected },
    migration,
  }
}
