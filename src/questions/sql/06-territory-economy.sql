create or replace function analytics.territory_economy(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (at timestamptz, territory text, resource text, stored bigint, storage_limit bigint, generation bigint,
               treasury text, defences text, is_hq boolean)
language sql stable parallel safe set jit = off
begin atomic
  with recursive gap as materialized (
    select gaps.begins, gaps.ends from analytics.territory_gaps(from_time, to_time) gaps
  ), held as materialized (
    select standing.territory, from_time as began,
           least(standing.valid_until, to_time, standing.unread_from,
                 analytics.territory_unknown_from(standing.valid_until, gap.begins, gap.ends)) as ended
      from gap
     cross join analytics.territory_held place
     cross join lateral (select one.*, (select min(unread.from_at) from sync.unread
                                        where unread.resource = 'territories/holds' and unread.key = one.territory and unread.from_at < one.valid_until
                                          and coalesce(unread.until_at, 'infinity') >= one.valid_until) as unread_from
                           from game.territory_hold one
                          where one.territory = place.territory and one.valid_from <= from_time
                          order by one.valid_from desc limit 1) standing
     where standing.guild_uuid = guild and standing.valid_until > from_time
     union all
    select later.territory, later.valid_from,
           least(later.valid_until, to_time, analytics.territory_unknown_from(later.valid_until, gap.begins, gap.ends),
                 (select min(unread.from_at) from sync.unread
                  where unread.resource = 'territories/holds' and unread.key = later.territory and unread.from_at < later.valid_until
                    and coalesce(unread.until_at, 'infinity') >= later.valid_until))
      from gap
     cross join game.territory_hold later
     where later.guild_uuid = guild and later.valid_from > from_time and later.valid_from < to_time
  ), stored (territory, resource) as (
    -- A loose index scan: one entry per resource, however many samples it has. Only whole months of the interval.
    select place.territory, (select sample.resource from game.territory_resource sample
                              where sample.territory = place.territory
                                and sample.observed_at >= date_trunc('month', from_time, 'UTC') and sample.observed_at < to_time
                              order by sample.resource limit 1)
      from (select distinct held.territory from held) place
     union all
    select stored.territory, (select sample.resource from game.territory_resource sample
                               where sample.territory = stored.territory and sample.resource > stored.resource
                                 and sample.observed_at >= date_trunc('month', from_time, 'UTC') and sample.observed_at < to_time
                               order by sample.resource limit 1)
      from stored where stored.resource is not null
  ), standing as materialized (
    -- How the place stood is read once for a hold, not for each of its samples.
    select hold.territory, hold.began, version.valid_from, version.valid_until, version.treasury, version.defences, version.is_hq
      from held hold
      join game.territory version
        on version.territory = hold.territory and version.valid_from < hold.ended
       and version.valid_from >= coalesce((select max(first.valid_from) from game.territory first
                                            where first.territory = hold.territory and first.valid_from <= hold.began), '-infinity')
  ), lacking as materialized (
    select coalesce(range_agg(during) filter (where 'territory.treasury' = any (span.columns)), '{}') as treasury,
           coalesce(range_agg(during) filter (where 'territory.defences' = any (span.columns)), '{}') as defences,
           coalesce(range_agg(during) filter (where 'territory.is_hq' = any (span.columns)), '{}') as is_hq
      from sync.unsent span
     cross join lateral (select tstzrange(span.from_at, span.until_at) as during) time
     where span.resource = 'territories'
  )
  select sample.observed_at, hold.territory, stored.resource, sample.stored, sample.storage_limit, sample.generation,
         case when not lacking.treasury @> sample.observed_at then standing.treasury end,
         case when not lacking.defences @> sample.observed_at then standing.defences end,
         case when not lacking.is_hq @> sample.observed_at then standing.is_hq end
    from held hold
   cross join lacking
    join stored on stored.territory = hold.territory
   cross join lateral (select * from game.territory_resource one
                        where one.territory = hold.territory and one.resource = stored.resource
                          and one.observed_at >= hold.began and one.observed_at < hold.ended
                       offset 0) sample
    left join standing on standing.territory = hold.territory and standing.began = hold.began
                      and sample.observed_at >= standing.valid_from and sample.observed_at < standing.valid_until
   order by sample.observed_at, hold.territory collate "C", stored.resource collate "C";
end;
comment on function analytics.territory_economy(uuid, timestamptz, timestamptz) is
'What was stored and produced in the territories of a guild while it held them in [from_time, to_time), a row whenever a value changed; no row of a time of which it is not known who held the place, and NULL where the API did not send a value. Per hour; emeralds or pieces.';
