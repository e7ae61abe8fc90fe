create or replace view analytics.season as
select season.season, case when 'started_at' = any (lacking.columns) then null else season.started_at end as started_at,
       case when 'ends_at' = any (lacking.columns) then null else season.ends_at end as ends_at,
       case when 'territory_holding_sr_per_hour' = any (lacking.columns) then null else season.territory_holding_sr_per_hour end as rating_per_hour,
       case when 'sr_per_war' = any (lacking.columns) then null else season.sr_per_war end as rating_per_war,
       case when unread.since is null then (select max(observed_at) from sync.run
         where resource = 'seasons' and status in ('ok', 'unchanged', 'partial'))
            else greatest(season.valid_from, (select max(observed_at) from sync.run
         where resource = 'seasons' and status in ('ok', 'unchanged', 'partial') and observed_at < unread.since)) end as observed_at
  from game.season
 cross join analytics.not_sent('season') lacking
  left join (select one.key, min(one.at) as since
               from (select key, from_at as at from sync.unread where resource = 'seasons' and until_at is null
                      union all
                     select subject, first_at from sync.claim where resource = 'seasons' and kind in ('missing', 'unread')) one
              group by one.key) unread on unread.key = season.season::text
 where season.valid_until = 'infinity';
comment on view analytics.season is 'Every season in the API.';
comment on column analytics.season.season is 'Its number.';
comment on column analytics.season.started_at is 'When it began.';
comment on column analytics.season.ends_at is 'When it ends; NULL as long as that is not known.';
comment on column analytics.season.rating_per_hour is 'Season rating for holding a territory for an hour.';
comment on column analytics.season.rating_per_war is 'Season rating for a war won.';
comment on column analytics.season.observed_at is 'When the API last confirmed it.';
