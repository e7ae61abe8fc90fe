-- What one territory stored and produced, and how it stood, under any holder.
create or replace function analytics.territory_storage(territory text, from_time timestamptz, to_time timestamptz, step interval)
returns table (at timestamptz, resource text, stored bigint, storage_limit bigint, generation bigint)
language sql stable parallel safe set jit = off
begin atomic
  with recursive kept (resource) as (
    -- A loose index scan: one entry per resource, however many samples it has.
    (select sample.resource from game.territory_resource sample
      where sample.territory = territory_storage.territory and sample.observed_at < to_time order by sample.resource limit 1)
    union all
    select (select sample.resource from game.territory_resource sample
             where sample.territory = territory_storage.territory and sample.resource > kept.resource
               and sample.observed_at < to_time
             order by sample.resource limit 1)
      from kept where kept.resource is not null
  )
  select moment.at, kept.resource, latest.stored, latest.storage_limit, latest.generation
    from kept
   cross join analytics.cells(from_time, to_time, step, null) as moment(at)
    -- A sample is a change: the latest one holds until the next.
   cross join lateral (select * from game.territory_resource one
                        where one.territory = territory_storage.territory and one.resource = kept.resource
                          and one.observed_at <= moment.at
                        order by one.observed_at desc limit 1) latest
   where kept.resource is not null
   order by moment.at, kept.resource collate "C";
end;
comment on function analytics.territory_storage(text, timestamptz, timestamptz, interval) is
'What a territory stored and produced at every step of [from_time, to_time), by the latest response before it. Per hour; emeralds or pieces. Arguments: territory, its exact name; from_time; to_time; step.';

create or replace function analytics.territory_standing(territory text, from_time timestamptz, to_time timestamptz)
returns table (valid_from timestamptz, valid_until timestamptz, is_hq boolean, treasury text, defences text)
language sql stable parallel safe set jit = off
begin atomic
  select version.valid_from, nullif(version.valid_until, 'infinity'), version.is_hq, version.treasury, version.defences
    from game.territory version
   where version.territory = territory_standing.territory and version.valid_from < to_time and version.valid_until > from_time
     -- Versions do not overlap: the last that began before is the first that lasts into the time.
     and version.valid_from >= coalesce((select max(first.valid_from) from game.territory first
                                          where first.territory = territory_standing.territory
                                            and first.valid_from <= from_time), '-infinity')
   order by version.valid_from;
end;
comment on function analytics.territory_standing(text, timestamptz, timestamptz) is
'Treasury, defences and headquarters of a territory at some instant of [from_time, to_time), a row whenever one changed. Arguments: territory, its exact name; from_time; to_time.';
