import type { Sql } from '../../db/database.ts'
import type { RetractedRows } from '../../sync/declare/resource.ts'
import { isCapture } from './derive.ts'

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
