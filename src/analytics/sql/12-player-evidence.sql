create or replace view analytics.player_evidence as
select told.player_uuid, told.observed_at, told.online, told.world, told.last_join, 'player' as told_by
  from game.player_status told where told.online is not null
 union all
select told.player_uuid, told.observed_at, told.online, told.server, told.last_join, 'guild'
  from game.member_presence told where told.online is not null;
comment on view analytics.player_evidence is 'Whether players were online and when they logged in last, as profiles and guilds told it, whenever that changed. What a player hides is not here.';
comment on column analytics.player_evidence.player_uuid is 'The player.';
comment on column analytics.player_evidence.observed_at is 'The instant that the answer speaks for.';
comment on column analytics.player_evidence.online is 'Whether the player was online then.';
comment on column analytics.player_evidence.world is 'Where.';
comment on column analytics.player_evidence.last_join is 'The latest login at or before then; NULL when not told.';
comment on column analytics.player_evidence.told_by is 'player or guild: whose answer it was.';
