import type { Sql } from '../../../db/database.ts'
import { type Period, stepOf, stepsOf } from '../period.ts'

/** A territory's place on the map, in blocks; y grows to the south. */
export interface Place {
  readonly territory: string
  readonly minX: number
  readonly minZ: number
  readonly maxX: number
  readonly maxZ: number
}

/** Who held what at each step of a period. */
export interface MapHistory {
  readonly places: readonly Place[]
  readonly steps: readonly Date[]
  /** Of each place the holder's uuid from a step on, as [step, uuid]; null: no holder known. Only what changes. */
  readonly changes: readonly (readonly (readonly [number, string | null])[])[]
  /** Holds in the period of territories that are not on today's map. */
  readonly elsewhere: number
}

interface Hold {
  readonly territory: string
  readonly uuid: string
  readonly from: Date
  readonly until: Date | null
}

/** Reads every hold of the period once and lays them over the steps: about 170 of them, and the last moment. */
export async function readMapHistory(sql: Sql, period: Period): Promise<MapHistory> {
  const places = await sql.query<Place>(
    `select territory, min_x as "minX", min_z as "minZ", max_x as "maxX", max_z as "maxZ" from analytics.territory
      where min_x is not null and min_z is not null and max_x is not null and max_z is not null
      -- Small places lie on top of large ones.
      order by (max_x - min_x)::bigint * (max_z - min_z) desc, territory`,
  )
  const holds = await sql.query<Hold>(
    `select territory, guild_uuid::text as uuid, held_from as "from", held_until as until from analytics.territory_hold
      where held_from < $2 and (held_until > $1 or held_until is null) order by held_from`,
    [period.from, period.to],
  )
  const steps = [...stepsOf(period, stepOf(period, 170)), new Date(period.to.getTime() - 1)]
  const byPlace = new Map<string, Hold[]>(places.map(({ territory }) => [territory, []]))
  for (const hold of holds) byPlace.get(hold.territory)?.push(hold)
  const changes = places.map(({ territory }) => changesOf(byPlace.get(territory) ?? [], steps))
  return { places, steps, changes, elsewhere: holds.filter(({ territory }) => !byPlace.has(territory)).length }
}

/** What a step shows is what was true at its instant; what came and went between two steps is not on the map. */
function changesOf(holds: readonly Hold[], steps: readonly Date[]): [number, string | null][] {
  const changes: [number, string | null][] = []
  let before: string | null | undefined
  let next = 0
  let holder: Hold | undefined
  for (const [step, at] of steps.entries()) {
    while (holds[next] && (holds[next] as Hold).from <= at) holder = holds[next++]
    const uuid = holder && (holder.until === null || holder.until > at) ? holder.uuid : null
    if (uuid !== before) changes.push([step, uuid])
    before = uuid
  }
  return changes
}
