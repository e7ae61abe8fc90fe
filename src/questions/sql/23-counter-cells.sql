-- Members come and go, and what they contributed counts from when they joined.
create or replace function analytics.member_cells(guild uuid, player uuid, counter text, begins timestamptz[], ends timestamptz[])
returns table (nth bigint, gained double precision, at_most double precision, quality text)
language plpgsql stable parallel safe set jit = off set plan_cache_mode = force_generic_plan as $$
begin
  -- To plan it takes longer than to run it: once a session is enough.
  return query
  select cell.nth, risen.gained, risen.at_most, risen.quality
    from unnest(begins, ends) with ordinality as cell(begins, ends, nth)
   cross join lateral analytics.member_rise(guild, counter, cell.begins, cell.ends, counter = 'contributed', player) risen;
end
$$;
comment on function analytics.member_cells(uuid, uuid, text, timestamptz[], timestamptz[]) is
'What analytics.member_rise says of one member and each cell [begins, ends). Arguments: guild; player; counter; begins and ends of the cells.';

-- To begin with a member takes longer than what follows: many are asked of in one statement.
create or replace function analytics.members_gained(guilds uuid[], players uuid[], counter text, from_time timestamptz, to_time timestamptz)
returns table (nth bigint, gained double precision, at_most double precision, quality text)
language plpgsql stable parallel safe set jit = off set plan_cache_mode = force_generic_plan as $$
begin
  return query
  select one.nth, risen.gained, risen.at_most, risen.quality
    from unnest(guilds, players) with ordinality as one(guild, player, nth)
   cross join lateral analytics.member_rise(one.guild, counter, from_time, to_time, counter = 'contributed', one.player) risen;
end
$$;
comment on function analytics.members_gained(uuid[], uuid[], text, timestamptz, timestamptz) is
'What analytics.member_rise says of each of some members. Arguments: guilds and players, of the members; counter; from_time; to_time.';

-- Responses of which it is known that they lack the counter: all or nearly all of that time did, or this one's.
create or replace function analytics.counter_lacking(kind text, counter text, key text, since timestamptz, times timestamptz[], numbers double precision[])
returns tstzmultirange
language sql stable parallel safe
begin atomic
  with series as materialized (
    select one.observed_at, one.value from unnest(times, numbers) as one(observed_at, value)
  )
  select range_agg(span.at)
    from (select tstzrange(lacked.last_sent_at, lacked.until_at, '()') as at from analytics.counter_unsent(counter_lacking.kind, counter) lacked
           union all
          select tstzrange(coalesce((select max(one.observed_at) from analytics.counter_kind() about
                                       join sync.observation one on one.resource = about.resource and one.key = counter_lacking.key
                                      where about.kind = counter_lacking.kind and one.status in ('ok', 'unchanged', 'partial')
                                        and one.observed_at < gone.at), '-infinity'),
                           coalesce((select min(later.observed_at) from series later where later.value is not null and later.observed_at > gone.at), 'infinity'), '()')
            from (select min(run.observed_at) filter (where run.value is null) as at
                    from (select series.*, count(series.value) over (order by series.observed_at) as part from series
                           where array_position(numbers, null) is not null) run
                   group by run.part) gone
           where gone.at is not null
           union all
          -- Before the first number, or where there is none: not there yet, or hidden.
          select tstzrange('-infinity', coalesce(case when numbers[1] is not null then times[1]
                                                      else (select min(series.observed_at) from series where series.value is not null) end, 'infinity'), '()')
           where coalesce(times[1] > since, true)) span
   where not isempty(span.at);
end;
comment on function analytics.counter_lacking(text, text, text, timestamptz, timestamptz[], double precision[]) is
'The times whose responses lack a counter of one guild, player or character. Arguments: kind, such as member; counter; key, of the responses; since, when its series begins; times of its samples, in order; their numbers, NULL where it was not sent.';

-- The one way in which rises of a counter are made: of each cell [begins, ends), at least and at most, and how sure that is.
create or replace function analytics.counter_risen(kind text, owner uuid, part uuid, counter text, begins timestamptz[], ends timestamptz[])
returns table (nth bigint, value double precision, gained double precision, at_most double precision, quality text, unsent tstzmultirange)
language sql stable parallel safe
begin atomic
  with about as materialized (
    select one.resource, one.sample_table, analytics.counter_key(counter_risen.kind, counter_risen.owner, counter) as key, analytics.is_level_only(counter_risen.kind, counter) as is_level
      from analytics.counter_kind() one where one.kind = counter_risen.kind
  ), cell as materialized (
    select given.nth, given.begins, given.ends from unnest(begins, ends) with ordinality as given(begins, ends, nth)
  ), period as materialized (
    -- A dip or a jump beside a border is known as one for a week.
    select least(min(cell.begins) - interval '168 hours',
                 (select max(one.observed_at) from sync.observation one
                   where one.resource = about.resource and one.key = about.key and one.status in ('ok', 'unchanged', 'partial')
                     and one.observed_at <= (select min(first.begins) from cell first))) as begins,
           greatest(max(cell.ends) + interval '168 hours',
                    (select min(one.observed_at) from sync.observation one
                      where one.resource = about.resource and one.key = about.key and one.status in ('ok', 'unchanged', 'partial')
                        and one.observed_at >= (select max(last.ends) from cell last))) as ends
      from cell cross join about
     group by about.resource, about.key
  ), series as materialized (
    select one.observed_at, one.value
      from period cross join lateral analytics.counter_series(counter_risen.kind, counter_risen.owner, counter_risen.part, counter, period.begins, period.ends) one
  ), unsent as materialized (
    select analytics.counter_lacking(counter_risen.kind, counter, about.key, period.begins, every.times, every.numbers) as at
      from about
     cross join period
     cross join (select array_agg(series.observed_at order by series.observed_at) as times,
                        array_agg(series.value order by series.observed_at) as numbers from series) every
  ), border as materialized (
    select moment.at, near.before_at, near.after_at, near.is_watched
      from (select cell.begins as at from cell union select cell.ends from cell) moment
     cross join about cross join unsent
     cross join lateral analytics.counter_border(about.resource, about.key, about.sample_table, unsent.at, moment.at) near
  ), known as materialized (
    select array_agg(one.observed_at) as times, array_agg(one.value) as numbers,
           coalesce(bool_or(one.value < one.previous), false) and not (select about.is_level from about) as is_uneven
      from (select series.observed_at, series.value, lag(series.value) over (order by series.observed_at) as previous
              from series where series.value is not null order by series.observed_at) one
  ), reached as materialized (
    -- What came together until each number: of a counter that never fell, and of one that goes up and down, that is the number.
    select known.times, known.numbers, coalesce(counted.gained, known.numbers) as gained,
           coalesce(counted.lowest, known.numbers) as lowest, coalesce(counted.highest, known.numbers) as highest, counted.resets, counted.clamped
      from known
      left join lateral (
        select array_agg(one.together order by one.observed_at) as gained, array_agg(one.lowest order by one.observed_at) as lowest,
               array_agg(one.highest order by one.observed_at) as highest,
               array_agg(one.resets order by one.observed_at) as resets,
               array_agg(one.clamped order by one.observed_at) as clamped
          from (select risen.observed_at, risen.together, risen.lowest, risen.highest,
                       count(*) filter (where risen.quality = 'reset') over in_time as resets,
                       count(*) filter (where risen.quality = 'clamped') over in_time as clamped
                  from analytics.counter_steps(known.times, known.numbers, null, false) risen
                 where known.is_uneven
                window in_time as (order by risen.observed_at)) one) counted on true
  ), total as materialized (
    select moment.at, reached.numbers[place.nth] as value, reached.gained[greatest(place.nth, 1)] as gained,
           reached.lowest[greatest(place.nth, 1)] as lowest, reached.highest[greatest(place.nth, 1)] as highest,
           coalesce(reached.resets[place.nth], 0) as resets, coalesce(reached.clamped[place.nth], 0) as clamped
      from (select border.at from border union select border.before_at from border where border.before_at is not null
             union select border.after_at from border where border.after_at is not null) moment
     cross join reached
     -- So many numbers until then.
     cross join lateral (select width_bucket(moment.at, reached.times) as nth) place
  ), own as materialized (
    -- What a member hides is in no series.
    select one.nth, one.gained, one.at_most, one.quality
      from analytics.member_cells(counter_risen.owner, counter_risen.part, counter, begins, ends) one
     where counter_risen.kind = 'member' and exists (select from known where known.times is not null)
  ), risen as (
    select cell.nth, begun.after_at <= cell.ends as is_shown, begun.is_watched and ended.is_watched and cell.begins <= cell.ends as is_sure, about.is_level,
           case when begun.is_watched then at_begin.value end as value,
           at_end.gained - at_begin.gained as shown, at_end.resets - at_begin.resets as resets, at_end.clamped - at_begin.clamped as clamped,
           case when begun.after_at <= cell.ends then
             -- Whether it dipped or began again is not known: by what is so either way.
             greatest(0, least(at_end.gained - within.gained, at_end.lowest - within.highest)) end as inside,
           case when begun.before_at >= period.begins and ended.after_at <= period.ends
                     and around.resets + around.clamped = before.resets + before.clamped then around.gained - before.gained end as most,
           unsent.at as unsent
      from cell
     cross join about cross join period cross join unsent
      join border begun on begun.at = cell.begins
      join border ended on ended.at = cell.ends
      join total at_begin on at_begin.at = cell.begins
      join total at_end on at_end.at = cell.ends
      left join total before on before.at = begun.before_at
      left join total within on within.at = begun.after_at
      left join total around on around.at = ended.after_at
  )
  select risen.nth, risen.value, rose.gained,
         case when rose.gained is null or risen.is_level then rose.gained
              when counter_risen.kind = 'member' then own.at_most
              when not risen.is_sure then risen.most
              when risen.resets + risen.clamped = 0 then rose.gained end,
         case when rose.gained is null then 'unknown'
              when counter_risen.kind = 'member' and not risen.is_level then own.quality
              when not risen.is_sure then 'at_least'
              when risen.is_level then 'exact'
              when risen.resets > 0 then 'reset'
              when risen.clamped > 0 then 'clamped' else 'exact' end,
         risen.unsent
    from risen
    left join own on own.nth = risen.nth
   cross join lateral (select case when risen.is_level and risen.is_sure then risen.shown
                                   when risen.is_level then null
                                   when counter_risen.kind = 'member' then case when risen.is_shown then own.gained end
                                   when risen.is_sure then risen.shown else risen.inside end as gained) rose;
end;
comment on function analytics.counter_risen(text, uuid, uuid, text, timestamptz[], timestamptz[]) is
'By how much a counter rose in each cell [begins, ends), what it was when the cell began, and how sure that is: the basis of analytics.gained, analytics.top_gained, analytics.timeline and analytics.best. unsent: the times whose responses lack it. Arguments: kind, such as guild; owner, the guild or player; part, the character; counter; begins and ends of the cells.';

create or replace function analytics.counter_covered(kind text, key text, unsent tstzmultirange, begins timestamptz[], ends timestamptz[])
returns table (nth bigint, coverage real)
language sql stable parallel safe
begin atomic
  with cell as materialized (
    select given.nth, given.begins, given.ends from unnest(begins, ends) with ordinality as given(begins, ends, nth)
  ), response as materialized (
    select own.observed_at, own.is_sent, own.is_sent and lag(own.is_sent) over in_time as is_between,
           date_part('epoch', own.observed_at - lag(own.observed_at) over in_time) as seconds
      from (select one.observed_at, not coalesce(unsent @> one.observed_at, false) as is_sent
              from analytics.counter_kind() about
             cross join (select min(cell.begins) as begins, max(cell.ends) as ends from cell) asked
              join sync.observation one on one.resource = about.resource and one.key = counter_covered.key and one.status in ('ok', 'unchanged', 'partial')
               and one.observed_at >= asked.begins - interval '6 hours' and one.observed_at <= asked.ends + interval '6 hours'
             where about.kind = counter_covered.kind) own
    window in_time as (order by own.observed_at)
  ), usual as materialized (
    -- As close as borders must be.
    select greatest(300, least(21600, coalesce(2 * percentile_disc(0.5) within group (order by response.seconds)
                                                   filter (where response.seconds > 0), 3600))) as seconds,
           greatest(now(), max(response.observed_at)) as until
      from response
  ), moment as materialized (
    select row_number() over (order by border.at) as place, border.at
      from (select least(cell.begins, usual.until) as at from cell cross join usual
             union
            select least(cell.ends, usual.until) from cell cross join usual) border
  ), part as materialized (
    -- The seconds that were watched from one border to the next, but for what lies across a border.
    select width_bucket(response.observed_at, border.instants) as place, min(response.observed_at) as first_at, max(response.observed_at) as last_at,
           sum(response.seconds) filter (where response.is_between and response.seconds <= usual.seconds) as seconds
      from response cross join usual cross join (select array_agg(moment.at order by moment.at) as instants from moment) border
     group by 1
  ), covered as (
    select near.at, coalesce(near.seconds, 0)
             + case when not coalesce(unsent @> near.last_at, false) and not coalesce(unsent @> near.first_at, false)
                         and extract(epoch from coalesce(near.first_at, near.at) - near.last_at) <= usual.seconds
                    then extract(epoch from near.at - near.last_at) else 0 end as seconds
      from (select moment.at, sum(before.seconds) over until as seconds, max(before.last_at) over until as last_at,
                   min(after.first_at) over (order by moment.place desc rows unbounded preceding) as first_at
              from moment
              left join part before on before.place = moment.place - 1
              left join part after on after.place = moment.place
            window until as (order by moment.place rows unbounded preceding)) near
     cross join usual
  )
  select cell.nth,
         case when extract(epoch from ended.at - begun.at) > 0
              then greatest(0, least(1, (ended.seconds - begun.seconds) / extract(epoch from ended.at - begun.at))) end
    from cell
   cross join usual
    join covered begun on begun.at = least(cell.begins, usual.until)
    join covered ended on ended.at = least(cell.ends, usual.until);
end;
comment on function analytics.counter_covered(text, text, tstzmultirange, timestamptz[], timestamptz[]) is
'The share of each cell [begins, ends) in which responses with a counter lie as close as usual. Arguments: kind, such as guild; key, of the responses; unsent, the times whose responses lack the counter; begins and ends of the cells.';

create or replace function analytics.counter_cells(kind text, owner uuid, part uuid, counter text, begins timestamptz[], ends timestamptz[])
returns table (nth bigint, value double precision, gained double precision, at_most double precision, quality text, coverage real)
language sql stable parallel safe
begin atomic
  with risen as materialized (
    select one.* from analytics.counter_risen(kind, owner, part, counter, begins, ends) one
  )
  select risen.nth, risen.value, risen.gained, risen.at_most, risen.quality, covered.coverage
    from risen
    left join (select one.nth, one.coverage
                 from (select risen.unsent from risen limit 1) lacking
                cross join lateral analytics.counter_covered(kind, analytics.counter_key(kind, owner, counter), lacking.unsent, begins, ends) one) covered on covered.nth = risen.nth;
end;
comment on function analytics.counter_cells(text, uuid, uuid, text, timestamptz[], timestamptz[]) is
'What analytics.counter_risen says of each cell [begins, ends), with the coverage of each. Arguments: kind, such as guild; owner, the guild or player; part, the character; counter; begins and ends of the cells.';

-- That of former versions returned less.
drop function if exists analytics.counter_rises(timestamptz[], double precision[], double precision, boolean);
