create or replace function analytics.guild_territory_count(from_time timestamptz, to_time timestamptz, step interval)
returns table (at timestamptz, guild_uuid uuid, guild_name text, territories int)
language sql stable parallel safe set jit = off
begin atomic
  with named as (
    -- A guild that was renamed has holds under both names.
    select moment.at, hold.guild_uuid, hold.guild_name, count(*) as holds, max(hold.valid_from) as latest
      from generate_series(from_time, to_time - interval '1 microsecond', step) as moment(at)
     cross join analytics.territory_held place
     cross join lateral (select one.guild_uuid, one.guild_name, one.valid_from, one.valid_until from game.territory_hold one
                          where one.territory = place.territory and one.valid_from <= moment.at
                          order by one.valid_from desc limit 1) hold
     where moment.at < hold.valid_until and hold.guild_uuid is not null
     group by moment.at, hold.guild_uuid, hold.guild_name
  )
  select named.at, named.guild_uuid, (array_agg(named.guild_name order by named.latest desc))[1], sum(named.holds)::int
    from named
   group by named.at, named.guild_uuid
   order by named.at, 4 desc, 3;
end;
comment on function analytics.guild_territory_count(timestamptz, timestamptz, interval) is
'How many territories each guild held at every step of [from_time, to_time).';
