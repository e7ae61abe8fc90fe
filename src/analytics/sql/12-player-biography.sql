create or replace function analytics.player_biography(player uuid)
returns table (valid_from timestamptz, valid_until timestamptz, username text, guild_uuid uuid, guild_name text, guild_rank text)
language sql stable parallel safe set jit = off
begin atomic
  with version as (
    select profile.valid_from, profile.valid_until, profile.previous_until, profile.username, profile.guild_uuid, profile.guild_name,
           lower(profile.guild_rank) as guild_rank
      from game.player profile where profile.player_uuid = player
     union all
    -- Players without a synced profile are known from guilds alone.
    select member.valid_from, member.valid_until, member.previous_until, member.username, member.guild_uuid, named.name, member.rank
      from game.guild_member member
     cross join lateral (select min(listed.valid_from) as at from game.guild_listing listed
                          where listed.guild_uuid = member.guild_uuid) known
      left join lateral (select listed.name from game.guild_listing listed
                          where listed.guild_uuid = member.guild_uuid and listed.valid_from <= greatest(member.valid_from, known.at)
                          order by listed.valid_from desc limit 1) named on true
     where member.player_uuid = player
       and not exists (select from game.player profile where profile.player_uuid = player)
  ), marked as (
    select version.*,
           (version.username, version.guild_uuid, version.guild_name, version.guild_rank, version.valid_from)
             is distinct from
           (lag(version.username) over own, lag(version.guild_uuid) over own, lag(version.guild_name) over own,
            lag(version.guild_rank) over own, lag(version.valid_until) over own) as is_other
      from version
    window own as (order by version.valid_from)
  ), numbered as (
    select marked.*, count(*) filter (where marked.is_other) over (order by marked.valid_from) as number from marked
  )
  select min(numbered.valid_from), nullif(max(numbered.valid_until), 'infinity'), numbered.username, numbered.guild_uuid,
         numbered.guild_name, numbered.guild_rank
    from numbered
   group by numbered.number, numbered.username, numbered.guild_uuid, numbered.guild_name, numbered.guild_rank
   order by 1;
end;
comment on function analytics.player_biography(uuid) is
'The names, guilds and ranks of a player, from when to when; valid_until is NULL while it is so. From the player''s profile, or from guilds for players without a synced profile.';
