import type { Sql } from '../../db/database.ts'

/** Exact names of all territories that were ever listed. */
export async function territoryNames(sql: Sql): Promise<string[]> {
  // Every chain of holds has one first.
  const rows = await sql.query<{ territory: string }>(
    `select territory from game.territory
     union
     select territory from game.territory_hold where previous_until is null`,
  )
  return rows.map(({ territory }) => territory)
}

export async function territoriesStarting(sql: Sql, start: string, limit: number) {
  const names = (await territoryNames(sql)).filter((name) => name.startsWith(start)).sort()
  return names.slice(0, limit).map((value) => ({ value, about: 'territory' }))
}
