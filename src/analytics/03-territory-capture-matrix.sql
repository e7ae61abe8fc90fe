create or replace function analytics.capture_matrix(from_time timestamptz, to_time timestamptz)
returns table (attacker_uuid uuid, attacker text, defender_uuid uuid, defender text, captures int)
language sql stable parallel safe
begin atomic
  select capture.to_guild_uuid, (array_agg(capture.to_guild_name order by capture.captured_at desc))[1],
         capture.from_guild_uuid, (array_agg(capture.from_guild_name order by capture.captured_at desc))[1],
         count(*)::int
    from analytics.territory_capture capture
   where capture.captured_at >= from_time and capture.captured_at < to_time
   group by capture.to_guild_uuid, capture.from_guild_uuid
   order by count(*) desc, 2, 4;
end;
comment on function analytics.capture_matrix(timestamptz, timestamptz) is
'Who took how many territories from whom in [from_time, to_time). A guild that took a place again counts against itself; defender is NULL where nobody held it.';
