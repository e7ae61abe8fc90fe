import type { Sql } from '../../db/database.ts'
import { anyOf, typed } from '../../db/typed.ts'
import type { Personal } from './personal.ts'
import { privacyRestriction } from './tables.ts'

/**
 * Makes the next responses about these players be loaded again where no response hides the field group any more: what they
 * show was removed, or not kept, while they stayed the same.
 */
export async function reopen(
  sql: Sql,
  personal: Personal,
  ended: readonly { readonly player: string; readonly group: string }[],
): Promise<void> {
  const { playerUuid, fieldGroup } = privacyRestriction
  const others = await typed(sql)
    .select({ player: playerUuid, group: fieldGroup })
    .from(privacyRestriction)
    .where(
      anyOf(
        playerUuid,
        ended.map(({ player }) => player),
      ),
    )
  const hidden = new Set(others.map(({ player, group }) => `${player} ${group}`))
  const open = ended.filter(({ player, group }) => !hidden.has(`${player} ${group}`))
  const uuids = [...new Set(open.map((one) => one.player))]
  if (uuids.length === 0) return
  await invalidateHashes(sql, personal, uuids)
  for (const { table, versionsOf, blank = {} } of personal.tables) {
    for (const [group, { columns, where }] of Object.entries(blank)) {
      const again = open.filter((one) => one.group === group).map((one) => one.player)
      if (versionsOf === undefined || where !== undefined || again.length === 0) continue
      await sql.query(
        `update ${table} set hash = sha256(hash) where player_uuid = any($1::uuid[]) and valid_until = 'infinity'
            and ${columns.map((column) => `${column} is null`).join(' and ')}`,
        [again],
      )
    }
  }
}

/** Makes the next responses about these players be loaded even if they are unchanged: what they said is not kept any more. */
export async function invalidateHashes(sql: Sql, personal: Personal, uuids: readonly string[]): Promise<void> {
  await sql.query(
    // Those that are locked are being requested right now.
    `with asked as (
       select item.resource, item.key from sync.work_item item
         join (select about.resource, about.key from unnest($1::uuid[]) as who(player_uuid)
                cross join lateral (${personal.answersAbout}) about(resource, key)) about using (resource, key)
          for update of item skip locked)
     update sync.work_item item set content_hash = sha256(item.content_hash) from asked
      where item.resource = asked.resource and item.key = asked.key`,
    [uuids],
  )
}
