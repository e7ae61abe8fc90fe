create or replace function analytics.territory_owner_at(territory text, at timestamptz default now())
returns table (territory text, guild_uuid uuid, guild_name text, guild_prefix text, held_from timestamptz, held_until timestamptz)
language sql stable parallel safe set jit = off
begin atomic
  select hold.territory, hold.guild_uuid, hold.guild_name, hold.guild_prefix, hold.valid_from,
         nullif(hold.valid_until, 'infinity')
    -- Holds do not overlap: the last that began is the one.
    from (select * from game.territory_hold one
           where one.territory = territory_owner_at.territory and one.valid_from <= territory_owner_at.at
           order by one.valid_from desc limit 1) hold
   where territory_owner_at.at < hold.valid_until and analytics.checked_at(territory_owner_at.at) is not null and hold.guild_uuid is not null;
end;
comment on function analytics.territory_owner_at(text, timestamptz) is
'Who held a territory at an instant; no row when it had no owner, or the owner is not known. held_until is NULL while the hold is current. Arguments: territory, its exact name; at, the instant (now when left out).';
