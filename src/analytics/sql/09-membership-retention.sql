create or replace function analytics.member_retention(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (joined_in timestamptz, joined int, still_after_30d int, still_after_90d int)
language sql stable parallel safe set jit = off
begin atomic
  with event as materialized (
    select one.player_uuid, one.at, one.event from analytics.membership_event one
     where one.guild_uuid = guild and one.event in ('joined', 'left')
  ), spell as (
    select event.player_uuid, event.at,
           (select min(gone.at) from event gone
             where gone.player_uuid = event.player_uuid and gone.event = 'left' and gone.at > event.at) as left_at
      from event
     where event.event = 'joined' and event.at >= from_time and event.at < to_time
  ), seen as (
    select max(observed_at) as until from sync.work_item where resource = 'guilds' and key = guild::text
  )
  select date_trunc('month', spell.at, 'UTC'), count(*)::int,
         case when bool_or(spell.at + interval '720 hours' <= seen.until) then
           count(*) filter (where spell.at + interval '720 hours' <= seen.until
                              and coalesce(spell.left_at, 'infinity') > spell.at + interval '720 hours')::int end,
         case when bool_or(spell.at + interval '2160 hours' <= seen.until) then
           count(*) filter (where spell.at + interval '2160 hours' <= seen.until
                              and coalesce(spell.left_at, 'infinity') > spell.at + interval '2160 hours')::int end
    from spell cross join seen
   group by 1
   order by 1;
end;
comment on function analytics.member_retention(uuid, timestamptz, timestamptz) is
'Of those who joined a guild in [from_time, to_time), by month of joining: how many, and how many were still there after 30 and 90 days. NULL while no member of that month can have been there that long.';
