-- How many territories each guild took from each other one; defender is NULL where there was no owner.
select to_guild_uuid as attacker_uuid, max_by(to_guild_name, captured_at) as attacker,
       from_guild_uuid as defender_uuid, max_by(from_guild_name, captured_at) as defender, count(*) as captures
  from territory_capture
 group by to_guild_uuid, from_guild_uuid
 order by captures desc, attacker_uuid, defender_uuid
