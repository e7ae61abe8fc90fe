create or replace function analytics.route_between(from_territory text, to_territory text, at timestamptz default now())
returns table ("position" int, territory text, guild_uuid uuid, guild_name text, reason text)
language sql stable parallel safe set jit = off
begin atomic
  -- Breadth first, each place once: what was reached and from where, and what was reached last.
  with recursive unknown (why) as materialized (
    select 'not sent' where analytics.times_not_sent('territory_link') @> analytics.checked_at(route_between.at)
     union
    -- In a gap the routes are known if the same are before and after it.
    select 'not observed' from analytics.gap_at('territories', analytics.checked_at(route_between.at)) gap
     where gap.ends = 'infinity'
        or exists (select from game.territory place
                     join game.territory_link link using (territory, valid_from)
                    where place.valid_from <= gap.ends and place.valid_until > route_between.at
                    group by link.territory, link.links_to
                   having not bool_or(place.valid_from <= route_between.at) or not bool_or(place.valid_until > gap.ends))
     limit 1
  ), search (reached, reached_from, newest) as (
    select array[from_territory], array[null::text], array[from_territory]
     where analytics.checked_at(route_between.at) is not null and not exists (select from unknown)
     union all
    select search.reached || step.next, search.reached_from || step.place, step.next
      from search
     cross join lateral (
       select array_agg(link.next order by link.next collate "C") as next, array_agg(link.place order by link.next collate "C") as place
         from (select distinct on (link.links_to) link.links_to as next, link.territory as place
                 from game.territory place
                 join game.territory_link link using (territory, valid_from)
                where place.territory = any (search.newest)
                  and place.valid_from <= route_between.at and route_between.at < place.valid_until
                  and link.links_to <> all (search.reached)
                order by link.links_to, link.territory collate "C") link) step
     where to_territory <> all (search.newest) and step.next is not null
  ), found as (
    select search.reached, search.reached_from from search where to_territory = any (search.newest)
  ), way (name, steps) as (
    select to_territory, 0 from found
     union all
    select found.reached_from[array_position(found.reached, way.name)], way.steps + 1
      from way cross join found
     where way.name <> from_territory
  )
  (select (row_number() over (order by way.steps desc))::int, way.name, held.guild_uuid, held.guild_name, held.reason
     from way
     left join analytics.map_at(route_between.at) held on held.territory = way.name
    order by way.steps desc)
   union all
  select null, null, null, null, unknown.why from unknown;
end;
comment on function analytics.route_between(text, text, timestamptz) is
'A shortest way between two territories along the trading routes of an instant, from the first to the last, with who held each; no row: there was none; one row without a territory, with a reason: the routes of then are not known. Arguments: from_territory and to_territory, exact names; at, the instant (now when left out).';
