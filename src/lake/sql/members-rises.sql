-- By how much each counter of each member rose in each month (UTC). What was before the first response, and falls, count as nothing.
with step as (
  select guild_uuid, player_uuid, counter, observed_at, value,
         lag(value) over (partition by guild_uuid, player_uuid, counter order by observed_at) as previous
    from member_counter
   where value is not null
)
select guild_uuid, player_uuid, counter, date_trunc('month', observed_at) as month, sum(greatest(value - previous, 0)) as rise
  from step
 where previous is not null
 group by guild_uuid, player_uuid, counter, date_trunc('month', observed_at)
 order by month, guild_uuid, counter, player_uuid
