create or replace view analytics.guild as
select listed.guild_uuid, coalesce(listed.name, profile.name) as name, coalesce(listed.prefix, profile.prefix) as prefix,
       latest.level, latest.xp_percent, latest.members, latest.online, latest.territories, latest.wars,
       case when 'created_at' = any (lacking.columns) then null else profile.created_at end as created_at, latest.raids, latest.online_listed, latest.hidden,
       greatest(coalesce(work.observed_at, imported.observed_at), case when unread.since is null then run.observed_at else
         (select max(observed_at) from sync.run
           where resource = 'guild-list' and status in ('ok', 'unchanged', 'partial') and observed_at < unread.since) end) as observed_at
  from game.guild_listing listed
 cross join analytics.not_sent('guild') lacking
  left join game.guild profile on profile.guild_uuid = listed.guild_uuid and profile.valid_until = 'infinity'
  left join sync.work_item work on work.resource = 'guilds' and work.key = listed.guild_uuid::text
  left join lateral (select max(one.observed_at) as observed_at from sync.observation one
                      where work.observed_at is null and one.resource = 'guilds' and one.key = listed.guild_uuid::text
                        and one.status in ('ok', 'unchanged', 'partial')) imported on true
  left join lateral (select * from game.guild_sample sample where sample.guild_uuid = listed.guild_uuid
                      order by sample.observed_at desc limit 1) latest on true
 cross join (select max(observed_at) as observed_at from sync.run
              where resource = 'guild-list' and status in ('ok', 'unchanged', 'partial')) run
  left join (select one.key, min(one.at) as since
               from (select key, from_at as at from sync.unread where resource = 'guild-list' and until_at is null
                      union all
                     select subject, first_at from sync.claim where resource = 'guild-list' and kind in ('missing', 'unread')) one
              group by one.key) unread on unread.key = listed.guild_uuid::text
 where listed.valid_until = 'infinity'
union all
select profile.guild_uuid, profile.name, profile.prefix, latest.level, latest.xp_percent, latest.members, latest.online,
       latest.territories, latest.wars,
       case when 'created_at' = any (lacking.columns) then null else profile.created_at end, latest.raids, latest.online_listed, latest.hidden,
       coalesce(work.observed_at, imported.observed_at) as observed_at
  from game.guild profile
 cross join analytics.not_sent('guild') lacking
  left join sync.work_item work on work.resource = 'guilds' and work.key = profile.guild_uuid::text
  left join lateral (select max(one.observed_at) as observed_at from sync.observation one
                      where work.observed_at is null and one.resource = 'guilds' and one.key = profile.guild_uuid::text
                        and one.status in ('ok', 'unchanged', 'partial')) imported on true
  left join lateral (select * from game.guild_sample sample where sample.guild_uuid = profile.guild_uuid
                      order by sample.observed_at desc limit 1) latest on true
 where profile.valid_until = 'infinity'
   and not exists (select from game.guild_listing listed where listed.guild_uuid = profile.guild_uuid);
comment on view analytics.guild is 'Every guild that exists in the latest responses; numbers are NULL before the first response about the guild itself.';
comment on column analytics.guild.guild_uuid is 'The natural key.';
comment on column analytics.guild.name is 'Name, byte for byte; may have spaces at its ends.';
comment on column analytics.guild.prefix is 'Prefix; not unique.';
comment on column analytics.guild.level is 'Guild level.';
comment on column analytics.guild.xp_percent is 'Percent of the way to the next level.';
comment on column analytics.guild.members is 'Members by the guild''s own count.';
comment on column analytics.guild.online is 'Members online by the guild''s own count, hidden ones included.';
comment on column analytics.guild.territories is 'Territories by the guild''s own count.';
comment on column analytics.guild.wars is 'Wars by the guild''s own count; NULL when the API does not give it.';
comment on column analytics.guild.created_at is 'When the guild was founded.';
comment on column analytics.guild.raids is 'Raids by the guild''s own count; NULL when the API does not give it.';
comment on column analytics.guild.online_listed is 'Members whose own record is online.';
comment on column analytics.guild.hidden is 'Members who hide whether they are online.';
comment on column analytics.guild.observed_at is 'When the API last confirmed the guild or its name.';
