create or replace view analytics.territory_held as
-- Every chain of holds has one first.
select hold.territory from game.territory_hold hold where hold.previous_until is null;
comment on view analytics.territory_held is 'Every territory of which it was ever known who held it, each once.';
comment on column analytics.territory_held.territory is 'Exact name.';
