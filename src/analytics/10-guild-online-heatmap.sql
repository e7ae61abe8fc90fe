create or replace function analytics.guild_online_heatmap(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (dow int, hour int, online_avg double precision, online_max int, coverage real)
language sql stable parallel safe
begin atomic
  with fine as (
    -- Older samples or answers are gone; of them there are the averages of full hours.
    select greatest(from_time, (select max(tier.fine_since) from sync.tier
                                 where tier.sample_table in ('game.guild_sample', 'ledger/guilds'))) as since
  ), answer as (
    select one.observed_at, numbers.online
      from fine
     cross join sync.observation one
      left join lateral (select sample.online from game.guild_sample sample
                          where sample.guild_uuid = guild and sample.observed_at <= one.observed_at
                          order by sample.observed_at desc limit 1) numbers on true
     where one.resource = 'guilds' and one.key = guild::text and one.status in ('ok', 'unchanged', 'partial')
       and one.observed_at >= fine.since and one.observed_at < to_time
  ), counted as (
    -- An hour counts once, however often somebody looked in it.
    select date_trunc('hour', answer.observed_at, 'UTC') as at, avg(answer.online)::double precision as online_avg,
           max(answer.online) as online_max
      from answer group by 1
     union all
    select rolled.hour, rolled.online_avg, rolled.online_max
      from fine
      join game.guild_hour rolled on rolled.hour >= date_trunc('hour', from_time, 'UTC') and rolled.hour < least(fine.since, to_time)
     where rolled.guild_uuid = guild
  ), cell as (
    select moment.at, extract(isodow from moment.at at time zone 'UTC')::int as dow,
           extract(hour from moment.at at time zone 'UTC')::int as hour,
           moment.at < greatest(now(), (select max(answer.observed_at) from answer)) as is_past
      from generate_series(date_trunc('hour', from_time, 'UTC'), to_time - interval '1 microsecond', interval '1 hour') as moment(at)
  )
  select cell.dow, cell.hour, avg(counted.online_avg), max(counted.online_max),
         (count(counted.at)::real / nullif(count(*) filter (where cell.is_past or counted.at is not null), 0))::real
    from cell left join counted on counted.at = cell.at
   group by cell.dow, cell.hour
   order by cell.dow, cell.hour;
end;
comment on function analytics.guild_online_heatmap(uuid, timestamptz, timestamptz) is
'How many members of a guild are online at which hour of the week in [from_time, to_time): dow 1 Monday .. 7 Sunday, hour 0..23 UTC; a row for each that lies in the interval. By the guild''s own count, which has the members who hide, too; who they are it does not tell. The average is over hours, each the average of its answers; coverage is the share (0..1) of the hours with an answer about the guild; NULL average and coverage 0 where nobody looked, coverage NULL in the future. Of time before the retention of game.guild_sample or of the ledger, an hour is known as a whole. Arguments: guild, its uuid; from_time; to_time.';
