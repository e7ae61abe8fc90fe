create or replace view analytics.world as
select world.world, latest.online, world.valid_from as up_since,
       case when unread.since is null then (select max(observed_at) from sync.run
         where resource = 'online-players' and status in ('ok', 'unchanged', 'partial'))
            else greatest(world.valid_from, (select max(observed_at) from sync.run
         where resource = 'online-players' and status in ('ok', 'unchanged', 'partial') and observed_at < unread.since)) end as observed_at
  from game.world
  left join lateral (select sample.online from game.world_sample sample where sample.world = world.world
                      order by sample.observed_at desc limit 1) latest on true
  left join (select one.key, min(one.at) as since
               from (select key, from_at as at from sync.unread where resource = 'online-players' and until_at is null
                      union all
                     select subject, first_at from sync.claim where resource = 'online-players' and kind in ('missing', 'unread')) one
              group by one.key) unread on unread.key = world.world
 where world.valid_until = 'infinity';
comment on view analytics.world is 'Every world that is up as far as the list of online players shows, and how many it lists there.';
comment on column analytics.world.world is 'Name of the world.';
comment on column analytics.world.online is 'Players listed there; those who hide are on no world''s list.';
comment on column analytics.world.up_since is 'The first response that listed it, since it was last missing.';
comment on column analytics.world.observed_at is 'When the API last confirmed it.';
