create or replace function analytics.territory_held_between(from_time timestamptz, to_time timestamptz)
returns table (territory text, guild_uuid uuid, guild_name text, guild_prefix text, held_from timestamptz, held_until timestamptz)
language sql stable parallel safe
begin atomic
  -- What began in the time lies together on disk; of what began before, only the last hold of each place can have lasted into it.
  -- It reads views alone, so that Postgres can inline it.
  select hold.territory, hold.guild_uuid, hold.guild_name, hold.guild_prefix, hold.held_from, coalesce(hold.held_until, 'infinity')
    from analytics.territory_held place
   cross join lateral (select * from analytics.territory_hold own
                        where own.territory = place.territory and own.held_from <= from_time
                        order by own.held_from desc limit 1) hold
   where coalesce(hold.held_until, 'infinity') > from_time
   union all
  select hold.territory, hold.guild_uuid, hold.guild_name, hold.guild_prefix, hold.held_from, coalesce(hold.held_until, 'infinity')
    from analytics.territory_hold hold
   where hold.held_from > from_time and hold.held_from < to_time;
end;
comment on function analytics.territory_held_between(timestamptz, timestamptz) is
'Every hold of a guild that lasted at some instant of [from_time, to_time), in no order. held_until is infinity while it is held.';
