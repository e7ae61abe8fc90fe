create or replace function analytics.online_total(from_time timestamptz, to_time timestamptz, step interval)
returns table (at timestamptz, total_avg double precision, total_max int, hidden_avg double precision, coverage real)
language sql stable parallel safe set jit = off
begin atomic
  with fixed as (
    -- A length that does not depend on the calendar, and so not on the time zone of the session.
    select fixed.length, period.begins as origin
      from (select make_interval(secs => extract(epoch from analytics.checked_step(step))::double precision) as length) fixed
     cross join lateral analytics.bounded(from_time, to_time, fixed.length) period
  ), tier as (
    select max(one.fine_since) as fine_since, max(one.averaged_until) as averaged_until
      from sync.tier one where one.sample_table = 'game.online_sample'
  ), fine as (
    -- Older samples are gone; of them there are the averages of full hours. They are used for newer hours, too, as far as they are materialized:
    -- enough where every cell is made of full hours.
    select greatest(from_time, rolled.until) as since, rolled.until as rolled_until
      from fixed
     cross join tier
     cross join lateral (
       select case when mod(extract(epoch from fixed.length), 3600) = 0 and date_bin('1 hour', from_time, 'epoch') = from_time
                   then greatest(tier.fine_since, least(date_bin('1 hour', to_time, 'epoch'), coalesce(tier.averaged_until, '-infinity')))
                   else tier.fine_since end as until
     ) rolled
  ), begun as (
    select known.*, date_bin(fixed.length, known.begins, fixed.origin) as at, fixed.length
      from fine
     cross join fixed
     cross join lateral analytics.online_known(fine.since, to_time) known
  ), held as (
    -- Most lie within one step; the others are cut.
    select begun.at, begun.total, begun.hidden, begun.ends - begun.begins as held
      from begun where begun.ends <= begun.at + begun.length
     union all
    select moment.at, begun.total, begun.hidden, least(begun.ends, moment.at + begun.length) - greatest(begun.begins, moment.at)
      from begun
     cross join lateral generate_series(begun.at, begun.ends - interval '1 microsecond', begun.length) as moment(at)
     where begun.ends > begun.at + begun.length
  ), weighed as (
    select held.at, held.total::double precision as total, held.total as total_max, held.hidden::double precision as hidden,
           share.seconds as total_seconds, share.seconds as hidden_seconds
      from held
     cross join lateral (select extract(epoch from held.held)::double precision as seconds) share
     union all
    select moment.at, rolled.total_avg, rolled.total_max, rolled.hidden_avg, rolled.total_seconds * share.share, rolled.hidden_seconds * share.share
      from fine
     cross join fixed
      join game.online_hour rolled on rolled.hour > from_time - interval '1 hour' and rolled.hour < fine.rolled_until and rolled.hour < to_time
     cross join lateral (select greatest(rolled.hour, from_time) as begins, least(rolled.hour + interval '1 hour', to_time) as ends) part
     cross join lateral generate_series(date_bin(fixed.length, part.begins, fixed.origin),
                                        part.ends - interval '1 microsecond', fixed.length) as moment(at)
     cross join lateral (select extract(epoch from least(part.ends, moment.at + fixed.length)
                                                   - greatest(part.begins, moment.at))::double precision / 3600 as share) share
  ), averaged as (
    select weighed.at, max(weighed.total_max) as total_max,
           sum(weighed.total * weighed.total_seconds)
             / nullif(sum(weighed.total_seconds) filter (where weighed.total is not null), 0) as total_avg,
           sum(weighed.hidden * weighed.hidden_seconds)
             / nullif(sum(weighed.hidden_seconds) filter (where weighed.hidden is not null), 0) as hidden_avg
      from weighed group by weighed.at
  )
  select cell.at, averaged.total_avg, averaged.total_max, averaged.hidden_avg, cell.coverage
    from fixed
   cross join lateral analytics.watched('online-players', from_time, to_time, fixed.length, fixed.origin) cell
    left join averaged on averaged.at = cell.at
   order by cell.at;
end;
comment on function analytics.online_total(timestamptz, timestamptz, interval) is
'How many players were online in every step of [from_time, to_time), hidden ones included, and how many of them were hidden. Averages are over the time that was watched; NULL without an observation, or where the API sent no count. Of time before the retention of game.online_sample, an hour is known as a whole.';
