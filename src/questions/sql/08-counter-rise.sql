-- What each sample of a counter adds to the ones before it, robust to all that counters do besides rising.
create or replace function analytics.counter_steps(times timestamptz[], numbers double precision[], highest_before double precision, is_whole boolean)
returns table (observed_at timestamptz, gained double precision, quality text, together double precision, lowest double precision, highest double precision)
language sql immutable parallel safe
begin atomic
  with history as materialized (
    select known.observed_at, known.value, lag(known.value) over (order by known.observed_at) as previous
      from unnest(times, numbers) as known(observed_at, value)
  ), uneven as materialized (
    select coalesce(bool_or(history.value < history.previous or history.value < highest_before), false) as is_so from history
  ), sample as materialized (
    select history.*,
           greatest(highest_before, max(history.value) over (order by history.observed_at rows between unbounded preceding and 1 preceding)) as highest,
           -- The highest of all that comes, from here on; backwards in time, because a frame that shrinks is counted anew each time.
           max(history.value) over (order by history.observed_at desc rows between unbounded preceding and current row) as coming
      from history where (select uneven.is_so from uneven)
  ), segment as (
    -- When everything that follows is lower than what was, the counter began again.
    select sample.*, count(*) filter (where sample.previous > sample.coming) over (order by sample.observed_at) as number
      from sample
  ), doubted as (
    -- A rise that a later response takes back (a doubled counter) counts only up to there. Rises above all before them touch each
    -- other, so a lower value later takes back the one rise that passed it: the last of those that began at it or below.
    select passed.risen_at as observed_at, min(passed.value) as level
      from (select mark.value, mark.risen_at is null as is_later, max(mark.risen_at) over (order by mark.value) as risen_at
              from (select sample.highest as value, sample.observed_at as risen_at from sample where sample.value > sample.highest
                     union all
                    select sample.value, null from sample where sample.value < sample.highest) mark) passed
     where passed.is_later and passed.risen_at is not null
     group by passed.risen_at
  ), bounded as (
    select segment.*, coalesce(doubted.level, segment.value) as level
      from segment
      left join doubted on doubted.observed_at = segment.observed_at
  )
  select one.observed_at, one.gained, one.quality, one.together, one.together, one.together
    from (select even.observed_at, even.gained, 'exact' as quality, sum(even.gained) over (order by even.observed_at) as together
            -- One that never fell rose by the difference of two samples.
            from (select history.observed_at,
                         history.value - coalesce(history.previous, case when is_whole then 0 else history.value end) as gained
                    from history where not (select uneven.is_so from uneven)) even) one
   union all
  select counted.observed_at, counted.gained,
         case when counted.previous > counted.coming then 'reset'
              when counted.gained <> counted.value - counted.previous or counted.level < counted.value then 'clamped'
              else 'exact' end,
         counted.together, counted.lowest,
         -- In a dip: by what comes after it, because it may have risen in the dip.
         coalesce(min(counted.lowest) filter (where not counted.is_dip) over (partition by counted.number order by counted.observed_at desc), counted.lowest)
    from (select reached.*,
                 first_value(reached.together) over own + max(reached.value) over own - first_value(reached.value) over own as lowest,
                 reached.value < max(reached.value) over own as is_dip
            from (select risen.*, sum(risen.gained) over (order by risen.observed_at) as together
            from (select bounded.*,
                         -- What a rise lost that was taken back is in no later one: none is more than the difference of two samples.
                         least(case when bounded.previous is not null then greatest(0, bounded.value - bounded.previous) end,
                               greatest(0, bounded.level - coalesce(
                                 max(bounded.level) over (partition by bounded.number order by bounded.observed_at rows between unbounded preceding and 1 preceding),
                                 -- The first of all: all of it was made since the counter began, where that is known.
                                 case when is_whole and bounded.number = 0 then 0 else bounded.level end))) as gained
                    from bounded) risen) reached
          window own as (partition by reached.number order by reached.observed_at)) counted;
end;
comment on function analytics.counter_steps(timestamptz[], double precision[], double precision, boolean) is
'By how much each sample of a counter is above the ones before it, each rise once. quality: clamped (a dip or a jump that came back), reset (it began again), else exact. together: all rises until then; lowest and highest: the same at least and at most, where all that was lower than before is a dip. So from one sample to another it rose by at least the difference of together, and that of lowest and highest, whichever is less. Arguments: times of the samples, in order; their numbers; highest_before, the highest number before them; is_whole: the counter began at 0.';

-- What counters of members rose by, robust to all that counters do besides rising.
create or replace function analytics.member_rise(guild uuid, counter text, from_time timestamptz, to_time timestamptz, is_since_joining boolean, player uuid)
returns table (player_uuid uuid, gained double precision, at_most double precision, quality text)
language sql stable parallel safe
begin atomic
  with period as materialized (
    select begun.before_at as known_at, begun.after_at as inside_from, begun.is_watched as is_begun, ended.after_at as known_until,
           begun.is_watched and ended.is_watched as is_watched
      from (select range_agg(tstzrange(span.last_sent_at, span.until_at, '()')) as at from analytics.counter_unsent('member', counter) span) lacking
     cross join lateral analytics.counter_border('guilds', guild::text, 'game.member_counter', lacking.at, from_time) begun
     cross join lateral analytics.counter_border('guilds', guild::text, 'game.member_counter', lacking.at, to_time) ended
  ), doubted as materialized (
    select split_part(claim.subject, '/', 2)::uuid as player_uuid, min(claim.first_at) as first_at
      from sync.claim claim
     where claim.resource = 'guilds/members' and claim.kind = 'joined' and starts_with(claim.subject, guild::text || '/')
     group by claim.subject
  ), spell as materialized (
    -- A spell is the time under one `joined`: a returning member begins again, at 0 where it is counted since joining. Those
    -- that do not touch the interval have no rise in it. One without `joined` goes on where the next version says that it began before.
    select version.player_uuid, version.joined, version.valid_from, version.valid_until
      from (select member.*, bool_or(member.valid_from <= to_time and member.valid_until > from_time)
                               over (partition by member.player_uuid, member.joined) as is_touched
              from (select version.player_uuid, version.valid_from,
                           -- What a response shows whose other `joined` is not believed yet is of this stay, or of one after it.
                           greatest(version.valid_from, least(version.valid_until, doubted.first_at)) as valid_until,
                           case when version.joined is not null then version.joined
                                when lead(version.valid_from) over own = version.valid_until
                                 and lead(version.joined) over own <= version.valid_from then lead(version.joined) over own end as joined
                      from game.guild_member version
                      left join doubted on doubted.player_uuid = version.player_uuid and version.valid_until > doubted.first_at
                     where version.guild_uuid = guild and (player is null or version.player_uuid = player)
                    window own as (partition by version.player_uuid order by version.valid_from)) member) version
     where version.is_touched
  ), tier as (
    -- Where counters fell is materialized, except for the last hours.
    select coalesce(max(one.averaged_until), '-infinity') as until, coalesce(max(one.fine_since), '-infinity') as fine_since
      from sync.tier one where one.sample_table = 'game.member_counter'
  ), spent as materialized (
    select spell.player_uuid, spell.joined, min(spell.valid_from) as begins, max(spell.valid_until) as ends,
           sum(extract(epoch from least(spell.valid_until, '9999-01-01') - spell.valid_from))
             < extract(epoch from least(max(spell.valid_until), '9999-01-01') - min(spell.valid_from)) as is_broken
      from spell
     group by spell.player_uuid, spell.joined
  ), unsent as materialized (
    select span.last_sent_at, span.until_at from analytics.counter_unsent('member', counter) span
  ), again as materialized (
    -- A sample is a change: a returning member with the same number has none, and yet it is known. Of older days not all changes are left.
    select back.player_uuid, back.joined, back.begins, latest.value
      from (select spent.* from spent
             where spent.begins >= (select tier.fine_since from tier)
               and exists (select from game.guild_member earlier
                            where earlier.guild_uuid = guild and earlier.player_uuid = spent.player_uuid
                              and earlier.valid_from < spent.begins)
            offset 0) back
     cross join lateral (select one.observed_at, one.value from game.member_counter one
                          where one.guild_uuid = guild and one.player_uuid = back.player_uuid
                            and one.counter = member_rise.counter and one.observed_at <= back.begins
                          order by one.observed_at desc limit 1) latest
     where latest.observed_at < back.begins and latest.value is not null
       and not exists (select from unsent where unsent.last_sent_at < back.begins and unsent.until_at > back.begins)
  ), edge as materialized (
    -- Where a stay begins or ends between responses that lie far apart, another one may lie before or after it.
    select moment.at,
           coalesce(moment.at >= tier.fine_since
                    and extract(epoch from moment.at) - extract(epoch from near.before_at) <= greatest(300, least(21600, coalesce(2 * near.every, 3600)))
                    and not exists (select from unsent where unsent.last_sent_at < near.before_at and unsent.until_at > near.before_at),
                    false) as is_watched
      from (select spent.begins as at from spent cross join period where spent.begins > period.inside_from and spent.begins <= to_time
             union
            select spent.ends from spent where spent.ends <= to_time and spent.ends < 'infinity') moment
     cross join tier
     cross join lateral (
       -- As in counter_border, by the responses before it alone: there may be many.
       select max(step.observed_at) as before_at, percentile_disc(0.5) within group (order by step.seconds) as every
         from (select last.observed_at, extract(epoch from last.observed_at - lag(last.observed_at) over (order by last.observed_at)) as seconds
                 from (select one.observed_at from sync.observation one
                        where one.resource = 'guilds' and one.key = guild::text and one.status in ('ok', 'unchanged', 'partial')
                          and one.observed_at < moment.at
                        order by one.observed_at desc limit 5) last) step) near
  ), started as materialized (
    -- A member's own NULL: the API did not list the counter of this one from then on.
    select spent.*, again.value as again, last.observed_at as last_at, last.value as last_value,
           case when not coalesce(whole.is_unlisted, false)
                then coalesce(whole.value, sent.value, case when again.begins <= from_time then again.value end) end as before,
           coalesce(whole.value, sent.value, case when again.begins <= from_time then again.value end) as before_sent,
           coalesce(whole.is_unlisted, false) as was_unlisted, coalesce(last.is_unlisted, false) as is_unlisted, coalesce(last.is_unlisted and last.observed_at <= from_time, false) as is_never_listed,
           coalesce(is_since_joining and spent.joined >= from_time, false) as is_within,
           coalesce(is_since_joining and spent.joined >= case when period.is_begun then period.known_at else from_time end, false) as is_new,
           coalesce(entered.is_watched, true) and coalesce(gone.is_watched, true)
             and not exists (select from doubted where doubted.player_uuid = spent.player_uuid and doubted.first_at <= to_time) as is_bounded
      from spent
     cross join period
      left join again on again.player_uuid = spent.player_uuid and again.joined is not distinct from spent.joined
      left join edge entered on entered.at = spent.begins and spent.begins > period.inside_from
      left join edge gone on gone.at = spent.ends
      left join lateral (select one.observed_at, one.value, one.value is null
                                and not exists (select from unsent where unsent.last_sent_at < one.observed_at and unsent.until_at > one.observed_at) as is_unlisted
                           from game.member_counter one
                          where one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = spent.player_uuid
                            and one.observed_at >= spent.begins and one.observed_at < spent.ends and one.observed_at <= from_time
                          order by one.observed_at desc limit 1) whole on true
      left join lateral (select one.value from game.member_counter one
                          where whole.observed_at is not null and whole.value is null
                            and one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = spent.player_uuid
                            and one.value is not null and one.observed_at >= spent.begins and one.observed_at <= whole.observed_at
                          order by one.observed_at desc limit 1) sent on true
      left join lateral (select one.observed_at, one.value, one.value is null
                                and not exists (select from unsent where unsent.last_sent_at < one.observed_at and unsent.until_at > one.observed_at) as is_unlisted
                           from game.member_counter one
                          where one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = spent.player_uuid
                            and one.observed_at >= spent.begins and one.observed_at < spent.ends and one.observed_at <= to_time
                          order by one.observed_at desc limit 1) last on true
  ), sure as materialized (
    select started.*,
           bool_and(period.is_watched and started.is_bounded and not started.is_unlisted and (started.before is not null or started.is_new))
             over (partition by started.player_uuid) as is_sure,
           -- Who was a member when the period began was no member of another stay before. Who came later may have had one that no response shows.
           bool_or(coalesce(started.joined <= from_time or period.is_begun and started.begins <= period.known_at, false))
             over (partition by started.player_uuid) as is_whole_time
      from started cross join period
  ), stay as materialized (
    -- What a response shows is dated by it where another one lies close before the border; else by the first one within.
    select sure.*, case when sure.is_sure then sure.is_new else sure.is_within end as is_whole,
           case when sure.is_sure or sure.is_within then from_time else coalesce(period.inside_from, 'infinity') end as since
      from sure cross join period
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
                            and one.value is not null and one.observed_at >= uneven.begins and one.observed_at <= uneven.since
                          order by one.observed_at desc limit 1) latest
      left join lateral (select min(one.value) as lowest, max(one.value) as highest from game.member_counter one
                          where one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = uneven.player_uuid
                            and one.observed_at > uneven.since and one.observed_at < uneven.ends) after on true
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
                   and dip.hour <= uneven.since
                 union all
                (select near.observed_at, near.value from game.member_counter near
                  where near.guild_uuid = guild and near.counter = member_rise.counter and near.player_uuid = uneven.player_uuid
                    and near.value is not null and near.observed_at < tier.until
                  order by near.observed_at desc limit 1)
                 union all
                select near.observed_at, near.value from game.member_counter near
                 where near.guild_uuid = guild and near.counter = member_rise.counter and near.player_uuid = uneven.player_uuid
                   and near.observed_at >= tier.until and near.observed_at <= uneven.since) one
         where one.observed_at >= uneven.begins and one.observed_at < latest.observed_at and one.value > latest.value) earlier on true
     where case when earlier.last is null then after.lowest is null or after.lowest >= latest.value
                else earlier.last > greatest(latest.value, after.highest) end
  ), known as materialized (
    select spell.player_uuid, spell.joined, spell.is_whole, spell.since, counted.observed_at, counted.value, spell.highest_before
      from (select spell.*, uneven.is_whole, uneven.since, base.observed_at as base, base.highest as highest_before from spell
              join uneven on uneven.player_uuid = spell.player_uuid and uneven.joined is not distinct from spell.joined
              left join base on base.player_uuid = spell.player_uuid and base.joined is not distinct from spell.joined) spell
     cross join lateral (select one.observed_at, one.value from game.member_counter one
                          where one.guild_uuid = guild and one.player_uuid = spell.player_uuid
                            and one.counter = member_rise.counter and one.value is not null
                            and one.observed_at >= greatest(spell.valid_from, spell.base) and one.observed_at < spell.valid_until
                         offset 0) counted
     union all
    select again.player_uuid, again.joined, uneven.is_whole, uneven.since, again.begins, again.value, null
      from again
      join uneven on uneven.player_uuid = again.player_uuid and uneven.joined is not distinct from again.joined
     where not exists (select from base where base.player_uuid = again.player_uuid and base.joined is not distinct from again.joined)
  ), rise as (
    select series.player_uuid, series.joined, risen.observed_at, risen.gained, risen.quality, risen.lowest, risen.highest,
           risen.observed_at <= series.since as is_before, risen.observed_at > series.since and risen.observed_at <= to_time as is_inside
      from (select known.player_uuid, known.joined, known.is_whole, known.since, max(known.highest_before) as highest_before,
                   array_agg(known.observed_at order by known.observed_at) as times, array_agg(known.value order by known.observed_at) as numbers
              from known group by known.player_uuid, known.joined, known.is_whole, known.since) series
     cross join lateral analytics.counter_steps(series.times, series.numbers, series.highest_before, series.is_whole) risen
  ), risen as (
    -- Of counters that fell, the most that they can have risen by is not known.
    select stay.player_uuid, stay.joined,
           case when count(rise.gained) = 0 or bool_or(stay.was_unlisted) then null
                when bool_and(stay.is_sure) then coalesce(sum(rise.gained) filter (where rise.is_inside), 0)
                else greatest(0, least(coalesce(sum(rise.gained) filter (where rise.is_inside), 0),
                                       (array_agg(rise.lowest order by rise.observed_at desc) filter (where rise.is_before or rise.is_inside))[1]
                                       - coalesce((array_agg(rise.highest order by rise.observed_at desc) filter (where rise.is_before))[1], 0)))
                end as gained, null::double precision as at_most,
           case when bool_or(rise.is_inside and rise.quality = 'reset') then 'reset'
                when bool_or(rise.is_inside and rise.quality = 'clamped') then 'clamped' else 'exact' end as quality
      from uneven stay
      left join rise on rise.player_uuid = stay.player_uuid and rise.joined is not distinct from stay.joined
     group by stay.player_uuid, stay.joined
     union all
    select stay.player_uuid, stay.joined,
           case when not stay.is_never_listed
                then greatest(0, latest.value - coalesce(base.value, case when stay.is_whole then 0 else coalesce(stay.again, earliest.value) end)) end,
           case when stay.is_whole_time and stay.is_bounded and stay.begins <= period.known_until and stay.ends > period.known_until
                 and not stay.is_unlisted
                then most.value - coalesce(stay.before_sent, case when is_since_joining then 0 end) end,
           'exact'
      from (select * from stay
             where not exists (select from uneven
                                where uneven.player_uuid = stay.player_uuid and uneven.joined is not distinct from stay.joined)) stay
     cross join period
      -- The last sample was looked up before; another one is, where that is NULL. A condition of what is looked up stands with it, not with the
      -- join, which would look first.
      left join lateral (select stay.last_at as observed_at, stay.last_value as value where stay.last_value is not null
                          union all
                         (select one.observed_at, one.value from game.member_counter one
                           where stay.last_at is not null and stay.last_value is null
                             and one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = stay.player_uuid
                             and one.value is not null and one.observed_at >= stay.begins
                             and one.observed_at < stay.ends and one.observed_at <= to_time
                           order by one.observed_at desc limit 1)
                          union all
                         select stay.begins, stay.again where stay.again is not null and stay.begins <= to_time
                          order by observed_at desc limit 1) latest on true
      left join lateral (select one.value from game.member_counter one
                          where stay.since > from_time
                            and one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = stay.player_uuid
                            and one.value is not null and one.observed_at >= stay.begins and one.observed_at < stay.ends
                            and one.observed_at > from_time and one.observed_at <= stay.since
                          order by one.observed_at desc limit 1) later on true
     cross join lateral (select coalesce(later.value, stay.before, case when stay.begins <= stay.since and not stay.was_unlisted then stay.again end) as value) base
      left join lateral (select one.value from game.member_counter one
                          where base.value is null and not stay.is_whole
                            and one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = stay.player_uuid
                            and one.value is not null and one.observed_at >= stay.begins and one.observed_at < stay.ends
                            and one.observed_at > stay.since
                          order by one.observed_at limit 1) earliest on true
      left join lateral (select one.value from game.member_counter one
                          where not stay.is_sure
                            and one.guild_uuid = guild and one.counter = member_rise.counter and one.player_uuid = stay.player_uuid
                            and one.value is not null and one.observed_at >= stay.begins and one.observed_at <= period.known_until
                          order by one.observed_at desc limit 1) most on true
  ), shown as (
    select stay.player_uuid, stay.is_sure, risen.gained, risen.at_most, risen.quality,
           stay.is_sure or stay.begins <= to_time and stay.ends > coalesce(period.inside_from, 'infinity') as is_shown
      from stay
     cross join period
      join risen on risen.player_uuid = stay.player_uuid and risen.joined is not distinct from stay.joined
  )
  select shown.player_uuid, sum(shown.gained) filter (where shown.is_shown),
         case when not bool_and(shown.is_sure) then case when count(*) = count(shown.at_most) then sum(shown.at_most) end
              when bool_and(shown.quality = 'exact') then sum(shown.gained) end,
         case when count(shown.gained) filter (where shown.is_shown) = 0 then 'unknown'
              when not bool_and(shown.is_sure) then 'at_least'
              when bool_or(shown.quality = 'reset') then 'reset'
              when bool_or(shown.quality = 'clamped') then 'clamped' else 'exact' end
    from shown group by shown.player_uuid;
end;
comment on function analytics.member_rise(uuid, text, timestamptz, timestamptz, boolean, uuid) is
'By how much a counter of each member of a guild rose in [from_time, to_time), at least and at most, and how sure that is: the basis of analytics.member_contribution and analytics.member_counter. NULL where no response in that time shows the counter. is_since_joining: the counter begins at 0 when a member joins; player: of that one alone, NULL for all.';

create or replace function analytics.members_between(guild uuid, from_time timestamptz, to_time timestamptz)
returns table (player_uuid uuid, username text, rank text, is_answered boolean)
language sql stable parallel safe
begin atomic
  select member.player_uuid, member.username, member.rank, answered.is_answered
    from (select distinct on (version.player_uuid) version.player_uuid, version.username, version.rank
            from analytics.membership version
           -- Not by the index of when versions began, which has those of all guilds.
           where version.guild_uuid = guild and coalesce(version.valid_from <= to_time, false) and version.valid_until > from_time
           order by version.player_uuid, version.valid_from desc) member
   cross join (select exists (select from sync.observation
                               where resource = 'guilds' and key = guild::text
                                 and observed_at >= from_time and observed_at <= to_time
                                 and status in ('ok', 'unchanged', 'partial')) as is_answered) answered;
end;
comment on function analytics.members_between(uuid, timestamptz, timestamptz) is
'Who was a member of a guild at some time from from_time to to_time, with the last name and rank then, and whether any response about the guild lies in that time.';

-- Those of former versions had other arguments.
drop function if exists analytics.counter_border(uuid, text, timestamptz);
drop function if exists analytics.counter_unsent(text);
