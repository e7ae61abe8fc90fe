create or replace function analytics.guild_territory_count(from_time timestamptz, to_time timestamptz, step interval)
returns table (at timestamptz, guild_uuid uuid, guild_name text, territories int)
language sql stable parallel safe
begin atomic
  select moment.at, hold.guild_uuid, (array_agg(hold.guild_name order by hold.valid_from desc))[1], count(*)::int
    from generate_series(from_time, to_time - interval '1 microsecond', step) as moment(at)
    join game.territory_hold hold on hold.valid_from <= moment.at and moment.at < hold.valid_until
   where hold.guild_uuid is not null
   group by moment.at, hold.guild_uuid
   order by moment.at, count(*) desc, 3;
end;
comment on function analytics.guild_territory_count(timestamptz, timestamptz, interval) is
'How many territories each guild held at every step of [from_time, to_time).';
