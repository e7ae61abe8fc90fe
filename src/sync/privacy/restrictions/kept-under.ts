import { FOREVER } from '../../../db/bulk/values.ts'
import type { Sql } from '../../../db/database.ts'
import type { KeptTable, Personal } from '../../declare/personal.ts'
import { own, whoFrom, whoseRows } from '../erase-person.ts'
import type { RestrictedPerson } from './conclude-restrictions.ts'

/** Those of whom anything is kept that falls under the rule. Rows that grow by themselves count as nothing. */
export async function keptUnder(
  sql: Sql,
  { tables, growing }: Personal,
  people: readonly RestrictedPerson[],
): Promise<RestrictedPerson[]> {
  const found = new Set<string>()
  for (const group of new Set(people.map((one) => one.group))) {
    if (growing.includes(group)) continue
    for (const table of tables) {
      const condition = keptCondition(table, group)
      if (condition === undefined) continue
      const uuids = people
        .filter((one) => one.group === group && !found.has(`${one.playerUuid} ${group}`))
        .map(({ playerUuid }) => playerUuid)
      if (uuids.length === 0) break
      const rows = await sql.query<{ player: string }>(
        `select distinct who.player_uuid::text as player from ${table.table} kept, ${whoFrom(table)}
          where ${whoseRows(table)} and (${condition})`,
        [uuids, uuids.map(() => FOREVER)],
      )
      for (const { player } of rows) found.add(`${player} ${group}`)
    }
  }
  return people.filter(({ playerUuid, group }) => found.has(`${playerUuid} ${group}`))
}

/** Which rows of a table have something that a rule hides; undefined when none can. */
function keptCondition({ rows, blank }: KeptTable, group: string): string | undefined {
  const conditions: string[] = []
  const which = own(rows, group)
  if (which !== undefined) conditions.push(which)
  const blanked = own(blank, group)
  if (blanked) {
    const filled = blanked.columns.map((column) => `kept.${column} is not null`).join(' or ')
    conditions.push(`(${filled}) and ${blanked.where ?? 'true'}`)
  }
  return conditions.length > 0 ? conditions.map((one) => `(${one})`).join(' or ') : undefined
}
