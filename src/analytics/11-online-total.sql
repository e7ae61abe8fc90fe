create or replace function analytics.online_total(from_time timestamptz, to_time timestamptz, step interval)
returns table (at timestamptz, total_avg double precision, total_max int, hidden_avg double precision, coverage real)
language sql stable parallel safe
begin atomic
  with fixed as (
    -- A length that does not depend on the calendar, and so not on the time zone of who asks.
    select make_interval(secs => extract(epoch from step)::double precision) as length
  ), cell as (
    select moment.at, least(moment.at + fixed.length, to_time) as until
      from fixed
     cross join lateral generate_series(from_time, to_time - interval '1 microsecond', fixed.length) as moment(at)
  ), watched as (
    select lower(part.span) as begins, upper(part.span) as ends
      from (select range_agg(tstzrange(answer.observed_at, answer.holds_until)) as spans
              from analytics.online_answer(from_time, to_time) answer) every
     cross join lateral unnest(every.spans) as part(span)
  ), sample as (
    select numbers.observed_at, numbers.total, numbers.hidden,
           lead(numbers.observed_at, 1, to_time) over (order by numbers.observed_at) as until
      from game.online_sample numbers
     where numbers.observed_at < to_time
       and numbers.observed_at >= coalesce((select max(before.observed_at) from game.online_sample before
                                             where before.observed_at <= from_time), from_time)
  ), known as (
    select sample.total, sample.hidden, greatest(sample.observed_at, watched.begins, from_time) as begins,
           least(sample.until, watched.ends, to_time) as ends
      from sample
      join watched on watched.begins < sample.until and watched.ends > sample.observed_at
  ), weighed as (
    select moment.at, known.total, known.hidden,
           extract(epoch from least(known.ends, moment.at + fixed.length) - greatest(known.begins, moment.at))::double precision as seconds
      from known
     cross join fixed
     cross join lateral generate_series(date_bin(fixed.length, known.begins, from_time),
                                        known.ends - interval '1 microsecond', fixed.length) as moment(at)
     where known.begins < known.ends
  ), told as (
    select weighed.at, max(weighed.total) as total_max,
           sum(weighed.total * weighed.seconds) / sum(weighed.seconds) filter (where weighed.total is not null) as total_avg,
           sum(weighed.hidden * weighed.seconds) / sum(weighed.seconds) filter (where weighed.hidden is not null) as hidden_avg
      from weighed group by weighed.at
  )
  select cell.at, told.total_avg, told.total_max, told.hidden_avg, analytics.online_coverage(cell.at, cell.until)
    from cell
    left join told on told.at = cell.at
   order by cell.at;
end;
comment on function analytics.online_total(timestamptz, timestamptz, interval) is
'How many players were online in every step of [from_time, to_time), hidden ones included, and how many of them were hidden. Averages are over the time that was watched; NULL where nobody looked, or the API did not count.';
