create or replace function analytics.world_peak(from_time timestamptz, to_time timestamptz)
returns table (world text, hour timestamptz, online_avg double precision, online_max int, coverage real)
language sql stable parallel safe set jit = off
begin atomic
  with tier as (
    select max(one.fine_since) as fine_since, max(one.averaged_until) as averaged_until
      from sync.tier one where one.sample_table = 'game.world_sample'
  ), fine as (
    -- Older samples are gone; of them there are the averages of full hours. They are used for newer hours, too, as far as they are materialized.
    select tier.fine_since, since.at as since, date_bin('1 hour', since.at + interval '1 hour' - interval '1 microsecond', 'epoch') as full_from,
           least(date_bin('1 hour', to_time, 'epoch'), coalesce(tier.averaged_until, '-infinity')) as full_to
      from tier
     cross join lateral (select greatest(from_time, tier.fine_since) as at) since
  ), part as (
    select fine.since, least(fine.full_from, to_time) as until from fine where fine.full_from < fine.full_to
     union all
    select case when fine.full_from < fine.full_to then fine.full_to else fine.since end, to_time from fine
  ), watched as (
    select part.since, part.until, stretch.begins, stretch.ends
      from part
     cross join lateral analytics.online_watched(part.since, part.until) stretch
     where part.since < part.until
  ), known as (
    select version.world, sample.online, greatest(sample.observed_at, version.valid_from, watched.begins, part.since) as begins,
           least(sample.until, version.valid_until, watched.ends, part.until) as ends
      from part
     cross join game.world version
     cross join lateral (
       select numbers.observed_at, numbers.online,
              lead(numbers.observed_at, 1, part.until) over (order by numbers.observed_at) as until
         from game.world_sample numbers
        where numbers.world = version.world and numbers.observed_at < least(part.until, version.valid_until)
          and numbers.observed_at >= coalesce((select max(before.observed_at) from game.world_sample before
                                                where before.world = version.world
                                                  and before.observed_at <= greatest(part.since, version.valid_from)), part.since)
     ) sample
      join watched on watched.since = part.since and watched.begins < sample.until and watched.ends > sample.observed_at
     where part.since < part.until and version.valid_from < part.until and version.valid_until > part.since
  ), begun as (
    select known.*, date_bin('1 hour', known.begins, 'epoch') as hour from known where known.begins < known.ends
  ), weighed as (
    -- Most lie within one hour; the others are cut.
    select begun.world, begun.hour, begun.online, date_part('epoch', begun.ends - begun.begins) as held
      from begun where begun.ends <= begun.hour + interval '1 hour'
     union all
    select begun.world, moment.hour, begun.online,
           date_part('epoch', least(begun.ends, moment.hour + interval '1 hour') - greatest(begun.begins, moment.hour))
      from begun
     cross join lateral generate_series(begun.hour, begun.ends - interval '1 microsecond', interval '1 hour') as moment(hour)
     where begun.ends > begun.hour + interval '1 hour'
  ), counted as (
    select weighed.world, weighed.hour, sum(weighed.online * weighed.held) as sum, sum(weighed.held) as held, max(weighed.online) as online_max
      from weighed group by weighed.world, weighed.hour
  )
  select known.world, known.hour, known.online_avg, known.online_max, watch.coverage
    from (select counted.world, counted.hour, counted.sum / counted.held as online_avg,
                 counted.online_max
            from counted
           union all
          select rolled.world, rolled.hour, rolled.online_avg, rolled.online_max
            from fine
            join game.world_hour rolled on rolled.hour >= fine.full_from and rolled.hour < fine.full_to
           union all
          select rolled.world, rolled.hour, rolled.online_avg, rolled.online_max
            from fine
            join game.world_hour rolled on rolled.hour >= date_trunc('hour', from_time, 'UTC')
                                       and rolled.hour < fine.fine_since and rolled.hour < to_time
         ) known
    join analytics.watched('online-players', from_time, to_time, interval '1 hour', 'epoch') watch on watch.at = known.hour
   order by known.hour, known.world collate "C";
end;
comment on function analytics.world_peak(timestamptz, timestamptz) is
'Players listed on each world in each full hour (UTC) of [from_time, to_time): the average over the time that it was up and watched, and the most at once. No row without an observation, or where the world was not up. Of time before the retention of game.world_sample, an hour is known as a whole.';
