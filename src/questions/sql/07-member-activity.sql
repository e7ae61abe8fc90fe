create or replace function analytics.member_activity(guild uuid, at timestamptz default now())
returns table (player_uuid uuid, username text, rank text, last_seen timestamptz, days_inactive real, status text, reason text)
language sql stable parallel safe set jit = off set plan_cache_mode = force_generic_plan
begin atomic
  with known as (
    select member.player_uuid, member.username, member.rank, 'onlineStatus' = any(coalesce(member.restricted, '{}'))
           or exists (select from sync.privacy_restriction rule
                       where rule.player_uuid = member.player_uuid and rule.field_group = 'onlineStatus') as hides,
           greatest(login.last_join, online.seen_at) as last_seen, dated.is_so as is_dated
      from game.guild_member member
      left join lateral (select presence.last_join from game.member_presence presence
                          where presence.guild_uuid = guild and presence.player_uuid = member.player_uuid
                            and presence.observed_at <= member_activity.at and presence.last_join is not null
                          order by presence.last_join desc limit 1) login on true
      left join lateral (select presence.last_join is not null as is_so from game.member_presence presence
                          where presence.guild_uuid = guild and presence.player_uuid = member.player_uuid
                            and presence.observed_at <= member_activity.at
                          order by presence.observed_at desc limit 1) dated on true
      left join lateral (
        -- Seen online until the last response that still showed it, not until the first that did not.
        select greatest(sample.observed_at, still.observed_at) as seen_at
          from game.member_presence sample
         cross join lateral (
           select coalesce(min(next.observed_at), 'infinity') as at from game.member_presence next
            where next.guild_uuid = guild and next.player_uuid = member.player_uuid and next.observed_at > sample.observed_at
         ) until
          left join lateral (
           select looked.observed_at
             from sync.observation looked
            where looked.resource = 'guilds' and looked.key = guild::text and looked.status in ('ok', 'unchanged', 'partial')
              and looked.observed_at >= sample.observed_at and looked.observed_at < until.at
              and looked.observed_at <= member_activity.at
              and exists (select from game.guild_member there
                           where there.guild_uuid = guild and there.player_uuid = member.player_uuid
                             and there.valid_from <= looked.observed_at and looked.observed_at < there.valid_until)
            order by looked.observed_at desc limit 1
         ) still on true
         where sample.guild_uuid = guild and sample.player_uuid = member.player_uuid
           and sample.observed_at <= member_activity.at and sample.online
         order by sample.observed_at desc limit 1) online on true
     where member.guild_uuid = guild and analytics.checked_at(member_activity.at) is not null
       and member.valid_from <= member_activity.at and member_activity.at < member.valid_until
       -- As in membership: without former members who hide where they were.
       and exists (select from analytics.membership shown
                    where shown.guild_uuid = guild and shown.player_uuid = member.player_uuid and shown.valid_from = member.valid_from)
  ), seen as (
    select known.player_uuid, known.username, known.rank, known.hides,
           case when not known.hides then known.last_seen end as last_seen, known.is_dated
      from known
  ), looked as (
    select coalesce((select max(one.observed_at) from sync.observation one
                      where one.resource = 'guilds' and one.key = guild::text and one.observed_at <= member_activity.at
                        and one.status in ('ok', 'unchanged', 'partial')), '-infinity') as at,
           -- Responses without the field show no login.
           coalesce((select max(one.observed_at) from sync.observation one
                      where one.resource = 'guilds' and one.key = guild::text and one.observed_at <= member_activity.at
                        and one.status in ('ok', 'unchanged', 'partial') and not unsent.spans @> one.observed_at), '-infinity') as dated_at
      from (select coalesce(range_agg(tstzrange(span.from_at, span.until_at)), '{}') as spans from sync.unsent span
             where span.resource = 'guilds' and 'member_presence.last_join' = any (span.columns)) unsent
  )
  select seen.player_uuid, seen.username, seen.rank, seen.last_seen,
         ((extract(epoch from member_activity.at) - extract(epoch from seen.last_seen)) / 86400)::real,
         case when seen.last_seen > member_activity.at - interval '168 hours' then 'active'
              when seen.hides or seen.last_seen is null or judged.is_late or judged.is_unsure then 'unknown'
              else 'inactive' end,
         case when seen.last_seen > member_activity.at - interval '168 hours' then null
              when seen.hides then 'hides whether online'
              when seen.last_seen is null then 'never seen online, and the API gives no last login'
              when judged.is_late then 'no response about the guild in the last seven days'
              when judged.is_unsure then 'no response with a last login seven days after the player was last seen' end
    from seen
   cross join looked
   -- Only a last login shows that there was none since the last sight; a response within a few hours of the seven days will do.
   cross join lateral (select looked.at <= member_activity.at - interval '168 hours' as is_late,
                              not coalesce(seen.is_dated, false) or looked.dated_at < seen.last_seen + interval '162 hours' as is_unsure) judged
   order by seen.last_seen nulls last, seen.username collate "C";
end;
comment on function analytics.member_activity(uuid, timestamptz) is
'Who of a guild''s members at an instant was active (seen in the last seven days), inactive, or cannot be known, with the reason. last_seen is the end of the last time online in the responses, or the last login in the API; of time before the retention of the ledger, on the same day.';
