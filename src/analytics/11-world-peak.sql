create or replace function analytics.world_peak(from_time timestamptz, to_time timestamptz)
returns table (world text, hour timestamptz, online_avg double precision, online_max int, coverage real)
language sql stable parallel safe
begin atomic
  with watched as (
    select lower(part.span) as begins, upper(part.span) as ends
      from (select range_agg(tstzrange(answer.observed_at, answer.holds_until)) as spans
              from analytics.online_answer(from_time, to_time) answer) every
     cross join lateral unnest(every.spans) as part(span)
  ), known as (
    select version.world, sample.online, greatest(sample.observed_at, version.valid_from, watched.begins, from_time) as begins,
           least(sample.until, version.valid_until, watched.ends, to_time) as ends
      from game.world version
     cross join lateral (
       select numbers.observed_at, numbers.online,
              lead(numbers.observed_at, 1, to_time) over (order by numbers.observed_at) as until
         from game.world_sample numbers
        where numbers.world = version.world and numbers.observed_at < to_time
          and numbers.observed_at >= coalesce((select max(before.observed_at) from game.world_sample before
                                                where before.world = version.world
                                                  and before.observed_at <= greatest(from_time, version.valid_from)), from_time)
     ) sample
      join watched on watched.begins < sample.until and watched.ends > sample.observed_at
     where version.valid_from < to_time and version.valid_until > from_time
  ), weighed as (
    select known.world, moment.hour, known.online,
           extract(epoch from least(known.ends, moment.hour + interval '1 hour') - greatest(known.begins, moment.hour))::double precision as seconds
      from known
     cross join lateral generate_series(date_trunc('hour', known.begins, 'UTC'), known.ends - interval '1 microsecond',
                                        interval '1 hour') as moment(hour)
     where known.begins < known.ends
  ), watch as materialized (
    select moment.hour, analytics.online_coverage(greatest(moment.hour, from_time), least(moment.hour + interval '1 hour', to_time)) as coverage
      from generate_series(date_trunc('hour', from_time, 'UTC'), to_time - interval '1 microsecond', interval '1 hour') as moment(hour)
  )
  select weighed.world, weighed.hour, sum(weighed.online * weighed.seconds) / sum(weighed.seconds), max(weighed.online), watch.coverage
    from weighed
    join watch on watch.hour = weighed.hour
   group by weighed.world, weighed.hour, watch.coverage
   order by weighed.hour, weighed.world;
end;
comment on function analytics.world_peak(timestamptz, timestamptz) is
'Players listed on each world in each full hour (UTC) of [from_time, to_time): the average over the time that it was up and watched, and the most at once. No row where nobody looked, or the world was not up.';
