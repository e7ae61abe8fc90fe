create or replace function analytics.capture_matrix(from_time timestamptz, to_time timestamptz)
returns table (attacker_uuid uuid, attacker text, defender_uuid uuid, defender text, captures int)
language sql stable parallel safe set jit = off
begin atomic
  with named as (
    -- A guild that was renamed has captures under both names.
    select capture.to_guild_uuid, capture.to_guild_name, capture.from_guild_uuid, capture.from_guild_name,
           count(*) as captures, max(capture.captured_at) as latest
      from analytics.territory_capture capture
     where capture.captured_at >= from_time and capture.captured_at < to_time
     group by capture.to_guild_uuid, capture.to_guild_name, capture.from_guild_uuid, capture.from_guild_name
  )
  select named.to_guild_uuid, (array_agg(named.to_guild_name order by named.latest desc))[1],
         named.from_guild_uuid, (array_agg(named.from_guild_name order by named.latest desc))[1],
         sum(named.captures)::int
    from named
   group by named.to_guild_uuid, named.from_guild_uuid
   order by 5 desc, 2, 4;
end;
comment on function analytics.capture_matrix(timestamptz, timestamptz) is
'Who took how many territories from whom in [from_time, to_time). A guild that took a place again counts against itself; defender is NULL where nobody held it.';
