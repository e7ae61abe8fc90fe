create or replace function analytics.member_contribution(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (player_uuid uuid, username text, rank text, contributed bigint, share real, "position" int, quality text)
language sql stable parallel safe set jit = off
begin atomic
  select member.player_uuid, member.username, member.rank,
         case when member.is_answered and abs(coalesce(rise.gained, 0)) <= 2 ^ 53 then coalesce(rise.gained, 0)::bigint end,
         (coalesce(rise.gained, 0) / nullif(sum(rise.gained) over (), 0))::real,
         rank() over (order by coalesce(rise.gained, 0) desc)::int,
         case when member.is_answered then coalesce(rise.quality, 'exact') else 'unknown' end
    from analytics.members_between(guild, from_time, to_time) member
    left join analytics.member_rise(guild, 'contributed', from_time, to_time, true) rise on rise.player_uuid = member.player_uuid
   order by 6, member.username collate "C";
end;
comment on function analytics.member_contribution(uuid, timestamptz, timestamptz) is
'What each member contributed in [from_time, to_time): every rise that a response shows once, across rejoining. quality: exact; partial (the member was there before observations began, so only what came after the first response counts); clamped (the counter dipped or jumped and came back: not counted twice); reset (it fell for good: counted anew from there); unknown (no response about the guild in that time, contributed is NULL).';
