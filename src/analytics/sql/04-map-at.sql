create or replace function analytics.map_at(at timestamptz default now())
returns table (territory text, guild_uuid uuid, guild_name text, guild_prefix text, held_from timestamptz)
language sql stable parallel safe set jit = off
begin atomic
  select hold.territory, hold.guild_uuid, hold.guild_name, hold.guild_prefix, hold.valid_from
    from analytics.territory_held place
   cross join lateral (select * from game.territory_hold one
                        where one.territory = place.territory and one.valid_from <= map_at.at
                        order by one.valid_from desc limit 1) hold
   where map_at.at < hold.valid_until and analytics.checked_at(map_at.at) is not null
   order by hold.territory collate "C";
end;
comment on function analytics.map_at(timestamptz) is
'Every territory known at an instant and who held it; guild columns are NULL where it had no owner. Argument: at, the instant (now when left out).';
