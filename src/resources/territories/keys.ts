import type { Sql } from '../../db/database.ts'

/** Exact names of all territories that were ever listed. */
export async function territoryNames(sql: Sql): Promise<string[]> {
  // Every chain of holds has one first. Each place has thousands of versions: its name is looked up from the one before it.
  const rows = await sql.query<{ territory: string }>(
    `with recursive place(territory) as (
       select min(territory) from game.territory
        union all
       select (select min(later.territory) from game.territory later where later.territory > place.territory)
         from place where place.territory is not null)
     select territory from place where territory is not null
     union
     select territory from game.territory_hold where previous_until is null`,
  )
  return rows.map(({ territory }) => territory)
}

export async function territoriesStarting(sql: Sql, start: string, limit: number) {
  const names = (await territoryNames(sql)).filter((name) => name.startsWith(start)).sort()
  return names.slice(0, limit).map((value) => ({ value, about: 'territory' }))
}
