-- Of a year there may be hundreds of thousands of holds: what is not the most for certain is left out by numbers of whole days, before anything is sorted.
create or replace view analytics.territory_record as
with watched as materialized (
  select min(run.observed_at) as first_at, max(run.observed_at) as last_at
    from sync.run where run.resource = 'territories' and run.status in ('ok', 'unchanged', 'partial')
), gap as materialized (
  select gaps.begins, gaps.ends from analytics.territory_gaps('-infinity', 'infinity') gaps
), taken as (
  select 'most captures in a day' as record, null::text as territory, most.guild_uuid, shown.captures, most.day as from_time,
         most.day + interval '24 hours' as to_time, shown.is_whole and shown.captures = most.captures as is_exact,
         case when shown.is_whole then most.captures end as at_most
    from (select capture.to_guild_uuid as guild_uuid, date_bin('1 day', capture.captured_at, timestamptz 'epoch') as day, count(*) as captures
            from game.territory_capture capture group by 1, 2
           order by 3 desc, 2, 1 limit 100) most
   cross join watched
   cross join lateral (select min(run.observed_at) as observed_at from sync.run
                        where run.resource = 'territories' and run.status in ('ok', 'unchanged', 'partial') and run.observed_at >= most.day) first
   cross join lateral (
     -- Without a time of the game it is from some time since the response before, which may lie in the day before.
     select count(*) filter (where capture.captured_at <> first.observed_at
                                   or exists (select from game.territory_hold hold where hold.territory = capture.territory
                                                 and hold.valid_from = capture.held_from and hold.acquired is not null)) as captures,
            most.day >= watched.first_at and most.day + interval '24 hours' <= watched.last_at
            and not exists (select from sync.gap missed where missed.resource = 'territories'
                                   and missed.began_at < most.day + interval '24 hours' and missed.ended_at > most.day) as is_whole
       from game.territory_capture capture
      where capture.to_guild_uuid = most.guild_uuid and capture.captured_at >= most.day
        and capture.captured_at < most.day + interval '24 hours') shown
   where shown.captures > 0
   order by shown.captures desc, most.day, most.guild_uuid limit 1
), longest as (
  select 'longest confirmed hold' as record, hold.territory, hold.guild_uuid, date_part('epoch', shown.until) - date_part('epoch', hold.valid_from) as seconds,
         hold.valid_from as from_time, shown.until as to_time, shown.until = hold.valid_until as is_exact,
         date_part('epoch', nullif(hold.valid_until, 'infinity')) - date_part('epoch', hold.valid_from) as at_most
    -- What ended in a gap was confirmed for less, which is so for at most all places and gap.
    from (select one.territory, one.guild_uuid, one.valid_from, one.valid_until, one.observed_at
            from game.territory_hold one cross join watched
           where one.guild_uuid is not null
           order by least(one.valid_until, coalesce(watched.last_at, now())) - one.valid_from desc, one.valid_from
           limit 5000) hold
   cross join lateral (select analytics.territory_end_seen(hold.territory, hold.valid_until) as at offset 0) seen
   cross join lateral (select least(seen.at, min(unread.from_at)) as at from sync.unread
                        where unread.resource = 'territories/holds' and unread.key = hold.territory and unread.from_at < seen.at
                          and coalesce(unread.until_at, 'infinity') >= seen.at offset 0) ended
   cross join lateral (select least(hold.valid_until, greatest(hold.observed_at, (
                                select run.observed_at from sync.run
                                 where run.resource = 'territories' and run.status in ('ok', 'unchanged', 'partial')
                                   and run.observed_at < ended.at
                                 order by run.observed_at desc nulls last limit 1))) as until
                       offset 0) shown
   order by seconds desc, hold.valid_from, hold.territory collate "C" limit 1
), cut as materialized (
  -- Holds of whose last time nothing is known.
  select hold.guild_uuid, hold.valid_from, hold.valid_until,
         greatest(hold.valid_from, analytics.territory_unknown_from(hold.valid_until, gap.begins, gap.ends)) as until
    from gap join game.territory_hold hold
      on hold.guild_uuid is not null and hold.valid_until > analytics.territory_unknown_from(hold.valid_until, gap.begins, gap.ends)
   where gap.begins is not null
), moved as materialized (
  select of_day.guild_uuid, sum(of_day.won) as won, sum(of_day.more) as more,
         sum(sum(of_day.more)) over (partition by of_day.guild_uuid order by of_day.day) as held
    from (select hold.guild_uuid, date_bin('1 day', hold.valid_from, timestamptz 'epoch') as day, count(*) as won, count(*) as more
            from game.territory_hold hold where hold.guild_uuid is not null group by 1, 2
           union all
          select hold.guild_uuid, date_bin('1 day', hold.valid_until, timestamptz 'epoch'), 0, - count(*)
            from game.territory_hold hold where hold.guild_uuid is not null and hold.valid_until < 'infinity' group by 1, 2
           union all
          select cut.guild_uuid, date_bin('1 day', change.at, timestamptz 'epoch'), 0, change.more
            from cut cross join lateral (values (cut.valid_until, 1), (cut.until, -1)) as change(at, more)
           where change.at < 'infinity') of_day
   group by of_day.guild_uuid, of_day.day
), likely as materialized (
  -- Guilds that can have had more in a day than the most that any had when one ended.
  select distinct moved.guild_uuid from moved
   where moved.held - moved.more + moved.won >= (select max(moved.held) from moved)
), change as materialized (
  select hold.guild_uuid, hold.valid_from as at, 1 as won, 1 as more
    from likely join game.territory_hold hold on hold.guild_uuid = likely.guild_uuid
   union all
  select hold.guild_uuid, hold.valid_until, 0, -1
    from likely join game.territory_hold hold on hold.guild_uuid = likely.guild_uuid where hold.valid_until < 'infinity'
   union all
  select cut.guild_uuid, change.at, 0, change.more
    from likely join cut on cut.guild_uuid = likely.guild_uuid
   cross join lateral (values (cut.valid_until, 1), (cut.until, -1)) as change(at, more)
   where change.at < 'infinity'
), of_hour as materialized (
  select change.guild_uuid, date_bin('1 hour', change.at, timestamptz 'epoch') as hour, sum(change.won) as won, sum(change.more) as more,
         sum(sum(change.more)) over (partition by change.guild_uuid order by date_bin('1 hour', change.at, timestamptz 'epoch')) as held
    from change group by 1, 2
), empire as materialized (
  select 'largest empire' as record, most.guild_uuid, most.held, most.at as from_time
    from (select change.guild_uuid, change.at,
                 of_hour.held - of_hour.more + sum(change.more) over (partition by change.guild_uuid, of_hour.hour order by change.at) as held
            -- The same for hours: what is left is sorted.
            from (select * from of_hour where of_hour.held - of_hour.more + of_hour.won >= (select max(of_hour.held) from of_hour)) of_hour
            join change on change.guild_uuid = of_hour.guild_uuid
                       and date_bin('1 hour', change.at, timestamptz 'epoch') = of_hour.hour) most
   order by most.held desc, most.at, most.guild_uuid limit 1
), contested as (
  select 'most contested place' as record, capture.territory, count(*) as captures, min(capture.captured_at) as from_time, max(capture.captured_at) as to_time
    from game.territory_capture capture group by capture.territory
   order by count(*) desc, capture.territory collate "C" limit 1
)
select found.record, found.territory, found.guild_uuid, named.guild_name, found.value::double precision as value, found.from_time, found.to_time,
       case when found.is_exact then 'exact' else 'at_least' end as quality,
       case when found.is_exact then found.value else found.at_most end::double precision as at_most
  from (select 1 as nth, taken.record, taken.territory, taken.guild_uuid, taken.captures as value, taken.from_time, taken.to_time, taken.is_exact, taken.at_most
          from taken
         union all
        select 2, longest.record, longest.territory, longest.guild_uuid, longest.seconds, longest.from_time, longest.to_time, longest.is_exact, longest.at_most
          from longest
         union all
        select 3, empire.record, null, empire.guild_uuid, empire.held, empire.from_time, coalesce(next.at, watched.last_at),
               unknown.places = 0, empire.held + unknown.places
          from empire cross join watched
         cross join lateral (select count(*) as places from cut where cut.until <= empire.from_time and cut.valid_until > empire.from_time) unknown
          -- Until it won or lost one.
         cross join lateral (select min(change.at) as at from change
                              where change.guild_uuid = empire.guild_uuid and change.at > empire.from_time) next
         union all
        select 4, contested.record, contested.territory, null, contested.captures, contested.from_time, contested.to_time,
               contested.from_time >= watched.first_at
               and not exists (select from sync.gap missed where missed.resource = 'territories'), null
          from contested cross join watched) found
  left join lateral (select hold.guild_name from game.territory_hold hold
                      where hold.guild_uuid = found.guild_uuid and hold.valid_from <= found.to_time
                      order by hold.valid_from desc limit 1) named on true
 order by found.nth;
comment on view analytics.territory_record is 'Records of the map, by what responses show and the clock of the game says; of equal ones the first. Two captures of a place between two responses show as one, and what happened in gaps is in no record. quality: exact (no response was missing of that time), at_least (some were, or the game did not say when it was captured).';
comment on column analytics.territory_record.record is 'most captures in a day (UTC, by one guild), longest confirmed hold, largest empire (territories at one instant) or most contested place.';
comment on column analytics.territory_record.territory is 'The territory; NULL where the record is of a guild alone.';
comment on column analytics.territory_record.guild_uuid is 'The guild; NULL where the record is of a territory alone.';
comment on column analytics.territory_record.guild_name is 'Name of that guild then.';
comment on column analytics.territory_record.value is 'How much is certain: captures, seconds held, territories, captures.';
comment on column analytics.territory_record.from_time is 'When it began: the day, the hold, the size, the first capture.';
comment on column analytics.territory_record.to_time is 'Until when: the end of the day, the last response that showed the hold, the next change of the size, the last capture.';
comment on column analytics.territory_record.quality is 'exact or at_least.';
comment on column analytics.territory_record.at_most is 'The most it can be, of that day, hold or instant; NULL where that is not known.';
