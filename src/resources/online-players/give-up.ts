import type { Sql } from '../../db/database.ts'

/** Undoes what responses after an instant said of who is online: listings that began are gone, and that ended are open again. */
export async function giveUpListings(sql: Sql, after: Date): Promise<void> {
  await sql.query('delete from game.online_sample where observed_at > $1', [after])
  await sql.query('delete from game.player_listing where first_listed_at > $1', [after])
  await sql.query(
    `update game.player_listing set last_listed_at = null, first_unlisted_at = null, logout_latest = null
      where first_unlisted_at > $1`,
    [after],
  )
  // Who moved is where the first of these moves began.
  await sql.query(
    `update game.player_listing listing set last_world = moved.from_world
       from (select distinct on (player_uuid) player_uuid, from_world from game.player_hop
              where latest > $1 order by player_uuid, latest) moved
      where listing.player_uuid = moved.player_uuid and listing.last_listed_at is null`,
    [after],
  )
  await sql.query('delete from game.player_hop where latest > $1', [after])
}
