import { eq, getTableColumns, or } from 'drizzle-orm'
import { FOREVER } from '../../db/bulk/values.ts'
import type { Sql } from '../../db/database.ts'
import { typed } from '../../db/typed.ts'
import { lockArchive } from '../archive/archive.ts'
import type { Removed } from '../archive/erase-archived.ts'
import { everything, type KeptTable, type Personal, type PersonalResponses } from '../declare/personal.ts'
import { sha256 } from '../normalize/hash.ts'
import { privacyAction, privacyRestriction } from '../tables/privacy.ts'
import { erase, type Gone, whoFrom, whoseRows } from './erase-person.ts'
import { countNames, namedPlayers, removeNames } from './named-columns.ts'
import { lockPrivacy } from './privacy.ts'
import { recordActions } from './privacy-actions.ts'
import { anonymizingStatement } from './privacy-engine.ts'
import { reloadAbout } from './restrictions/restrictions.ts'

interface KeptRows {
  readonly table: string
  readonly rows: number
  /** The oldest and the youngest of them. */
  readonly first: Date | null
  readonly last: Date | null
}

/** Records that were not understood, and archived responses that are all about the player; lists and guilds mention others too. */
const ofEngine = [
  [
    'sync.quarantine',
    (_: PersonalResponses) => true,
    `select count(*)::int as rows, min(first_seen_at) as first, max(first_seen_at) as last from sync.quarantine
      where resource = any($2::text[]) and strpos(lower(raw::text), $1) > 0`,
  ],
  [
    'sync.raw_answer',
    ({ isOfOne }: PersonalResponses) => isOfOne,
    `select count(*)::int as rows, min(received_at) as first, max(received_at) as last from sync.raw_answer
      where resource = any($2::text[]) and key = $1`,
  ],
] as const

/** What is kept of a player, what is restricted, and what was removed because of it; tables with nothing are left out. */
export async function personKept(sql: Sql, personal: Personal, playerUuid: string) {
  const found: KeptRows[] = []
  for (const table of personal.tables) {
    const [row] = await sql.query<Omit<KeptRows, 'table'>>(
      `select count(*)::int as rows, min(kept.${table.since}) as first, max(kept.${table.since}) as last
         from ${table.table} kept, ${whoFrom(table)} where ${whoseRows(table)}`,
      [[playerUuid], [FOREVER]],
    )
    if (row && row.rows > 0) found.push({ table: table.table, ...row })
  }
  for (const [table, isSearched, text] of ofEngine) {
    const resources = Object.entries(personal.responses).flatMap(([name, one]) => (isSearched(one) ? [name] : []))
    const [row] = await sql.query<Omit<KeptRows, 'table'>>(text, [playerUuid, resources])
    if (row && row.rows > 0) found.push({ table, ...row })
  }
  for (const one of await countNames(sql, personal, playerUuid)) {
    const isShown = found.some(({ table }) => table === one.table) || one.table.startsWith('sync.privacy_')
    if (!isShown) found.push({ ...one, first: null, last: null })
  }
  const { at, fieldGroup, policy, rows, reason } = privacyAction
  const { playerUuid: _, ...restriction } = getTableColumns(privacyRestriction)
  return {
    tables: found,
    restrictions: await typed(sql)
      .select(restriction)
      .from(privacyRestriction)
      .where(eq(privacyRestriction.playerUuid, playerUuid))
      .orderBy(privacyRestriction.fieldGroup, privacyRestriction.toldBy),
    removals: await typed(sql)
      .select({ at, fieldGroup, policy, rows, reason })
      .from(privacyAction)
      .where(
        or(eq(privacyAction.playerUuid, playerUuid), eq(privacyAction.playerHash, sha256(playerUuid.toLowerCase()))),
      )
      .orderBy(at),
  }
}

/** Rules that something is kept under, in the order of the alphabet. */
export function knownGroups(tables: readonly KeptTable[]): string[] {
  return [
    ...new Set(tables.flatMap(({ rows = {}, blank = {} }) => [...Object.keys(rows), ...Object.keys(blank)])),
  ].sort()
}

/**
 * Removes what is kept of a player, or what of it falls under one rule, as of now: what was observed until then does not
 * come back, what the API shows later is recorded as of anybody. In a transaction.
 * @param fieldGroup one of `knownGroups`; undefined for everything
 * @returns what went, by table
 */
export async function purge(
  sql: Sql,
  personal: Personal,
  { playerUuid, fieldGroup = everything, at }: { playerUuid: string; fieldGroup?: string | undefined; at: Date },
): Promise<Removed[]> {
  // In the order of every response's transaction.
  await lockArchive(sql)
  await lockPrivacy(sql)
  // What the API shows of the player now may be the same as it was.
  await reloadAbout(sql, personal, [playerUuid])
  const { named, keys } = await namedPlayers(sql, personal, [playerUuid])
  const removed = await erase(sql, personal, [{ playerUuid, fieldGroup }])
  if (fieldGroup === everything) {
    const { table, text } = anonymizingStatement()
    const gone = await sql.query<Gone>(text, [[playerUuid], [FOREVER]])
    for (const { player, n } of gone) removed.push({ playerUuid: player, fieldGroup, table, rows: n })
    removed.push(...(await removeNames(sql, personal, named, { isPurge: true, keys })))
  }
  // Also of a player who was never recorded: a lake that is imported later may name one.
  const actions = removed.length > 0 ? removed : [{ playerUuid, fieldGroup, table: 'sync.privacy_action', rows: 0 }]
  const reason = 'a person asked for it'
  await recordActions(sql, actions, { at, policy: 'purge', reason, runId: null, isNamed: false })
  return removed
}
