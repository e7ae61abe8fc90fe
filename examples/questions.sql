-- Questions to the history, for psql: psql "$DATABASE_URL" -f examples/questions.sql
-- All of them read the schema analytics only; NULL means unknown, never zero.

-- How fresh and how complete is it?
select * from analytics.freshness order by resource;
select * from analytics.coverage('territories', now() - interval '1 day', now());

-- Who holds most territories now, and who took most from whom this week?
select guild_name, count(*) as territories
  from analytics.map_at(now())
 where guild_name is not null
 group by guild_name
 order by territories desc, guild_name
 limit 10;
select * from analytics.capture_matrix(now() - interval '7 days', now()) limit 10;

-- Which territories were held longest without a change, as far as responses show it?
select territory, guild_name, held_from, confirmed_for
  from analytics.territory_hold
 order by confirmed_for desc
 limit 10;

-- What did the last patch change?
select display_name, path, old_value, new_value
  from analytics.item_change
 where patch = (select max(patch) from analytics.patch) and not is_revert
 limit 20;

-- Who joined, left or changed rank in the last month?
select at, guild_name, event, username, from_rank, to_rank
  from analytics.membership_event
 where at > now() - interval '30 days'
 order by at desc
 limit 20;

-- When are most players online, by hour of the last week?
select date_trunc('hour', at) as hour, round(avg(total_avg)) as players
  from analytics.online_total(now() - interval '7 days', now(), interval '1 hour')
 group by 1
 order by 1;
