create or replace function analytics.online_known(from_time timestamptz, to_time timestamptz)
returns table (begins timestamptz, ends timestamptz, total int, hidden int)
language sql stable parallel safe
begin atomic
  with watched as (
    select stretch.begins, stretch.ends from analytics.online_watched(from_time, to_time) stretch
  ), sample as (
    select numbers.observed_at, numbers.total, numbers.hidden,
           lead(numbers.observed_at, 1, to_time) over (order by numbers.observed_at) as until
      from game.online_sample numbers
     where numbers.observed_at < to_time
       and numbers.observed_at >= coalesce((select max(before.observed_at) from game.online_sample before
                                             where before.observed_at <= from_time), from_time)
  ), known as (
    select greatest(sample.observed_at, watched.begins, from_time) as begins,
           least(sample.until, watched.ends, to_time) as ends, sample.total, sample.hidden
      from sample
      join watched on watched.begins < sample.until and watched.ends > sample.observed_at
  )
  select known.begins, known.ends, known.total, known.hidden from known where known.begins < known.ends;
end;
comment on function analytics.online_known(timestamptz, timestamptz) is
'The stretches of [from_time, to_time) that were observed, with how many players were online and hidden in each, as far as game.online_sample reaches back; older hours are in game.online_hour.';
