create or replace function analytics.member_retention(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (joined_in timestamptz, joined int, still_after_30d int, still_after_90d int, unknown_after_30d int, unknown_after_90d int)
language sql stable parallel safe set jit = off
begin atomic
  with event as materialized (
    -- The same of who joined, and of when that one left next: how often the player left after that.
    select one.player_uuid, one.at, one.event, case when one.event = 'left' then one.not_before end as not_before,
           count(*) filter (where one.event = 'left') over (partition by one.player_uuid order by one.at desc, one.event
                                                             rows unbounded preceding) as leavings
      from analytics.membership_event one
     where one.guild_uuid = guild and one.event in ('joined', 'left') and one.at >= from_time
  ), seen as (
    select greatest((select item.observed_at from sync.work_item item where item.resource = 'guilds' and item.key = guild::text),
                    (select max(sample.observed_at) from game.guild_sample sample where sample.guild_uuid = guild)) as until
  ), spell as (
    -- Between the last response that showed a member and the first that did not, nothing is known.
    select date_trunc('month', event.at, 'UTC') as joined_in, event.at, coalesce(gone.at, 'infinity') as gone_at,
           case when gone.at is null then seen.until else gone.not_before end as shown_until
      from event
     cross join seen
      left join event gone
             on gone.player_uuid = event.player_uuid and gone.leavings = event.leavings and gone.event = 'left'
     where event.event = 'joined' and event.at < to_time
  ), judged as (
    select spell.joined_in, spell.at + interval '720 hours' <= seen.until as can_be_30d,
           spell.at + interval '2160 hours' <= seen.until as can_be_90d,
           case when spell.shown_until >= spell.at + interval '720 hours' then true
                when spell.gone_at <= spell.at + interval '720 hours' then false end as is_after_30d,
           case when spell.shown_until >= spell.at + interval '2160 hours' then true
                when spell.gone_at <= spell.at + interval '2160 hours' then false end as is_after_90d
      from spell cross join seen
  )
  select judged.joined_in, count(*)::int,
         case when bool_or(judged.can_be_30d and judged.is_after_30d is not null) then count(*) filter (where judged.is_after_30d)::int end,
         case when bool_or(judged.can_be_90d and judged.is_after_90d is not null) then count(*) filter (where judged.is_after_90d)::int end,
         count(*) filter (where judged.is_after_30d is null)::int, count(*) filter (where judged.is_after_90d is null)::int
    from judged
   group by judged.joined_in
   order by judged.joined_in;
end;
comment on function analytics.member_retention(uuid, timestamptz, timestamptz) is
'Of those who joined a guild in [from_time, to_time), by month of joining: how many, how many were certainly still there after 30 and 90 days, and of how many it is not known, because it is too early or no response came around that time. NULL where that is so of all who can have been there that long.';
