create or replace view analytics.guild_member as
select member.guild_uuid, member.player_uuid, member.username, case when 'rank' = any (lacking.columns) then null else member.rank end as rank, case when 'joined' = any (lacking.columns) then null else member.joined end as joined_at,
       case when abs(contributed.value) <= 2 ^ 53 then contributed.value::bigint end as contributed,
       case when not 'onlineStatus' = any(rules.names) then presence.online end as online, rules.names as restricted,
       case when not 'onlineStatus' = any(rules.names) then presence.server end as server,
       case when not 'onlineStatus' = any(rules.names) then presence.last_join end as last_join, member.valid_from as since,
       case when unread.since is null then coalesce(work.observed_at, imported.observed_at)
            else greatest(member.valid_from, (select max(one.observed_at) from sync.observation one
                                               where one.resource = 'guilds' and one.key = member.guild_uuid::text
                                                 and one.status in ('ok', 'unchanged', 'partial') and one.observed_at < unread.since)) end as observed_at
  from game.guild_member member
 cross join analytics.not_sent('guild_member') lacking
  left join lateral (select array(select hidden.name
                                    from (select unnest(member.restricted) as name union
                                          select rule.field_group from sync.privacy_restriction rule
                                           where rule.player_uuid = member.player_uuid) hidden order by hidden.name collate "C") as names) rules on true
  left join sync.work_item work on work.resource = 'guilds' and work.key = member.guild_uuid::text
  left join lateral (select max(one.observed_at) as observed_at from sync.observation one
                      where work.observed_at is null and one.resource = 'guilds' and one.key = member.guild_uuid::text
                        and one.status in ('ok', 'unchanged', 'partial')) imported on true
  left join lateral (select value from game.member_counter counter
                      where counter.guild_uuid = member.guild_uuid and counter.counter = 'contributed'
                        and counter.player_uuid = member.player_uuid
                      order by counter.observed_at desc limit 1) contributed on true
  left join lateral (select * from game.member_presence presence
                      where presence.guild_uuid = member.guild_uuid and presence.player_uuid = member.player_uuid
                      order by presence.observed_at desc limit 1) presence on true
  left join (select one.key, min(one.at) as since
               from (select key, from_at as at from sync.unread where resource = 'guilds/members' and until_at is null
                      union all
                     select subject, first_at from sync.claim where resource = 'guilds/members' and kind in ('missing', 'unread')) one
              group by one.key) unread on unread.key = member.guild_uuid::text || '/' || member.player_uuid::text
 where member.valid_until = 'infinity';
comment on view analytics.guild_member is 'Every member of every guild as of the latest response about the guild.';
comment on column analytics.guild_member.guild_uuid is 'The guild.';
comment on column analytics.guild_member.player_uuid is 'The player.';
comment on column analytics.guild_member.username is 'Name of the player in the latest response.';
comment on column analytics.guild_member.rank is 'owner, chief, strategist, captain, recruiter, recruit, or any other rank in the API.';
comment on column analytics.guild_member.joined_at is 'When the player joined, by the API.';
comment on column analytics.guild_member.contributed is 'Experience contributed since joining.';
comment on column analytics.guild_member.online is 'Whether online in the latest response; NULL when the member hides it.';
comment on column analytics.guild_member.restricted is 'What the member hides, from the guild or the profile.';
comment on column analytics.guild_member.server is 'World the member is on; NULL when offline or hidden.';
comment on column analytics.guild_member.last_join is 'Last login in the API; NULL when hidden or never sent.';
comment on column analytics.guild_member.since is 'When this version of the membership was first seen.';
comment on column analytics.guild_member.observed_at is 'When the API last confirmed it.';
