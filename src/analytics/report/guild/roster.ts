import type { Sql } from '../../../db/database.ts'
import type { Period } from '../period.ts'

/** A guild as the report shows it. */
export interface Shown {
  readonly uuid: string
  readonly name: string
  readonly prefix: string
  /** What its places are filled with: a colour or pattern that the page defines, or `others`. */
  readonly fill: string
}

/** Who is shown in which colour, from the biggest empire to the smallest. */
export interface Roster {
  readonly shown: readonly Shown[]
  readonly of: (uuid: string | null) => Shown | undefined
}

/** Fills that differ without full colour vision: seven colours plain, seven striped, seven dotted. */
export const fills = 21
const others = 'var(--others)'

/** Every guild that held or took something in the period, in the order of what it held on average. */
export async function readRoster(sql: Sql, { from, to }: Period): Promise<Roster> {
  const rows = await sql.query<{ uuid: string; name: string; prefix: string | null }>(
    `with held as (
       select guild_uuid, sum(least(coalesce(held_until, $2), $2::timestamptz) - greatest(held_from, $1::timestamptz)) as held
         from analytics.territory_hold
        where held_from < $2 and (held_until > $1 or held_until is null)
        group by guild_uuid)
     select held.guild_uuid::text as uuid, last.guild_name as name, last.guild_prefix as prefix
       from held
      cross join lateral (select guild_name, guild_prefix from analytics.territory_hold own
                           where own.guild_uuid = held.guild_uuid and held_from < $2
                           order by held_from desc, held_until desc limit 1) last
      order by held.held desc, name`,
    [from, to],
  )
  const shown = rows.map(({ uuid, name, prefix }, place) => ({
    uuid,
    name,
    prefix: prefix ?? name,
    fill: fillOf(place),
  }))
  const byUuid = new Map(shown.map((one) => [one.uuid, one]))
  return { shown, of: (uuid) => (uuid === null ? undefined : byUuid.get(uuid)) }
}

function fillOf(place: number): string {
  if (place >= fills) return others
  return place < 7 ? `var(--g${place})` : `url(#g${place})`
}
