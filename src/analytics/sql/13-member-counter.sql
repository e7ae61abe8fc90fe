create or replace function analytics.member_counter(guild uuid, counter text, from_time timestamptz, to_time timestamptz)
returns table (player_uuid uuid, username text, delta double precision, quality text)
language sql stable parallel safe set jit = off
begin atomic
  select member.player_uuid, member.username,
         case when member.is_answered and sent.is_sent and coalesce(lacking.part, 'some') = 'some' then coalesce(rise.gained, 0) end,
         case when not member.is_answered or not sent.is_sent or lacking.part = 'all' then 'unknown'
              when lacking.part = 'some' and coalesce(rise.quality, 'exact') = 'exact' then 'partial'
              else coalesce(rise.quality, 'exact') end
    from analytics.members_between(guild, from_time, to_time) member
    left join analytics.member_rise(guild, counter, from_time, to_time, counter = 'contributed') rise
           on rise.player_uuid = member.player_uuid
   cross join (select analytics.member_field_unsent(counter, from_time, to_time)) lacking(part)
   -- A member who hides a counter has no samples of it, or only ones that are to be removed, which is not zero.
   cross join lateral (select exists (select from game.member_counter counted
                                       where counted.guild_uuid = guild and counted.counter = member_counter.counter
                                         and counted.player_uuid = member.player_uuid and counted.observed_at < to_time
                                         and counted.value is not null)
                              and not exists (select from sync.privacy_restriction rule
                                               where rule.player_uuid = member.player_uuid
                                                 and rule.field_group = case member_counter.counter
                                                       when 'contributed' then null
                                                       when 'weekly.streak' then 'guildHighRankedAccess'
                                                       else 'mainAccess' end) as is_sent) sent
   order by 3 desc nulls last, member.username collate "C";
end;
comment on function analytics.member_counter(uuid, text, timestamptz, timestamptz) is
'By how much a counter of each member of a guild rose in [from_time, to_time), while a member: every rise that a response shows once. quality: exact; partial (what came before the first response with the member is not known, or the API did not send the field for a part of the time); clamped (the counter dipped or jumped and came back: not counted twice); reset (it fell for good: counted anew from there); unknown (no response about the guild in that time, or the member hides the counter, or the API did not send it; delta is NULL). Arguments: guild, its uuid; counter, such as wars, guildRaids.total, raids.total or contributed; from_time; to_time.';
