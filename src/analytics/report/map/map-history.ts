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

/** The holds of a territory in the period. */
interface Held {
  readonly territory: string
  readonly holds: number
  /** Of those that a step shows, in order: the first step, the one after the last, and the guild; with spaces and commas. */
  readonly shown: string | null
}

/**
 * Lays every hold of the period over the steps: about 170 of them, and the last moment. What a step shows is what was true at its
 * instant; what came and went between two steps is not on the map. Postgres does it: a week may have 60,000 holds.
 * @param guilds uuid of every guild that held something in the period
 */
export async function readMapHistory(sql: Sql, period: Period, guilds: readonly string[]): Promise<MapHistory> {
  const places = await sql.query<Place>(
    `select territory, min_x as "minX", min_z as "minZ", max_x as "maxX", max_z as "maxZ" from analytics.territory
      where min_x is not null and min_z is not null and max_x is not null and max_z is not null
      -- Small places lie on top of large ones.
      order by (max_x - min_x)::bigint * (max_z - min_z) desc, territory`,
  )
  const steps = [...stepsOf(period, stepOf(period, 170)), new Date(period.to.getTime() - 1)]
  const held = await sql.query<Held>(
    `with hold as (
       select territory, held_from, guild.nth,
              width_bucket(held_from - interval '1 microsecond', $3::timestamptz[]) as began,
              coalesce(width_bucket(held_until - interval '1 microsecond', $3::timestamptz[]), cardinality($3::timestamptz[])) as ended
         from analytics.territory_hold
         join unnest($4::uuid[]) with ordinality guild(uuid, nth) on guild.uuid = guild_uuid
        where held_from < $2 and (held_until > $1 or held_until is null))
     select territory, count(*)::int as holds,
            string_agg(began || ' ' || ended || ' ' || nth - 1, ',' order by held_from) filter (where began < ended) as shown
       from hold group by territory`,
    [period.from, period.to, steps, guilds],
  )
  const byPlace = new Map(held.map((one) => [one.territory, one]))
  const changes = places.map(({ territory }) => changesOf(byPlace.get(territory)?.shown ?? null, steps.length, guilds))
  for (const { territory } of places) byPlace.delete(territory)
  return { places, steps, changes, elsewhere: [...byPlace.values()].reduce((sum, { holds }) => sum + holds, 0) }
}

/** Neighbours of one guild are one; between two holds nothing is known. */
function changesOf(shown: string | null, steps: number, guilds: readonly string[]): [number, string | null][] {
  const changes: [number, string | null][] = []
  const change = (step: number, uuid: string | null) => {
    if (step < steps && changes.at(-1)?.[1] !== uuid) changes.push([step, uuid])
  }
  let known = 0
  for (const hold of shown?.split(',') ?? []) {
    const [began = 0, ended = 0, guild = 0] = hold.split(' ').map(Number)
    if (began > known) change(known, null)
    change(began, guilds[guild] ?? null)
    known = ended
  }
  change(known, null)
  return changes
}
