create or replace function analytics.guild_online_heatmap(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (dow int, hour int, online_avg double precision, online_max int, coverage real)
language sql stable parallel safe set jit = off
begin atomic
  with tier as (
    select max(one.fine_since) as fine_since, max(one.averaged_until) filter (where one.sample_table = 'game.guild_sample') as averaged_until
      from sync.tier one where one.sample_table in ('game.guild_sample', 'ledger/guilds')
  ), fine as (
    -- Older samples or responses are gone; of them there are the averages of full hours. They are used for newer hours, too, as far as they are materialized.
    select tier.fine_since, since.at as since, date_bin('1 hour', since.at + interval '1 hour' - interval '1 microsecond', 'epoch') as full_from,
           least(date_bin('1 hour', to_time, 'epoch'), coalesce(tier.averaged_until, '-infinity')) as full_to
      from tier
     cross join lateral (select greatest(from_time, tier.fine_since) as at) since
  ), part as (
    select fine.since, least(fine.full_from, to_time) as until from fine where fine.full_from < fine.full_to
     union all
    select case when fine.full_from < fine.full_to then fine.full_to else fine.since end, to_time from fine
  ), sample as materialized (
    select part.since, numbers.observed_at, numbers.online
      from part
      join game.guild_sample numbers
        on numbers.observed_at >= coalesce((select max(before.observed_at) from game.guild_sample before
                                             where before.guild_uuid = guild and before.observed_at <= part.since), part.since)
       and numbers.observed_at < part.until
     where numbers.guild_uuid = guild and part.since < part.until
  ), stamped as (
    -- Responses and samples in one row of time, so that each response knows the last sample at or before it.
    select instant.since, instant.at, instant.is_answer, max(instant.sample_at) over (partition by instant.since order by instant.at) as sample_at
      from (select part.since, one.observed_at as at, true as is_answer, null::timestamptz as sample_at
              from part
             -- Read for each part: else the responses of all time are, and compared with it.
             cross join lateral (select response.observed_at from sync.observation response
                                  where response.resource = 'guilds' and response.key = guild::text
                                    and response.status in ('ok', 'unchanged', 'partial')
                                    and response.observed_at >= part.since and response.observed_at < part.until
                                 offset 0) one
             union all
            select sample.since, sample.observed_at, false, sample.observed_at from sample) instant
  ), answer as (
    select stamped.at as observed_at, sample.online
      from stamped
      left join sample on sample.since = stamped.since and sample.observed_at = stamped.sample_at
     where stamped.is_answer
  ), counted as materialized (
    -- An hour counts once, however many observations it has.
    select date_trunc('hour', answer.observed_at, 'UTC') as at, avg(answer.online)::double precision as online_avg,
           max(answer.online) as online_max
      from answer group by 1
     union all
    select rolled.hour, rolled.online_avg, rolled.online_max
      from fine
      join game.guild_hour rolled on rolled.hour >= fine.full_from and rolled.hour < fine.full_to
     where rolled.guild_uuid = guild
     union all
    select rolled.hour, rolled.online_avg, rolled.online_max
      from fine
      join game.guild_hour rolled on rolled.hour >= date_trunc('hour', from_time, 'UTC') and rolled.hour < fine.fine_since and rolled.hour < to_time
     where rolled.guild_uuid = guild
  ), cell as (
    select moment.at, extract(isodow from moment.at at time zone 'UTC')::int as dow,
           extract(hour from moment.at at time zone 'UTC')::int as hour,
           moment.at < now() or moment.at <= (select max(counted.at) from counted) as is_past
      from analytics.cells(from_time, to_time, interval '1 hour', 'epoch') as moment(at)
  )
  select cell.dow, cell.hour, avg(counted.online_avg), max(counted.online_max),
         (count(counted.at)::real / nullif(count(*) filter (where cell.is_past or counted.at is not null), 0))::real
    from cell left join counted on counted.at = cell.at
   group by cell.dow, cell.hour
   order by cell.dow, cell.hour;
end;
comment on function analytics.guild_online_heatmap(uuid, timestamptz, timestamptz) is
'How many members of a guild are online at which hour of the week in [from_time, to_time): dow 1 Monday .. 7 Sunday, hour 0..23 UTC; a row for each that lies in the interval. By the guild''s own count, which has the members who hide, too; it does not name them. The average is over hours, each the average of its responses; coverage is the share (0..1) of the hours with a response about the guild; NULL average and coverage 0 where no response came, coverage NULL in the future. Of time before the retention of game.guild_sample or of the ledger, an hour is known as a whole. Arguments: guild, its uuid; from_time; to_time.';
