import type { Sql } from '../../db/database.ts'
import type { Answered, RetractedRows } from '../../sync/declare/resource.ts'

/** SQL condition: `hold` began with a capture, where `before` is the hold before it. */
const isCapture = `hold.guild_uuid is not null
        -- Another owner, or a later capture by the same one. A hold without a time was captured before a response showed it, by the clock
        -- of the game, which may be ahead by minutes.
        and (hold.guild_uuid is distinct from before.guild_uuid
             or hold.acquired > coalesce(before.acquired, before.valid_from + interval '10 minutes'))
        -- Back to a hold that began before the one that is stored: that one was wrong, and nothing was captured.
        and not coalesce(hold.acquired < before.acquired and hold.acquired < before.valid_from, false)
        -- A hold that was seen before and comes back, after answers that did not tell of it, is not captured once more. It began a few
        -- minutes before its capture at the earliest, by the clock of the game.
        and not exists (select from game.territory_hold earlier
                         where earlier.territory = hold.territory and earlier.valid_from < hold.valid_from
                           and earlier.valid_from >= hold.acquired - interval '10 minutes' and earlier.guild_uuid = hold.guild_uuid
                           and coalesce((earlier.document ->> 'acquired')::timestamptz, earlier.acquired)
                               >= coalesce((hold.document ->> 'acquired')::timestamptz, hold.acquired))`

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
    `insert into game.territory_capture
       (territory, captured_at, held_from, observed_at, from_guild_uuid, from_guild_name, to_guild_uuid, to_guild_name)
     select hold.territory, coalesce(hold.acquired, hold.valid_from), hold.valid_from, hold.observed_at,
            before.guild_uuid, before.guild_name, hold.guild_uuid, hold.guild_name
       from game.territory_hold hold
      cross join lateral (select * from game.territory_hold one
                           where one.territory = hold.territory and one.valid_until = hold.previous_until limit 1) before
      where hold.valid_until = 'infinity' and hold.observed_at = $1 and ${isCapture}
     on conflict do nothing`,
    [at],
  )
  return 0
}

/** Captures after responses were retracted: those of holds that are gone, or have none before them, go; others may be from another guild. */
export async function rebuildCaptures(sql: Sql): Promise<RetractedRows> {
  const removed = await sql.query(
    `delete from game.territory_capture capture where capture.observed_at > (select min(began) from retract_span)
        and not exists (select from game.territory_hold hold where hold.territory = capture.territory
                           and hold.valid_from = capture.held_from and hold.previous_until is not null) returning 1`,
  )
  const changed = await sql.query(
    `update game.territory_capture capture set from_guild_uuid = before.guild_uuid, from_guild_name = before.guild_name
       from game.territory_hold hold join game.territory_hold before
         on before.territory = hold.territory and before.valid_until = hold.previous_until
      where capture.observed_at > (select min(began) from retract_span) and capture.territory = hold.territory
        and capture.held_from = hold.valid_from
        and (capture.from_guild_uuid, capture.from_guild_name) is distinct from (before.guild_uuid, before.guild_name) returning 1`,
  )
  return { table: 'game.territory_capture', removed: removed.length, changed: changed.length }
}

/** SQL condition: no hold of the place was imported. Captures of an import come as they were recorded there, beside the holds of both. */
const isOwn = (row: string) => `not exists (select from sync.source_version said
                     where said.table_name = 'game.territory_hold' and said.key = ${row}.territory)`

/** Holds and captures say the same: each capture began a hold, and each hold that was captured has its capture. */
export const captureChecks = [
  {
    name: 'capture',
    table: 'game.territory_capture',
    meaning: 'captures that no hold began with, or that name another guild than the holds before and after',
    find: `select capture.territory, capture.captured_at, capture.held_from, capture.from_guild_uuid, capture.to_guild_uuid
             from game.territory_capture capture
             left join game.territory_hold hold on hold.territory = capture.territory and hold.valid_from = capture.held_from
             left join game.territory_hold before on before.territory = hold.territory and before.valid_until = hold.previous_until
            where (before.territory is null or capture.to_guild_uuid is distinct from hold.guild_uuid
                   or capture.from_guild_uuid is distinct from before.guild_uuid) and ${isOwn('capture')}`,
  },
  {
    name: 'hold without capture',
    table: 'game.territory_hold',
    meaning: 'holds that began with a capture, which game.territory_capture lacks',
    find: `select hold.territory, hold.valid_from, hold.guild_uuid, before.guild_uuid as from_guild_uuid
             from game.territory_hold hold
             join game.territory_hold before on before.territory = hold.territory and before.valid_until = hold.previous_until
            where ${isCapture} and ${isOwn('hold')}
              and not exists (select from game.territory_capture capture
                               where capture.territory = hold.territory and capture.held_from = hold.valid_from)`,
  },
] as const
