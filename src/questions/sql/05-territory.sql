create or replace view analytics.territory as
select place.territory, hold.guild_uuid, hold.guild_name, hold.guild_prefix,
       case when hold.guild_uuid is not null then hold.valid_from end as held_from,
       case when 'is_hq' = any (lacking.columns) then null else place.is_hq end as is_hq,
       case when 'treasury' = any (lacking.columns) then null else place.treasury end as treasury,
       case when 'defences' = any (lacking.columns) then null else place.defences end as defences,
       case when 'min_x' = any (lacking.columns) then null else place.min_x end as min_x,
       case when 'min_z' = any (lacking.columns) then null else place.min_z end as min_z,
       case when 'max_x' = any (lacking.columns) then null else place.max_x end as max_x,
       case when 'max_z' = any (lacking.columns) then null else place.max_z end as max_z,
       case when unread.since is null then (select max(observed_at) from sync.run
         where resource = 'territories' and status in ('ok', 'unchanged', 'partial'))
            else greatest(place.valid_from, (select max(observed_at) from sync.run
         where resource = 'territories' and status in ('ok', 'unchanged', 'partial') and observed_at < unread.since)) end as observed_at
  from game.territory place
 cross join analytics.not_sent('territory') lacking
  -- Looked up for each: joined at once, each place is compared with the hold of each other, because so few of millions are current.
  left join lateral (select one.guild_uuid, one.guild_name, one.guild_prefix, one.valid_from from game.territory_hold one
                      where one.territory = place.territory and one.valid_until = 'infinity' limit 1) hold
    on not exists (select from sync.unsent span
                    where span.resource = 'territories' and span.field in ('/guild', '/guild/uuid') and span.until_at is null)
   and not exists (select from sync.unread span
                    where span.resource = 'territories/holds' and span.key = place.territory and span.until_at is null)
  left join (select one.key, min(one.at) as since
               from (select key, from_at as at from sync.unread where resource in ('territories', 'territories/holds') and until_at is null
                      union all
                     select subject, first_at from sync.claim
                      where resource in ('territories', 'territories/holds') and kind in ('missing', 'unread')) one
              group by one.key) unread on unread.key = place.territory
 where place.valid_until = 'infinity';
comment on view analytics.territory is 'Every territory as of the latest response, and who holds it.';
comment on column analytics.territory.territory is 'Exact name.';
comment on column analytics.territory.guild_uuid is 'The guild that holds it; NULL when it has no owner, and while that cannot be read.';
comment on column analytics.territory.guild_name is 'Name of that guild when the hold was first seen.';
comment on column analytics.territory.guild_prefix is 'Prefix of that guild when the hold was first seen.';
comment on column analytics.territory.held_from is 'When it was captured.';
comment on column analytics.territory.is_hq is 'True when it is the guild''s headquarters; NULL when the API does not give it.';
comment on column analytics.territory.treasury is 'VERY_LOW .. VERY_HIGH; grows with the time held.';
comment on column analytics.territory.defences is 'VERY_LOW .. VERY_HIGH.';
comment on column analytics.territory.min_x is 'Western edge, in blocks.';
comment on column analytics.territory.min_z is 'Northern edge, in blocks.';
comment on column analytics.territory.max_x is 'Eastern edge, in blocks.';
comment on column analytics.territory.max_z is 'Southern edge, in blocks.';
comment on column analytics.territory.observed_at is 'When the API last confirmed it.';
