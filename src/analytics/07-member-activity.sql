create or replace function analytics.member_activity(guild uuid, at timestamptz default now())
returns table (player_uuid uuid, username text, rank text, last_seen timestamptz, days_inactive real, status text, reason text)
language sql stable parallel safe
begin atomic
  with looked as (
    select distinct observed_at from sync.observation
     where resource = 'guilds' and key = guild::text and observed_at <= member_activity.at
       and status in ('ok', 'unchanged', 'partial')
  ), seen as (
    select member.player_uuid, member.username, member.rank, 'onlineStatus' = any(coalesce(member.restricted, '{}')) as hides,
           presence.last_seen
      from game.guild_member member
      left join lateral (
        select greatest(max(sample.last_join),
                        -- Seen online until the last answer that still said so, not until the first that did not.
                        max(case when sample.online then greatest(sample.observed_at,
                              (select max(looked.observed_at) from looked
                                 join game.guild_member there
                                   on there.guild_uuid = member.guild_uuid and there.player_uuid = member.player_uuid
                                  and there.valid_from <= looked.observed_at and looked.observed_at < there.valid_until
                                where looked.observed_at >= sample.observed_at and looked.observed_at < sample.until)) end)) as last_seen
          from (select online, last_join, observed_at,
                       coalesce(lead(observed_at) over (order by observed_at), 'infinity') as until
                  from game.member_presence
                 where guild_uuid = member.guild_uuid and player_uuid = member.player_uuid
                   and observed_at <= member_activity.at) sample) presence on true
     where member.guild_uuid = guild
       and member.valid_from <= member_activity.at and member_activity.at < member.valid_until
  )
  select seen.player_uuid, seen.username, seen.rank, seen.last_seen,
         (extract(epoch from member_activity.at - seen.last_seen) / 86400)::real,
         case when seen.last_seen > member_activity.at - interval '7 days' then 'active'
              when seen.hides or seen.last_seen is null or is_late.is_late then 'unknown'
              else 'inactive' end,
         case when seen.last_seen > member_activity.at - interval '7 days' then null
              when seen.hides then 'hides whether online'
              when seen.last_seen is null then 'never seen online, and the API tells no last login'
              when is_late.is_late then 'no answer about the guild in the last seven days' end
    from seen
   cross join (select coalesce(max(looked.observed_at), '-infinity') <= member_activity.at - interval '7 days' as is_late
                 from looked) is_late
   order by seen.last_seen nulls last, seen.username;
end;
comment on function analytics.member_activity(uuid, timestamptz) is
'Who of a guild''s members at an instant was active (seen in the last seven days), inactive, or cannot be known, with the reason. last_seen is the end of the last time online that answers show, or the last login the API told; of time before the retention of the ledger, on the same day.';
