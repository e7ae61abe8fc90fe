-- Captures are counted by their guilds' keys, from an index alone; names are those of the last capture between the two. How many
-- captures there will be Postgres cannot know here, and for few it would sort them: counting by hash takes less time.
create or replace function analytics.capture_matrix(from_time timestamptz, to_time timestamptz)
returns table (attacker_uuid uuid, attacker text, defender_uuid uuid, defender text, captures int, coverage real)
language sql stable parallel safe set jit = off set enable_sort = off set work_mem = '32MB'
begin atomic
  with pair as materialized (
    select capture.to_guild_uuid, capture.from_guild_uuid, count(*)::int as captures, max(capture.captured_at) as latest
      from game.territory_capture capture
     where capture.captured_at >= from_time and capture.captured_at < to_time
     group by capture.to_guild_uuid, capture.from_guild_uuid
  ), period as materialized (
    select analytics.watched_share('territories', from_time, to_time) as coverage
  )
  select pair.to_guild_uuid, last.to_guild_name, pair.from_guild_uuid, last.from_guild_name, pair.captures, period.coverage
    from pair cross join period
   cross join lateral (
     -- A guild that was renamed has captures under both names.
     (select one.to_guild_name, one.from_guild_name from game.territory_capture one
       where one.captured_at = pair.latest and one.to_guild_uuid = pair.to_guild_uuid
         and one.from_guild_uuid = pair.from_guild_uuid limit 1)
      union all
     (select one.to_guild_name, one.from_guild_name from game.territory_capture one
       where pair.from_guild_uuid is null and one.captured_at = pair.latest
         and one.to_guild_uuid = pair.to_guild_uuid and one.from_guild_uuid is null limit 1)) last
   order by pair.captures desc, last.to_guild_name collate "C", last.from_guild_name collate "C";
end;
comment on function analytics.capture_matrix(timestamptz, timestamptz) is
'Who took how many territories from whom in [from_time, to_time). A guild that took a place again counts against itself; defender is NULL where it had no owner. coverage is the share (0..1) of the period that was watched: of the rest, captures of a place that changed hands twice are not there, and in the future or without a schedule it is NULL.';
