create or replace function analytics.member_contribution(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (player_uuid uuid, username text, rank text, contributed bigint, share real, "position" int, quality text)
language sql stable parallel safe set jit = off
begin atomic
  select member.player_uuid, member.username, member.rank,
         case when member.is_answered and coalesce(lacking.part, 'some') = 'some' and abs(coalesce(rise.gained, 0)) <= 2 ^ 53 then coalesce(rise.gained, 0)::bigint end,
         (coalesce(rise.gained, 0) / nullif(sum(rise.gained) over (), 0))::real,
         rank() over (order by coalesce(rise.gained, 0) desc)::int,
         case when not member.is_answered or lacking.part = 'all' then 'unknown'
              when lacking.part = 'some' and coalesce(rise.quality, 'exact') = 'exact' then 'partial'
              else coalesce(rise.quality, 'exact') end
    from analytics.members_between(guild, from_time, to_time) member
    left join analytics.member_rise(guild, 'contributed', from_time, to_time, true) rise on rise.player_uuid = member.player_uuid
   cross join (select analytics.member_field_unsent('contributed', from_time, to_time)) lacking(part)
   order by 6, member.username collate "C";
end;
comment on function analytics.member_contribution(uuid, timestamptz, timestamptz) is
'What each member contributed in [from_time, to_time): every rise that a response shows once, across rejoining. quality: exact; partial (the member was there before observations began, so only what came after the first response counts, or the API did not send the field for a part of the time); clamped (the counter dipped or jumped and came back: not counted twice); reset (it fell for good: counted anew from there); unknown (no response about the guild in that time, or the API did not send the field; contributed is NULL).';
