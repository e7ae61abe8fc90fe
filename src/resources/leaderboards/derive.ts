import type { Sql } from '../../db/database.ts'
import type { Answered } from '../../sync/declare/resource.ts'

/** How many places a board has at most where nothing else is asked for (API reference 3.6). */
export const usualPlaces = 100

/**
 * Empties the places that enough responses in a row have lacked, from the first of these on. A board without any place
 * says nothing.
 * @returns how many are empty now
 */
export async function emptyPlaces(sql: Sql, { recordFacts, ...answered }: Answered): Promise<number> {
  let emptied = 0
  for (const [type, facts] of recordFacts) {
    const seen = Array.isArray(facts) ? facts : []
    if (seen.length > 0) emptied += await emptyPlacesOf(sql, type, seen, answered)
  }
  return emptied
}

async function emptyPlacesOf(
  sql: Sql,
  type: string,
  seen: readonly unknown[],
  { at, complete, corroborate }: Pick<Answered, 'at' | 'complete' | 'corroborate'>,
): Promise<number> {
  const places = complete ? await missingPlaces(sql, type, seen, at) : []
  const missing = places.map((place) => `${type}/${place}`)
  const gone = await corroborate('empty place', missing, type)
  if (gone.length === 0) return 0
  await sql.query(
    `insert into game.leaderboard_place (type, place, observed_at, reason)
     select $1, place, at, 'empty' from unnest($2::int[], $3::timestamptz[]) as gone(place, at)
     on conflict do nothing`,
    [type, gone.map(({ subject }) => Number(subject.slice(type.length + 1))), gone.map(({ firstAt }) => firstAt)],
  )
  return gone.length
}

/**
 * Places that a response lacks and that are not empty, as far as is known. A list that reaches as far as is usual may end there because no
 * more was asked for.
 */
async function missingPlaces(sql: Sql, type: string, seen: readonly unknown[], at: Date): Promise<number[]> {
  const rows = await sql.query<{ place: number }>(
    `select missed.place
       from (select max(place) as place from unnest($2::int[]) as place) lowest
      cross join generate_series(1, case when lowest.place >= $4 then lowest.place
                                         else (select max(known.place) from game.leaderboard_place known where known.type = $1) end) as missed(place)
       left join unnest($2::int[]) as seen(place) on seen.place = missed.place
      cross join lateral (select latest.reason from game.leaderboard_place latest
                           where latest.type = $1 and latest.place = missed.place and latest.observed_at <= $3
                           order by latest.observed_at desc limit 1) last
      where seen.place is null and last.reason is distinct from 'empty'`,
    [type, seen, at, usualPlaces],
  )
  return rows.map(({ place }) => place)
}
