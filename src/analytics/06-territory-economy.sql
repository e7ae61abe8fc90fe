create or replace function analytics.territory_economy(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (at timestamptz, territory text, resource text, stored bigint, storage_limit bigint, generation bigint,
               treasury text, defences text, is_hq boolean)
language sql stable parallel safe set jit = off
begin atomic
  with recursive held as materialized (
    select standing.territory, standing.valid_from, standing.valid_until
      from analytics.territory_held place
     cross join lateral (select * from game.territory_hold one
                          where one.territory = place.territory and one.valid_from <= from_time
                          order by one.valid_from desc limit 1) standing
     where standing.guild_uuid = guild and standing.valid_until > from_time
     union all
    select later.territory, later.valid_from, later.valid_until from game.territory_hold later
     where later.guild_uuid = guild and later.valid_from > from_time and later.valid_from < to_time
  ), stored (territory, resource) as (
    -- A loose index scan: one entry per resource, however often it was told.
    select place.territory, (select sample.resource from game.territory_resource sample
                              where sample.territory = place.territory order by sample.resource limit 1)
      from (select distinct held.territory from held) place
     union all
    select stored.territory, (select sample.resource from game.territory_resource sample
                               where sample.territory = stored.territory and sample.resource > stored.resource
                               order by sample.resource limit 1)
      from stored where stored.resource is not null
  )
  select sample.observed_at, sample.territory, sample.resource, sample.stored, sample.storage_limit, sample.generation,
         standing.treasury, standing.defences, standing.is_hq
    from held hold
    join stored on stored.territory = hold.territory
   cross join lateral (select * from game.territory_resource one
                        where one.territory = hold.territory and one.resource = stored.resource
                          and one.observed_at >= greatest(hold.valid_from, from_time)
                          and one.observed_at < least(hold.valid_until, to_time)
                       offset 0) sample
    left join lateral (select * from game.territory version
                        where version.territory = sample.territory and version.valid_from <= sample.observed_at
                        order by version.valid_from desc limit 1) standing on sample.observed_at < standing.valid_until
   order by sample.observed_at, sample.territory, sample.resource;
end;
comment on function analytics.territory_economy(uuid, timestamptz, timestamptz) is
'What was stored and produced in the territories of a guild while it held them in [from_time, to_time), a row whenever a value changed. Per hour; emeralds or pieces.';
