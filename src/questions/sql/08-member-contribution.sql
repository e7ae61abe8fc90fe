create or replace function analytics.member_contribution(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (player_uuid uuid, username text, rank text, contributed bigint, share real, "position" int, quality text, at_most bigint)
language sql stable parallel safe set jit = off set plan_cache_mode = force_generic_plan
begin atomic
  with rise as (
    select member.player_uuid, member.username, member.rank, known.gained,
           case when known.gained is not null then known.most end as at_most,
           case when known.gained is null then 'unknown' else known.quality end as quality
      from analytics.members_between(guild, from_time, to_time) member
     cross join (select analytics.member_field_unsent('contributed', from_time, to_time) offset 0) lacking(part)
      left join analytics.member_rise(guild, 'contributed', from_time, to_time, true, null) risen on risen.player_uuid = member.player_uuid
     cross join lateral (
       select case when member.is_answered and lacking.part is distinct from 'all' and risen.gained <= 2 ^ 53 then risen.gained end as gained,
              case when risen.at_most <= 2 ^ 53 then risen.at_most end as most, risen.quality) known
  )
  select rise.player_uuid, rise.username, rise.rank, rise.gained::bigint,
         -- A share of bounds is no share.
         case when bool_and(rise.quality in ('exact', 'clamped', 'reset')) over () then (rise.gained / nullif(sum(rise.gained) over (), 0))::real end,
         case when rise.gained is not null then rank() over (order by rise.gained desc nulls last)::int end,
         rise.quality, rise.at_most::bigint
    from rise
   order by rise.gained desc nulls last, rise.username collate "C";
end;
comment on function analytics.member_contribution(uuid, timestamptz, timestamptz) is
'What each member contributed in [from_time, to_time), across rejoining. quality: exact (responses as close as usual lie around both borders, and wherever the member came or went; a rise is dated by the response that shows it); at_least (they do not, or the member was there before the first response: only what is certainly within counts, and at_most is the most it can be, where that can be known); clamped (the counter dipped or jumped and came back: not counted twice); reset (it fell for good: counted anew from there); unknown (no response in that time shows it; contributed is NULL). share is NULL unless what all contributed is known.';
