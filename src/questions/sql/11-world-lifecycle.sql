-- Without a common table expression, so that a question about the last changes looks up the response before of those alone.
create or replace view analytics.world_lifecycle as
select change.world, change.event, change.at, change.at as observed_at,
       analytics.online_answer_before(change.at) as not_before
  from (select version.world, 'up' as event, version.valid_from as at
          from game.world version
         where version.valid_from > (select min(observed_at) from sync.run
                                      where resource = 'online-players' and status in ('ok', 'unchanged', 'partial'))
         union all
        select version.world, 'down', version.valid_until from game.world version where version.valid_until < 'infinity') change;
comment on view analytics.world_lifecycle is 'Worlds that came up or went down, as far as the list of online players shows: a world without listed players looks the same as one that is down. Those of the first response were up already.';
comment on column analytics.world_lifecycle.world is 'Name of the world.';
comment on column analytics.world_lifecycle.event is 'up or down.';
comment on column analytics.world_lifecycle.at is 'When it was first seen so: a world is down from the first of the responses in a row that lacked it.';
comment on column analytics.world_lifecycle.observed_at is 'The same: observed_at of the first response that showed it.';
comment on column analytics.world_lifecycle.not_before is 'The response before it, which showed the opposite: it happened in between.';
