import type { Sql } from '../../db/database.ts'
import type { RebuiltRows } from '../../sync/declare/resource.ts'

/** SQL: the instant of a response if no player was hidden in it. */
const ifNobodyHid = (at: string) =>
  `case when (select hidden from game.online_sample sample where sample.observed_at <= ${at} order by sample.observed_at desc limit 1) = 0 then ${at} end`

/**
 * Sessions are made anew of the responses that are left: the first and the last that listed the player, and those around them that did not.
 * Two between which no response is left that lacked the player are one.
 */
export async function rebuildListings(sql: Sql): Promise<RebuiltRows> {
  const table = 'game.player_listing'
  await sql.query(
    `create temp table retract_kept on commit drop as select distinct at from retract_response where not is_retracted`,
  )
  await sql.query('create index on retract_kept (at)')
  await sql.query(
    `create temp table retract_session on commit drop as
     with touched as (
       select own.* from ${table} own
        where exists (select from retract_span span
                       where own.player_uuid in (select near.player_uuid from ${table} near
                              where coalesce(near.last_unlisted_at, near.first_listed_at) < span.ended
                                and coalesce(near.first_unlisted_at, 'infinity') > span.began))
     ), kept as (
       select touched.*, (select min(at) from retract_kept where at >= first_listed_at) as new_first,
              (select max(at) from retract_kept where at <= coalesce(last_listed_at, 'infinity')) as new_last
         from touched
     )
     select * from kept`,
  )
  const [counted] = await sql.query<{ removed: number }>(
    `select count(*) filter (where new_first is null or new_last is null or new_first > new_last)::int as removed from retract_session`,
  )
  await sql.query(
    `delete from ${table} own using retract_session session
      where own.player_uuid = session.player_uuid and own.first_listed_at = session.first_listed_at`,
  )
  const inserted = await sql.query(
    `insert into ${table} (player_uuid, first_listed_at, last_unlisted_at, last_listed_at, first_unlisted_at, login_earliest,
                           logout_latest, world, last_world, world_named_at)
     with listed as (
       select *, lag(new_last) over own as last_before from retract_session where new_first <= new_last
       window own as (partition by player_uuid order by new_first, first_listed_at)
     ), numbered as (
       select *, count(*) filter (where last_before is null
                   or exists (select from retract_kept where at > last_before and at < new_first)) over own as session from listed
       window own as (partition by player_uuid order by new_first, first_listed_at)
     ), joined as (
       select player_uuid, session, min(new_first) as first_at, max(new_last) as last_at,
              (array_agg(world order by new_first))[1] as world, (array_agg(last_world order by new_first desc))[1] as last_world,
              (array_agg(world_named_at order by new_first desc))[1] as named_at
         from numbered group by player_uuid, session
     ), around as (
       select joined.*, (select max(at) from retract_kept where at < first_at) as unlisted_before,
              (select min(at) from retract_kept where at > last_at) as unlisted_after from joined
     )
     select player_uuid, first_at, unlisted_before, case when unlisted_after is not null then last_at end, unlisted_after,
            ${ifNobodyHid('unlisted_before')}, ${ifNobodyHid('unlisted_after')},
            world, last_world, case when named_at <= last_at then named_at end
       from around returning 1`,
  )
  await sql.query('drop table retract_kept, retract_session')
  return { table, removed: counted?.removed ?? 0, changed: inserted.length }
}
