-- A question about a period does so much work for each of its steps. So no function goes through the steps of a period by
-- itself: `cells` does, for steps of at least a minute, and not beyond what was observed where there are very many of them.
create or replace function analytics.observed()
returns table (first_at timestamptz, last_at timestamptz)
language sql stable parallel safe rows 1
begin atomic
  with recursive known (resource) as (
    -- A loose index scan: one entry per resource, however many runs it had.
    (select run.resource from sync.run order by run.resource limit 1)
    union all
    select (select run.resource from sync.run where run.resource > known.resource order by run.resource limit 1)
      from known where known.resource is not null
  ), seen as (
    select watch.first_at, watch.last_at,
           (select min(counted.hour) from sync.coverage_hour counted where counted.resource = known.resource) as counted_from
      from known cross join lateral analytics.watch(known.resource) watch
     where known.resource is not null
  )
  -- Of time before the retention of the ledger there are hours and sessions; the first holds began before they were observed.
  select least(min(seen.first_at), min(seen.counted_from), (select min(rolled.hour) from game.online_hour rolled),
               (select min(rolled.hour) from game.world_hour rolled),
               (select min(listed.first_listed_at) from game.player_listing listed),
               (select min(hold.valid_from) from game.territory_hold hold where hold.previous_until is null)),
         greatest(now(), max(seen.last_at))
    from seen;
end;
comment on function analytics.observed() is
'From when to when anything was observed: from the first response, or the first hold that it shows, until now. first_at is NULL before the first response.';

create or replace function analytics.checked_at(at timestamptz) returns timestamptz
language plpgsql stable parallel safe strict as $$
begin
  -- The clock of the asker may be two minutes ahead; what was observed in another time, as of a sandbox, may be after now.
  if at > now() + interval '2 minutes' and at > (select observed.last_at from analytics.observed() observed) then
    raise exception 'at must not be after now: nothing is known of %', at using errcode = 'invalid_parameter_value';
  end if;
  return at;
end
$$;
comment on function analytics.checked_at(timestamptz) is
'The instant itself; an error where it is after now, and after everything that was observed.';

create or replace function analytics.checked_step(step interval) returns interval
language plpgsql immutable parallel safe strict as $$
begin
  -- Two parts of different signs may come to a time that goes backwards in some months.
  if extract(epoch from step) not between 60 and 10000 * 366 * 86400.0
     or least(extract(year from step), extract(month from step), extract(day from step),
              extract(hour from step), extract(minute from step), extract(second from step)) < 0 then
    raise exception 'step must be a length of time of at least one minute, such as 1 hour or 1 day, got %', step
          using errcode = 'invalid_parameter_value';
  end if;
  return step;
end
$$;
comment on function analytics.checked_step(interval) is
'The step itself; an error where it is shorter than a minute, or a part of it is negative.';

create or replace function analytics.bounded(from_time timestamptz, to_time timestamptz, step interval)
returns table (begins timestamptz, ends timestamptz, cells double precision)
language sql stable parallel safe rows 1
begin atomic
  -- The lengths of infinite periods are numbers: before version 17 an interval cannot be infinite.
  with length as (
    select extract(epoch from analytics.checked_step(step)) as seconds,
           extract(year from step) * 12 + extract(month from step) as months
  ), given as materialized (
    select length.seconds, length.months,
           (extract(epoch from to_time) - extract(epoch from from_time)) / length.seconds > 20000 as is_long
      from length
  ), known as materialized (
    select coalesce(seen.first_at, seen.last_at) as first_at, seen.last_at + interval '1 microsecond' as last_at
      from given
     cross join lateral (select one.first_at, one.last_at from analytics.observed() one where given.is_long) seen
  ), period as (
    select case when not given.is_long then from_time
                when from_time = '-infinity' then known.first_at
                when from_time >= known.first_at then least(from_time, cut.ends)
                -- The step in which the first observation lies.
                when given.months = 0 then least(date_bin(step, known.first_at, from_time), cut.ends)
                -- Months of 31 days, so that no step too many is left out.
                else least((from_time at time zone 'UTC'
                            + step * floor(extract(epoch from known.first_at - from_time) / (given.seconds + given.months * 86400))::int)
                           at time zone 'UTC', cut.ends) end as begins,
           cut.ends, given.seconds
      from given
      left join known on true
     cross join lateral (select case when given.is_long then least(greatest(to_time, known.first_at), known.last_at)
                                     else to_time end as ends) cut
  )
  select period.begins, period.ends,
         greatest(0, ceil((extract(epoch from period.ends) - extract(epoch from period.begins)) / period.seconds))::double precision
    from period;
end;
comment on function analytics.bounded(timestamptz, timestamptz, interval) is
'The period [from_time, to_time), and how many steps it has. One of more than 20,000 steps, or without a bound, is cut to what was observed, at full steps from from_time on. Arguments: from_time; to_time; step, of at least a minute.';

create or replace function analytics.cells(from_time timestamptz, to_time timestamptz, step interval, origin timestamptz)
returns setof timestamptz
language sql stable parallel safe
begin atomic
  -- In UTC: days and months of the session's time zone may have another length.
  select moment.at at time zone 'UTC'
    from analytics.bounded(from_time, to_time, step) period
   cross join lateral generate_series(coalesce(date_bin(step, period.begins, origin), period.begins) at time zone 'UTC',
                                      (period.ends - interval '1 microsecond') at time zone 'UTC', step) as moment(at)
   -- Of a period without any time there is no step, though one begins before it.
   where period.cells > 0
   order by 1;
end;
comment on function analytics.cells(timestamptz, timestamptz, interval, timestamptz) is
'Where each step of [from_time, to_time) begins, of a long period as far as analytics.bounded leaves it. Arguments: from_time; to_time; step, of at least a minute; origin, an instant at which a step begins (from_time where it is NULL).';

create or replace function analytics.watched(resource text, from_time timestamptz, to_time timestamptz, step interval, origin timestamptz)
returns table (at timestamptz, coverage real)
language sql stable parallel safe
begin atomic
  with watch as materialized (
    select seen.first_at, seen.until, seen.is_told from analytics.watch(watched.resource) seen
  ), blind as materialized (
    select case when gap.missed = 0 then gap.began_at
                else gap.began_at + (gap.ended_at - gap.began_at) / (gap.missed + 1) end as begins, gap.ended_at as ends
      from analytics.unobserved(watched.resource, from_time, to_time) gap
     union all
    select '-infinity', coalesce(watch.first_at, 'infinity') from watch
  ), cell as (
    select moment.at, greatest(moment.at, from_time) as begins, least(moment.at + fixed.length, to_time, watch.until) as ends, watch.is_told
      from watch
     -- A length that does not depend on the calendar, and so not on the time zone of the session.
     cross join (select make_interval(secs => extract(epoch from step)::double precision) as length) fixed
     cross join lateral analytics.cells(from_time, to_time, fixed.length, origin) as moment(at)
  )
  select cell.at,
         case when cell.is_told and cell.ends > cell.begins then
           greatest(0, 1 - coalesce(unseen.seconds, 0) / extract(epoch from cell.ends - cell.begins)) end
    from cell
    left join lateral (
      select sum(extract(epoch from least(blind.ends, cell.ends) - greatest(blind.begins, cell.begins))) as seconds
        from blind where blind.begins < cell.ends and blind.ends > cell.begins
    ) unseen on true;
end;
comment on function analytics.watched(text, timestamptz, timestamptz, interval, timestamptz) is
'How well each step of [from_time, to_time) was watched: the share (0..1) of it that an observation of the resource covers. What lies in the future does not count; NULL when all of it does, or no schedule is known. Arguments: resource; from_time; to_time; step, the length of a cell; origin, an instant at which one begins.';

create or replace function analytics.watched_share(resource text, from_time timestamptz, to_time timestamptz) returns real
language sql stable parallel safe
return (select cell.coverage
          from analytics.bounded(from_time, to_time, interval '1 day') period
         cross join lateral analytics.watched(watched_share.resource, period.begins, period.ends,
                                              greatest(period.ends - period.begins, interval '1 minute'), period.begins) cell);
comment on function analytics.watched_share(text, timestamptz, timestamptz) is
'How well [from_time, to_time) was watched as a whole: the share (0..1) of it that an observation of the resource covers; NULL in the future, or when no schedule is known. Arguments: resource; from_time; to_time.';
