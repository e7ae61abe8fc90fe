create or replace view analytics.player_evidence as
select status.player_uuid, status.observed_at, status.online, status.world, status.last_join, 'player' as told_by
  from game.player_status status
 where status.online is not null
   and not exists (select from sync.privacy_restriction rule
                    where rule.player_uuid = status.player_uuid and rule.field_group = 'onlineStatus')
 union all
select status.player_uuid, status.observed_at, status.online, status.server, status.last_join, 'guild'
  from game.member_presence status
 where status.online is not null
   and not exists (select from sync.privacy_restriction rule
                    where rule.player_uuid = status.player_uuid and rule.field_group = 'onlineStatus');
comment on view analytics.player_evidence is 'Whether players were online and when they logged in last, from profiles and guilds, one row per change. What a player hides is not here.';
comment on column analytics.player_evidence.player_uuid is 'The player.';
comment on column analytics.player_evidence.observed_at is 'observed_at of the response.';
comment on column analytics.player_evidence.online is 'Whether the player was online then.';
comment on column analytics.player_evidence.world is 'Where.';
comment on column analytics.player_evidence.last_join is 'The latest login at or before then; NULL when the API gives none.';
comment on column analytics.player_evidence.told_by is 'player or guild: which response it comes from.';
