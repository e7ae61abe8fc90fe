import type { Sql } from '../../db/database.ts'
import type { Holds, VisitHolds } from './holds.ts'

/** A territory's place on the map, in blocks; y grows to the south. */
export interface Place {
  readonly territory: string
  readonly minX: number
  readonly minZ: number
  readonly maxX: number
  readonly maxZ: number
}

export interface MapHistory {
  readonly places: readonly Place[]
  readonly steps: readonly Date[]
  /** Of each place the holder's uuid from a step on, as [step, uuid]; null: no holder known. Only what changes. */
  readonly changes: readonly (readonly (readonly [number, string | null])[])[]
  /** Holds in the period of territories that are not on today's map. */
  readonly elsewhere: number
}

/** The holds of the territories that are on today's map. */
export async function readMapHistory(sql: Sql, { steps, amounts, over }: Holds): Promise<MapHistory> {
  const places = await sql.query<Place>(
    `select territory, min_x as "minX", min_z as "minZ", max_x as "maxX", max_z as "maxZ" from analytics.territory
      where min_x is not null and min_z is not null and max_x is not null and max_z is not null
      -- Small places lie on top of large ones.
      order by (max_x - min_x)::bigint * (max_z - min_z) desc, territory collate "C"`,
  )
  const held = over(steps)
  const elsewhere = new Map(amounts)
  for (const { territory } of places) elsewhere.delete(territory)
  return {
    places,
    steps,
    changes: places.map(({ territory }) => changesOf(held, territory, steps.length)),
    elsewhere: [...elsewhere.values()].reduce((sum, holds) => sum + holds, 0),
  }
}

/** Neighbours of one guild are one; between two holds nothing is known. */
function changesOf(visitHolds: VisitHolds, territory: string, steps: number): [number, string | null][] {
  const changes: [number, string | null][] = []
  let holder: string | null | undefined
  const change = (step: number, uuid: string | null) => {
    if (step >= steps || holder === uuid) return
    changes.push([step, uuid])
    holder = uuid
  }
  let known = 0
  visitHolds(territory, (began, ended, guild) => {
    if (began > known) change(known, null)
    change(began, guild)
    known = ended
  })
  change(known, null)
  return changes
}
