create or replace view analytics.territory_held as
with recursive known (territory) as (
  -- A loose index scan: one entry per territory, however often it changed hands.
  (select hold.territory from game.territory_hold hold order by hold.territory limit 1)
  union all
  select (select hold.territory from game.territory_hold hold
           where hold.territory > known.territory order by hold.territory limit 1)
    from known where known.territory is not null
)
select known.territory from known where known.territory is not null;
comment on view analytics.territory_held is 'Every territory of which it was ever known who held it, each once.';
comment on column analytics.territory_held.territory is 'Exact name.';
