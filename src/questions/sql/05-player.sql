create or replace view analytics.player as
select player.player_uuid, player.username,
       case when 'rank' = any (lacking.columns) then null else player.rank end as rank,
       case when 'support_rank' = any (lacking.columns) then null else player.support_rank end as support_rank,
       case when 'guild_uuid' = any (lacking.columns) then null else player.guild_uuid end as guild_uuid,
       case when not 'mainAccess' = any(rules.names) then playtime.value end as playtime_hours,
       case when not 'mainAccess' = any(rules.names) and not 'first_join' = any(lacking.columns) then player.first_join end as first_join,
       case when not 'onlineStatus' = any(rules.names) then status.last_join end as last_join,
       case when not 'onlineStatus' = any(rules.names) then status.online end as online,
       case when not 'onlineStatus' = any(rules.names) then status.world end as world, case when 'nickname' = any (lacking.columns) then null else player.nickname end as nickname,
       case when 'guild_name' = any (lacking.columns) then null else player.guild_name end as guild_name,
       case when 'guild_rank' = any (lacking.columns) then null else lower(player.guild_rank collate "C") collate "default" end as guild_rank,
        rules.names as restricted,
       coalesce(item.observed_at, imported.observed_at) as observed_at
  from game.player
 cross join analytics.not_sent('player') lacking
  left join lateral (select array(select hidden.name
                                    from (select unnest(player.restricted) as name union
                                          select rule.field_group from sync.privacy_restriction rule
                                           where rule.player_uuid = player.player_uuid) hidden order by hidden.name collate "C") as names) rules on true
  left join lateral (select counter.value from game.player_counter counter
                      where counter.player_uuid = player.player_uuid and counter.counter = 'playtime'
                      order by counter.observed_at desc limit 1) playtime on true
  left join lateral (select latest.last_join, latest.online, latest.world from game.player_status latest
                      where latest.player_uuid = player.player_uuid
                      order by latest.observed_at desc limit 1) status on true
  left join sync.work_item item on item.resource = 'players' and item.key = player.player_uuid::text
  left join lateral (select max(one.observed_at) as observed_at from sync.observation one
                      where item.observed_at is null and one.resource = 'players' and one.key = player.player_uuid::text
                        and one.status in ('ok', 'unchanged', 'partial')) imported on true
 where player.valid_until = 'infinity';
comment on view analytics.player is 'Every player with a synced profile, as of the latest response. What the player hides is NULL; restricted has the reason.';
comment on column analytics.player.player_uuid is 'The player.';
comment on column analytics.player.username is 'Name in the game.';
comment on column analytics.player.rank is 'Rank in the game, such as Player.';
comment on column analytics.player.support_rank is 'Rank bought, such as vip; NULL when none.';
comment on column analytics.player.guild_uuid is 'The player''s guild; NULL when none.';
comment on column analytics.player.playtime_hours is 'Hours played on all characters. The game adds them up some time after they were played.';
comment on column analytics.player.first_join is 'When the player came for the first time.';
comment on column analytics.player.last_join is 'The latest login.';
comment on column analytics.player.online is 'Whether the player was online then; NULL when that is hidden.';
comment on column analytics.player.world is 'Where; NULL when offline or hidden.';
comment on column analytics.player.nickname is 'Shown name, where the player chose one.';
comment on column analytics.player.guild_name is 'Name of that guild.';
comment on column analytics.player.guild_rank is 'Rank in that guild, in small letters as in the guild''s own list.';
comment on column analytics.player.restricted is 'What the player hides, by the API''s name of the restriction; from the profile, a guild or a 403.';
comment on column analytics.player.observed_at is 'observed_at of the latest response.';
