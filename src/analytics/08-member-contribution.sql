create or replace function analytics.member_contribution(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (player_uuid uuid, username text, rank text, contributed bigint, share real, "position" int, quality text)
language sql stable parallel safe
begin atomic
  with membership as (
    select member.player_uuid, member.username, member.rank, member.joined, member.valid_from, member.valid_until
      from game.guild_member member
     where member.guild_uuid = guild and member.valid_from < to_time and member.valid_until > from_time
  ), watched as (
    select min(observed_at) as since from game.guild_sample where guild_uuid = guild
  ), sample as (
    -- A spell is the time under one `joined`: who comes back begins again at 0.
    select counter.player_uuid, counter.observed_at, counter.value, spell.joined,
           lag(counter.value) over spell_time as previous,
           max(counter.value) over (spell_time rows between unbounded preceding and 1 preceding) as highest,
           max(counter.value) over (spell_time rows between current row and unbounded following) as coming,
           min(counter.value) over (spell_time rows between 1 following and unbounded following) as lowest
      from game.member_counter counter
     cross join lateral (select member.joined from game.guild_member member
                          where member.guild_uuid = guild and member.player_uuid = counter.player_uuid
                            and member.valid_from <= counter.observed_at and counter.observed_at < member.valid_until) spell
     where counter.guild_uuid = guild and counter.counter = 'contributed' and counter.value is not null
    window spell_time as (partition by counter.player_uuid, spell.joined order by counter.observed_at)
  ), segment as (
    -- When everything that follows is lower than what was, the counter began again.
    select sample.*, count(*) filter (where previous > coming)
                     over (partition by player_uuid, joined order by observed_at) as number
      from sample
  ), believed as (
    -- A rise that a later answer takes back down to (a doubled counter) is believed only up to there.
    select segment.*,
           coalesce((select min(later.value) from segment later
                      where segment.lowest < segment.value and later.player_uuid = segment.player_uuid and later.joined is not distinct from segment.joined
                        and later.observed_at > segment.observed_at
                        and later.value >= segment.highest and later.value < segment.value), segment.value) as level
      from segment
  ), rise as (
    select believed.player_uuid, believed.observed_at,
           greatest(0, believed.level - coalesce(
             max(believed.level) over (partition by believed.player_uuid, believed.joined, believed.number
                                       order by believed.observed_at rows between unbounded preceding and 1 preceding),
             -- The first of a spell: all of it was contributed since joining, if we were watching then.
             case when believed.number = 0 and believed.joined >= watched.since then 0 else believed.level end)) as gained,
           case when believed.number = 0 and believed.highest is null
                     and not coalesce(believed.joined >= watched.since, false) then 'partial'
                when believed.previous > believed.coming then 'reset'
                when believed.value < believed.highest or believed.level < believed.value then 'clamped'
                else 'exact' end as quality
      from believed cross join watched
  ), total as (
    select rise.player_uuid, sum(rise.gained) as gained,
           case when bool_or(rise.quality = 'reset') then 'reset'
                when bool_or(rise.quality = 'clamped') then 'clamped'
                when bool_or(rise.quality = 'partial') then 'partial' else 'exact' end as quality
      from rise where rise.observed_at >= from_time and rise.observed_at < to_time
     group by rise.player_uuid
  ), answered as (
    select exists (select from sync.observation
                    where resource = 'guilds' and key = guild::text and observed_at >= from_time and observed_at < to_time
                      and status in ('ok', 'unchanged', 'partial')) as is_known
  ), member as (
    select distinct on (membership.player_uuid) membership.player_uuid, membership.username, membership.rank
      from membership order by membership.player_uuid, membership.valid_from desc
  )
  select member.player_uuid, member.username, member.rank,
         case when answered.is_known then coalesce(total.gained, 0)::bigint end,
         (coalesce(total.gained, 0) / nullif(sum(total.gained) over (), 0))::real,
         rank() over (order by coalesce(total.gained, 0) desc)::int,
         case when answered.is_known then coalesce(total.quality, 'exact') else 'unknown' end
    from member left join total on total.player_uuid = member.player_uuid cross join answered
   order by 6, member.username;
end;
comment on function analytics.member_contribution(uuid, timestamptz, timestamptz) is
'What each member contributed in [from_time, to_time): every rise that an answer shows once, across rejoining. quality: exact; partial (the member was there before we watched, so only what came after the first answer counts); clamped (the counter dipped or jumped and came back: not counted twice); reset (it fell for good: counted anew from there); unknown (no answer about the guild in that time, contributed is NULL).';
