create or replace function analytics.member_counter(guild uuid, counter text, from_time timestamptz, to_time timestamptz)
returns table (player_uuid uuid, username text, delta double precision, quality text, at_most double precision)
language sql stable parallel safe set jit = off set plan_cache_mode = force_generic_plan
begin atomic
  select member.player_uuid, member.username, known.delta, case when known.delta is null then 'unknown' else rise.quality end,
         case when known.delta is not null then rise.at_most end
    from analytics.members_between(guild, from_time, to_time) member
    left join analytics.member_rise(guild, counter, from_time, to_time, counter = 'contributed', null) rise
           on rise.player_uuid = member.player_uuid
   cross join (select analytics.member_field_unsent(counter, from_time, to_time) offset 0) lacking(part)
   -- A member who hides a counter has no samples of it, or only ones that are to be removed, which is not zero. Looked up once, the newest first.
   cross join lateral (select coalesce((select true from game.member_counter counted
                                         where counted.guild_uuid = guild and counted.counter = member_counter.counter
                                           and counted.player_uuid = member.player_uuid and counted.observed_at <= to_time
                                           and counted.value is not null
                                         order by counted.observed_at desc limit 1), false)
                              and not exists (select from sync.privacy_restriction rule
                                               where rule.player_uuid = member.player_uuid
                                                 and rule.field_group = case member_counter.counter
                                                       when 'contributed' then null
                                                       when 'weekly.completed' then 'guildHighRankedAccess'
                                                       when 'weekly.streak' then 'guildHighRankedAccess'
                                                       else 'mainAccess' end) as is_sent
                       offset 0) sent
   cross join lateral (select case when member.is_answered and sent.is_sent and lacking.part is distinct from 'all' then rise.gained end) known(delta)
   order by 3 desc nulls last, member.username collate "C";
end;
comment on function analytics.member_counter(uuid, text, timestamptz, timestamptz) is
'By how much a counter of each member of a guild rose in [from_time, to_time), while a member. quality: exact (responses as close as usual lie around both borders; a rise is dated by the response that shows it); at_least (they do not, or what came before the first response with the member is not known: only what is certainly within counts, and at_most is the most it can be, where that can be known); clamped (the counter dipped or jumped and came back: not counted twice); reset (it fell for good: counted anew from there); unknown (no response in that time shows it, or the member hides the counter, or the API did not send it; delta is NULL). Arguments: guild, its uuid; counter, such as wars, guildRaids.total, raids.total or contributed; from_time; to_time.';

-- The functions of an older version, replaced above, depend on it.
drop function if exists analytics.member_rise(uuid, text, timestamptz, timestamptz, boolean);
