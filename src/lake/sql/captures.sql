-- Every capture that a response showed.
select captured_at, observed_at, territory, from_guild_uuid, from_guild_name, to_guild_uuid, to_guild_name,
       from_guild_uuid is not distinct from to_guild_uuid as is_recapture
  from territory_capture
 order by captured_at, territory, to_guild_uuid
