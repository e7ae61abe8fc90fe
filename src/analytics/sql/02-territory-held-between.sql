create or replace function analytics.territory_held_between(from_time timestamptz, to_time timestamptz)
returns table (territory text, guild_uuid uuid, guild_name text, guild_prefix text, held_from timestamptz, held_until timestamptz)
language sql stable parallel safe
begin atomic
  -- No index finds what a year of holds has of a week, but each place's holds are in order: the one that lasted, and those that began.
  select hold.territory, hold.guild_uuid, hold.guild_name, hold.guild_prefix, hold.valid_from, hold.valid_until
    from analytics.territory_held place
   cross join lateral (
     (select * from game.territory_hold one
       where one.territory = place.territory and one.valid_from <= from_time
       order by one.valid_from desc limit 1)
      union all
      select * from game.territory_hold later
       where later.territory = place.territory and later.valid_from > from_time and later.valid_from < to_time
   ) hold
   where hold.valid_until > from_time and hold.guild_uuid is not null;
end;
comment on function analytics.territory_held_between(timestamptz, timestamptz) is
'Every hold of a guild that lasted at some instant of [from_time, to_time), in no order. held_until is infinity while it is held.';
