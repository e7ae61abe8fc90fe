-- Every time a guild held a territory; held_until is NULL while it is held.
select territory, guild_uuid, guild_name, guild_prefix, valid_from as held_from, valid_until as held_until, is_current
  from territory_hold
 where guild_uuid is not null
 order by held_from, territory
