-- What counters of members rose by, robust to all that counters do besides rising.
create or replace function analytics.member_rise(guild uuid, counter text, from_time timestamptz, to_time timestamptz, is_since_joining boolean)
returns table (player_uuid uuid, gained double precision, quality text)
language sql stable parallel safe
begin atomic
  with watched as (
    select min(observed_at) as since from game.guild_sample where guild_uuid = guild
  ), spell as materialized (
    -- A spell is the time under one `joined`: a returning member begins again, at 0 where it is counted since joining. Those
    -- that do not touch the interval have no rise in it.
    select version.player_uuid, version.joined, version.valid_from, version.valid_until
      from (select member.*, bool_or(member.valid_from < to_time and member.valid_until > from_time)
                               over (partition by member.player_uuid, member.joined) as is_touched
              from game.guild_member member where member.guild_uuid = guild) version
     where version.is_touched
  ), tier as (
    -- Where counters fell is materialized, except for the last hours.
    select coalesce(max(one.averaged_until), '-infinity') as until from sync.tier one where one.sample_table = 'game.member_counter'
  ), stay as materialized (
    select spell.player_uuid, spell.joined, min(spell.valid_from) as begins, max(spell.valid_until) as ends,
           sum(extract(epoch from least(spell.valid_until, '9999-01-01') - spell.valid_from))
             < extract(epoch from least(max(spell.valid_until), '9999-01-01') - min(spell.valid_from)) as is_broken
      from spell
     group by spell.player_uuid, spell.joined
  ), again as materialized (
    -- A sample is a change: a returning member with the same number has none, and yet it is known.
    select back.player_uuid, back.joined, back.begins, latest.value
      from (select stay.* from stay
             where exists (select from game.guild_member earlier
                            where earlier.guild_uuid = guild and earlier.player_uuid = stay.player_uuid
                              and earlier.valid_from < stay.begins)
            offset 0) back
     cross join lateral (select one.observed_at, one.value from game.member_counter one
                          where one.guild_uuid = guild and one.player_uuid = back.player_uuid
                            and one.counter = member_rise.counter and one.observed_at <= back.begins
                          order by one.observed_at desc limit 1) latest
     where latest.observed_at < back.begins and latest.value is not null
  ), uneven as materialized (
    -- A counter that never fell rose by the difference of two samples. Others are read sample by sample. Where one fell
    -- when a stay began, it started again with the stay.
    select stay.*
      from stay
     cross join tier
      left join lateral (
        select bool_or(late.value < late.previous) as fell
          from (select one.value, coalesce(lag(one.value) over (order by one.observed_at),
                                           -- Read only where there is something after it.
                                           (select before.value
                                              from (select latest.observed_at, latest.value from game.member_counter latest
                                                     where latest.guild_uuid = guild and latest.counter = member_rise.counter
                                                       and latest.player_uuid = stay.player_uuid and latest.value is not null
                                                       and latest.observed_at < tier.until
                                                     order by latest.observed_at desc limit 1) before
                                             where before.observed_at >= stay.begins)) as previous
                  from game.member_counter one
                 where one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = stay.player_uuid
                   and one.value is not null and one.observed_at >= greatest(stay.begins, tier.until) and one.observed_at < stay.ends
                 union all
                select later.value, again.value
                  from again
                 cross join lateral (select one.value from game.member_counter one
                                      where one.guild_uuid = guild and one.counter = member_rise.counter
                                        and one.player_uuid = stay.player_uuid and one.value is not null
                                        and one.observed_at >= stay.begins and one.observed_at < stay.ends
                                      order by one.observed_at limit 1) later
                 where again.player_uuid = stay.player_uuid and again.joined is not distinct from stay.joined) late
      ) recent on not stay.is_broken
     where stay.is_broken or recent.fell
        or exists (select from game.member_counter_dip dip
                    where dip.guild_uuid = guild and dip.counter = member_rise.counter and dip.player_uuid = stay.player_uuid
                      and dip.hour < tier.until and dip.fell_at > stay.begins and dip.hour < stay.ends)
  ), base as materialized (
    -- The last number before the interval is what its rises begin from, and all before it change nothing, in two cases: it is the
    -- highest until then and none after it is lower; or the counter began again after the last higher one.
    select uneven.player_uuid, uneven.joined, latest.observed_at, earlier.highest
      from (select * from uneven where not uneven.is_broken) uneven
     cross join tier
     cross join lateral (select one.observed_at, one.value from game.member_counter one
                          where one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = uneven.player_uuid
                            and one.value is not null and one.observed_at >= uneven.begins and one.observed_at < from_time
                          order by one.observed_at desc limit 1) latest
      left join lateral (select min(one.value) as lowest, max(one.value) as highest from game.member_counter one
                          where one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = uneven.player_uuid
                            and one.observed_at >= from_time and one.observed_at < uneven.ends) after on true
      left join lateral (
        -- The highest number before a lower one, and the last that is higher than it, are followed by a fall: they lie in an hour in which
        -- the counter fell, or are the last before such an hour, or what is not materialized yet begins with them.
        select max(one.value) as highest, (array_agg(one.value order by one.observed_at desc))[1] as last
          from (select again.begins as observed_at, again.value from again
                 where again.player_uuid = uneven.player_uuid and again.joined is not distinct from uneven.joined
                 union all
                select fallen.observed_at, fallen.value
                  from game.member_counter_dip dip
                 cross join lateral ((select near.observed_at, near.value from game.member_counter near
                                       where near.guild_uuid = guild and near.counter = member_rise.counter
                                         and near.player_uuid = uneven.player_uuid and near.value is not null
                                         and near.observed_at < dip.hour
                                       order by near.observed_at desc limit 1)
                                      union all
                                     select near.observed_at, near.value from game.member_counter near
                                      where near.guild_uuid = guild and near.counter = member_rise.counter
                                        and near.player_uuid = uneven.player_uuid
                                        and near.observed_at >= dip.hour and near.observed_at < dip.hour + interval '1 hour') fallen
                 where dip.guild_uuid = guild and dip.counter = member_rise.counter and dip.player_uuid = uneven.player_uuid
                   and dip.hour < from_time
                 union all
                (select near.observed_at, near.value from game.member_counter near
                  where near.guild_uuid = guild and near.counter = member_rise.counter and near.player_uuid = uneven.player_uuid
                    and near.value is not null and near.observed_at < tier.until
                  order by near.observed_at desc limit 1)
                 union all
                select near.observed_at, near.value from game.member_counter near
                 where near.guild_uuid = guild and near.counter = member_rise.counter and near.player_uuid = uneven.player_uuid
                   and near.observed_at >= tier.until and near.observed_at < from_time) one
         where one.observed_at >= uneven.begins and one.observed_at < latest.observed_at and one.value > latest.value) earlier on true
     where case when earlier.last is null then after.lowest is null or after.lowest >= latest.value
                else earlier.last > greatest(latest.value, after.highest) end
  ), known as materialized (
    select spell.player_uuid, spell.joined, counted.observed_at, counted.value, spell.highest_before
      from (select spell.*, base.observed_at as base, base.highest as highest_before from spell
              join uneven on uneven.player_uuid = spell.player_uuid and uneven.joined is not distinct from spell.joined
              left join base on base.player_uuid = spell.player_uuid and base.joined is not distinct from spell.joined) spell
     cross join lateral (select one.observed_at, one.value from game.member_counter one
                          where one.guild_uuid = guild and one.player_uuid = spell.player_uuid
                            and one.counter = member_rise.counter and one.value is not null
                            and one.observed_at >= greatest(spell.valid_from, spell.base) and one.observed_at < spell.valid_until
                         offset 0) counted
     union all
    select again.player_uuid, again.joined, again.begins, again.value, null
      from again
      join uneven on uneven.player_uuid = again.player_uuid and uneven.joined is not distinct from again.joined
     where not exists (select from base where base.player_uuid = again.player_uuid and base.joined is not distinct from again.joined)
  ), history as materialized (
    select known.*, lag(known.value) over (partition by known.player_uuid, known.joined order by known.observed_at) as previous
      from known
  ), sample as materialized (
    select history.*,
           greatest(history.highest_before,
                    max(history.value) over (spell_time rows between unbounded preceding and 1 preceding)) as highest,
           -- The highest of all that comes, from here on; backwards in time, because a frame that shrinks is counted anew each time.
           max(history.value) over (partition by history.player_uuid, history.joined order by history.observed_at desc
                                 rows between unbounded preceding and current row) as coming
      from history
    window spell_time as (partition by history.player_uuid, history.joined order by history.observed_at)
  ), segment as (
    -- When everything that follows is lower than what was, the counter began again.
    select sample.*, count(*) filter (where previous > coming)
                     over (partition by player_uuid, joined order by observed_at) as number
      from sample
  ), doubted as (
    -- A rise that a later response takes back (a doubled counter) counts only up to there. Rises above all before them touch each
    -- other, so a lower value later takes back the one rise that passed it: the last of those that began at it or below.
    select passed.player_uuid, passed.risen_at as observed_at, min(passed.value) as level
      from (select mark.player_uuid, mark.value, mark.risen_at is null as is_later,
                   max(mark.risen_at) over (partition by mark.player_uuid, mark.joined order by mark.value) as risen_at
              from (select sample.player_uuid, sample.joined, sample.highest as value, sample.observed_at as risen_at
                      from sample where sample.value > sample.highest
                     union all
                    select sample.player_uuid, sample.joined, sample.value, null from sample where sample.value < sample.highest) mark) passed
     where passed.is_later and passed.risen_at is not null
     group by passed.player_uuid, passed.risen_at
  ), bounded as (
    select segment.*, coalesce(doubted.level, segment.value) as level,
           max(segment.value) over (partition by segment.player_uuid, segment.joined, segment.number
                                     order by segment.observed_at rows between unbounded preceding and 1 preceding) as reached
      from segment
      left join doubted on doubted.player_uuid = segment.player_uuid and doubted.observed_at = segment.observed_at
  ), rise as (
    select bounded.player_uuid, bounded.observed_at,
           greatest(0, bounded.level - coalesce(
             max(bounded.level) over (partition by bounded.player_uuid, bounded.joined, bounded.number
                                       order by bounded.observed_at rows between unbounded preceding and 1 preceding),
             -- The first of a spell: all of it was made since joining, if it counts from there and was observed then.
             case when is_since_joining and bounded.number = 0 and bounded.joined >= watched.since then 0 else bounded.level end)) as gained,
           case when bounded.number = 0 and bounded.highest is null
                     and not coalesce(is_since_joining and bounded.joined >= watched.since, false) then 'partial'
                when bounded.previous > bounded.coming then 'reset'
                when bounded.value < bounded.reached or bounded.level < bounded.value then 'clamped'
                else 'exact' end as quality
      from bounded cross join watched
     union all
    select stay.player_uuid, latest.observed_at,
           greatest(0, latest.value - coalesce(known.before, case when first.is_whole then 0 else coalesce(again.value, earliest.value) end)),
           case when known.before is null and not first.is_whole then 'partial' else 'exact' end
      from (select * from stay
             where not exists (select from uneven
                                where uneven.player_uuid = stay.player_uuid and uneven.joined is not distinct from stay.joined)) stay
     cross join watched
      left join again on again.player_uuid = stay.player_uuid and again.joined is not distinct from stay.joined
     cross join lateral (select coalesce(is_since_joining and stay.joined >= watched.since, false) as is_whole) first
     cross join lateral ((select one.observed_at, one.value from game.member_counter one
                           where one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = stay.player_uuid
                             and one.value is not null and one.observed_at >= greatest(stay.begins, from_time)
                             and one.observed_at < least(stay.ends, to_time)
                           order by one.observed_at desc limit 1)
                          union all
                         select again.begins, again.value where again.begins >= from_time and again.begins < to_time
                          order by observed_at desc limit 1) latest
      left join lateral (select one.value from game.member_counter one
                          where one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = stay.player_uuid
                            and one.value is not null and one.observed_at >= stay.begins and one.observed_at < from_time
                          order by one.observed_at desc limit 1) before on true
     cross join lateral (select coalesce(before.value, case when again.begins < from_time then again.value end) as before) known
      left join lateral (select one.value from game.member_counter one
                          where one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = stay.player_uuid
                            and one.value is not null and one.observed_at >= greatest(stay.begins, from_time)
                          order by one.observed_at limit 1) earliest on known.before is null and not first.is_whole
  )
  select rise.player_uuid, sum(rise.gained),
         case when bool_or(rise.quality = 'reset') then 'reset'
              when bool_or(rise.quality = 'clamped') then 'clamped'
              when bool_or(rise.quality = 'partial') then 'partial' else 'exact' end
    from rise where rise.observed_at >= from_time and rise.observed_at < to_time
   group by rise.player_uuid;
end;
comment on function analytics.member_rise(uuid, text, timestamptz, timestamptz, boolean) is
'By how much a counter of each member of a guild rose in the responses of [from_time, to_time), and how sure that is: the basis of analytics.member_contribution and analytics.member_counter. is_since_joining: the counter begins at 0 when a member joins.';

create or replace function analytics.members_between(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (player_uuid uuid, username text, rank text, is_answered boolean)
language sql stable parallel safe
begin atomic
  select member.player_uuid, member.username, member.rank, answered.is_answered
    from (select distinct on (version.player_uuid) version.player_uuid, version.username, version.rank
            from analytics.membership version
           where version.guild_uuid = guild and version.valid_from < to_time and version.valid_until > from_time
           order by version.player_uuid, version.valid_from desc) member
   cross join (select exists (select from sync.observation
                               where resource = 'guilds' and key = guild::text
                                 and observed_at >= from_time and observed_at < to_time
                                 and status in ('ok', 'unchanged', 'partial')) as is_answered) answered;
end;
comment on function analytics.members_between(uuid, timestamptz, timestamptz) is
'Who was a member of a guild at some time in [from_time, to_time), with the last name and rank then, and whether any response about the guild lies in that time.';

create or replace function analytics.member_field_unsent(counter text, from_time timestamptz, to_time timestamptz)
returns text
language sql stable parallel safe
begin atomic
  select case when bool_or(span.last_sent_at <= from_time and coalesce(span.until_at, 'infinity') >= to_time) then 'all'
              when count(*) > 0 then 'some' end
    from sync.unsent span
    -- The counter is named by its path in the record, and a part of what is not sent is not sent.
    cross join lateral (select case when member_field_unsent.counter in ('contributed', 'contributionRank') or member_field_unsent.counter like 'weekly.%'
                                    then '' else '/globalData' end || '/' || replace(member_field_unsent.counter, '.', '/') as path) counted
   where span.resource = 'guilds' and span.last_sent_at < to_time and coalesce(span.until_at, 'infinity') > from_time
     and starts_with(counted.path || '/', replace(span.field, '/members/*/*', '') || '/') and starts_with(span.field, '/members/*/*');
end;
comment on function analytics.member_field_unsent(text, timestamptz, timestamptz) is
'Whether the API did not send a counter of guild members in [from_time, to_time): all of that time, some of it, or NULL. Arguments: counter, by its path in the record, such as contributed; from_time; to_time.';
