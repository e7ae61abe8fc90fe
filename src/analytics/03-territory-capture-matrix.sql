-- Counts what analytics.territory_capture shows. Most captures of a time follow one of the same time, which is at hand: only
-- what came before the others is looked for. How many there will be Postgres cannot know here, and for few it would sort them:
-- counting by hash takes two thirds of the time.
create or replace function analytics.capture_matrix(from_time timestamptz, to_time timestamptz)
returns table (attacker_uuid uuid, attacker text, defender_uuid uuid, defender text, captures int)
language sql stable parallel safe set jit = off set enable_sort = off set work_mem = '32MB'
begin atomic
  with followed as (
    select hold.territory, hold.guild_uuid, hold.guild_name, hold.acquired, hold.valid_from,
           case when looked.is_found then looked.guild_uuid else near.guild_uuid end as before_uuid,
           case when looked.is_found then looked.guild_name else near.guild_name end as before_name,
           case when looked.is_found then looked.acquired else near.acquired end as before_acquired
      from (select * from game.territory_hold one
             where coalesce(one.acquired, one.valid_from) >= from_time and coalesce(one.acquired, one.valid_from) < to_time) hold
      left join (select * from game.territory_hold one
                  where coalesce(one.acquired, one.valid_from) >= from_time and coalesce(one.acquired, one.valid_from) < to_time) near
             on near.territory = hold.territory and near.valid_until = hold.previous_until
      left join lateral (select true as is_found, far.guild_uuid, far.guild_name, far.acquired from game.territory_hold far
                          where near.territory is null and far.territory = hold.territory and far.valid_until = hold.previous_until
                         offset 0) looked on true
     where looked.is_found or near.territory is not null
  ), named as materialized (
    -- A guild that was renamed has captures under both names.
    select capture.guild_uuid, capture.guild_name, capture.before_uuid, capture.before_name,
           count(*) as captures, max(coalesce(capture.acquired, capture.valid_from)) as latest
      from followed capture
     where capture.guild_uuid is not null
       and (capture.guild_uuid is distinct from capture.before_uuid or capture.acquired > capture.before_acquired)
       and not ((capture.acquired < capture.valid_from
                 or capture.territory in (select foretold.territory from game.territory_hold foretold
                                           where foretold.acquired > foretold.valid_from))
                and exists (select from game.territory_hold earlier
                             where earlier.territory = capture.territory and earlier.valid_from < capture.valid_from
                               and earlier.guild_uuid = capture.guild_uuid and earlier.acquired >= capture.acquired))
     group by capture.guild_uuid, capture.guild_name, capture.before_uuid, capture.before_name
  )
  select named.guild_uuid, (array_agg(named.guild_name order by named.latest desc))[1],
         named.before_uuid, (array_agg(named.before_name order by named.latest desc))[1],
         sum(named.captures)::int
    from named
   group by named.guild_uuid, named.before_uuid
   order by 5 desc, 2, 4;
end;
comment on function analytics.capture_matrix(timestamptz, timestamptz) is
'Who took how many territories from whom in [from_time, to_time). A guild that took a place again counts against itself; defender is NULL where nobody held it.';
