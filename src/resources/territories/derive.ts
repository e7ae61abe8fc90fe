import type { Sql } from '../../db/database.ts'
import type { Answered } from '../../sync/declare/resource.ts'

/**
 * SQL condition: `hold` began with a capture, where `before` is the hold before it. That is another owner, or a later capture by the same one; a
 * hold without a time was captured before a response showed it, by the clock of the game, which may be ahead by minutes. Not: back to a hold
 * that began before the one that is stored, which was wrong. Nor a hold that was seen before and comes back, after responses that did not
 * tell of it: it began a few minutes before its capture at the earliest, by the clock of the game.
 */
const isCapture = `hold.guild_uuid is not null
        and (hold.guild_uuid is distinct from before.guild_uuid
             or hold.acquired > coalesce(before.acquired, before.valid_from + interval '10 minutes'))
        and not coalesce(hold.acquired < before.acquired and hold.acquired < before.valid_from, false)
        -- Few holds before began so late: the others are not looked for.
        and not (before.valid_from >= hold.acquired - interval '10 minutes'
                 and exists (select from game.territory_hold earlier
                              where earlier.territory = hold.territory and earlier.valid_from < hold.valid_from
                                and earlier.valid_from >= hold.acquired - interval '10 minutes' and earlier.guild_uuid = hold.guild_uuid
                                and coalesce((earlier.document ->> 'acquired')::timestamptz, earlier.acquired)
                                    >= coalesce((hold.document ->> 'acquired')::timestamptz, hold.acquired)))`

export const captureColumns =
  'territory, captured_at, held_from, observed_at, from_guild_uuid, from_guild_name, to_guild_uuid, to_guild_name'

/** SQL: the captures that holds began with, as rows of `game.territory_capture`. @param from where `hold` comes from, in SQL */
export const capturesOf = (from: string): string =>
  `select hold.territory, coalesce(hold.acquired, hold.valid_from) as captured_at, hold.valid_from as held_from,
          greatest(hold.observed_at, hold.valid_from) as observed_at, before.guild_uuid as from_guild_uuid,
          before.guild_name as from_guild_name, hold.guild_uuid as to_guild_uuid, hold.guild_name as to_guild_name
     from ${from}
    cross join lateral (select * from game.territory_hold one
                         where one.territory = hold.territory and one.valid_until = hold.previous_until limit 1) before
    where ${isCapture}`

/**
 * Writes down which of the holds that an answer showed first began with a capture. The first answer about a territory
 * shows its owner, not a capture.
 * @returns 0: the holds themselves have been counted
 */
export async function deriveCaptures(sql: Sql, { at, withdrawn }: Pick<Answered, 'at' | 'withdrawn'>): Promise<number> {
  if (withdrawn.length > 0)
    await sql.query(
      `delete from game.territory_capture capture using unnest($1::text[], $2::timestamptz[]) as wrong(territory, held_from)
        where capture.territory = wrong.territory and capture.held_from = wrong.held_from`,
      [withdrawn.map(({ key }) => key), withdrawn.map(({ validFrom }) => validFrom)],
    )
  await sql.query(
    `insert into game.territory_capture (${captureColumns})
     ${capturesOf('game.territory_hold hold')} and hold.valid_until = 'infinity' and hold.observed_at = $1
     on conflict do nothing`,
    [at],
  )
  return 0
}
