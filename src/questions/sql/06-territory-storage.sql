-- What one territory stored and produced, and how it stood, under any holder.
create or replace function analytics.territory_storage(territory text, from_time timestamptz, to_time timestamptz, step interval)
returns table (at timestamptz, resource text, stored bigint, storage_limit bigint, generation bigint, reason text)
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
  ), gap as materialized (
    select gaps.begins, gaps.ends from analytics.territory_gaps_of('{/resources}', from_time, to_time) gaps
  ), moment as materialized (
    -- A place that the list has no more stores nothing that is known.
    select known.at, known.is_unwatched, known.is_listed, known.is_listed and not known.is_unwatched as is_known
      from (select cell.at, coalesce(cell.at >= gap.begins[width_bucket(cell.at, gap.ends) + 1], false)
                            or not coalesce(analytics.was_read('territories', territory_storage.territory, cell.at, version.valid_until), true) as is_unwatched,
                   coalesce(cell.at < version.valid_until, true) as is_listed
              from analytics.cells(from_time, to_time, step, null) as cell(at)
             cross join gap
              left join lateral (select one.valid_until from game.territory one
                                  where one.territory = territory_storage.territory and one.valid_from <= cell.at
                                  order by one.valid_from desc limit 1) version on true
             where cell.at <= (select seen.last_at from analytics.observed() seen)) known
  )
  select moment.at, kept.resource, case when moment.is_known and not lost.is_so then latest.stored end,
         case when moment.is_known and not lost.is_so then latest.storage_limit end,
         case when moment.is_known and not lost.is_so then latest.generation end,
         case when moment.is_unwatched then 'not observed' when lost.is_so and moment.is_listed then 'only the end of the hour is kept'
              when not moment.is_listed or num_nonnulls(latest.stored, latest.storage_limit, latest.generation) = 0 then 'not sent' end
    from kept
   cross join moment
    -- A sample is a change: the latest one holds until the next.
   cross join lateral (select * from game.territory_resource one
                        where one.territory = territory_storage.territory and one.resource = kept.resource
                          and one.observed_at <= moment.at
                        order by one.observed_at desc limit 1) latest
   -- Of an hour of long ago its last sample is left: what was before that in the hour is not known, but for its beginning.
   cross join (select coalesce(max(one.fine_since), '-infinity') as until from sync.tier one where one.sample_table = 'game.territory_resource') thinned
   cross join lateral (select moment.at < thinned.until and moment.at <> date_trunc('hour', moment.at, 'UTC')
                              and exists (select from game.territory_resource later
                                           where later.territory = territory_storage.territory and later.resource = kept.resource
                                             and later.observed_at > moment.at
                                             and later.observed_at < date_trunc('hour', moment.at, 'UTC') + interval '1 hour') as is_so
                       offset 0) lost
   where kept.resource is not null and analytics.checked_step(step) is not null
   order by moment.at, kept.resource collate "C";
end;
comment on function analytics.territory_storage(text, timestamptz, timestamptz, interval) is
'What a territory stored and produced at every step of [from_time, to_time), by the latest response before it; NULL, with the reason not observed, where none came for long, not sent, where the territory does not list the resource any more, or of an hour of which retention has left the end alone, and no row after now. Per hour; emeralds or pieces. Arguments: territory, its exact name; from_time; to_time; step.';

create or replace function analytics.territory_standing(territory text, from_time timestamptz, to_time timestamptz)
returns table (valid_from timestamptz, valid_until timestamptz, is_hq boolean, treasury text, defences text, confirmed_until timestamptz)
language sql stable parallel safe set jit = off
begin atomic
  select version.valid_from, nullif(version.valid_until, 'infinity'), version.is_hq, version.treasury, version.defences,
         analytics.territory_confirmed_until(version.valid_from, least(
           analytics.territory_sent_until('{/hq,/treasury,/defences}', version.valid_until),
           analytics.unread_from('territories', version.territory, version.valid_until)))
    from game.territory version
   where version.territory = territory_standing.territory and version.valid_from < to_time and version.valid_until > from_time
     -- Versions do not overlap: the last that began before is the first that lasts into the time.
     and version.valid_from >= coalesce((select max(first.valid_from) from game.territory first
                                          where first.territory = territory_standing.territory
                                            and first.valid_from <= from_time), '-infinity')
   order by version.valid_from;
end;
comment on function analytics.territory_standing(text, timestamptz, timestamptz) is
'Treasury, defences and headquarters of a territory at some instant of [from_time, to_time), a row whenever one changed. confirmed_until: the last response that showed it; it is not known of the time after that. Arguments: territory, its exact name; from_time; to_time.';
