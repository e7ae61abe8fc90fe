-- Members come and go, and what they contributed counts from when they joined.
create or replace function analytics.member_cells(guild uuid, player uuid, counter text, begins timestamptz[], ends timestamptz[])
returns table (nth bigint, gained double precision, at_most double precision, quality text)
language sql stable parallel safe set jit = off
begin atomic
  select cell.nth, risen.gained, risen.at_most, risen.quality
    from unnest(begins, ends) with ordinality as cell(begins, ends, nth)
   cross join lateral analytics.member_rise(guild, counter, cell.begins, cell.ends, counter = 'contributed', player) risen;
end;
comment on function analytics.member_cells(uuid, uuid, text, timestamptz[], timestamptz[]) is
'What analytics.member_rise says of one member and each cell [begins, ends). Arguments: guild; player; counter; begins and ends of the cells.';

-- The one way in which rises of a counter are made: of each cell [begins, ends), at least and at most, and how sure that is.
create or replace function analytics.counter_cells(kind text, owner uuid, part uuid, counter text, begins timestamptz[], ends timestamptz[])
returns table (nth bigint, value double precision, gained double precision, at_most double precision, quality text, coverage real)
language sql stable parallel safe set jit = off
begin atomic
  with about as materialized (
    select one.resource, one.sample_table, counter_cells.owner::text as key, analytics.is_level_only(counter_cells.kind, counter) as is_level
      from analytics.counter_kind() one where one.kind = counter_cells.kind
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
      from period cross join lateral analytics.counter_series(counter_cells.kind, counter_cells.owner, counter_cells.part, counter, period.begins, period.ends) one
  ), unsent as materialized (
    -- Responses of which it is known that they lack the counter: all or nearly all of that time did, or this one's.
    select range_agg(span.at) as at
      from (select tstzrange(lacked.last_sent_at, lacked.until_at, '()') as at from analytics.counter_unsent(counter_cells.kind, counter) lacked
             union all
            select tstzrange(coalesce((select max(one.observed_at) from about join sync.observation one on one.resource = about.resource and one.key = about.key
                                        where one.status in ('ok', 'unchanged', 'partial') and one.observed_at < gone.at), '-infinity'),
                             coalesce((select min(later.observed_at) from series later where later.value is not null and later.observed_at > gone.at), 'infinity'), '()')
              from (select min(run.observed_at) filter (where run.value is null) as at
                      from (select series.*, count(series.value) over (order by series.observed_at) as part from series) run
                     group by run.part) gone
             where gone.at is not null
             union all
            -- Before the first number, or where there is none: not there yet, or hidden.
            select tstzrange('-infinity', coalesce(min(series.observed_at) filter (where series.value is not null), 'infinity'), '()') from series
            having coalesce(min(series.observed_at) > (select period.begins from period), true)) span
     where not isempty(span.at)
  ), border as materialized (
    select moment.at, near.before_at, near.after_at, near.is_watched
      from (select cell.begins as at from cell union select cell.ends from cell) moment
     cross join about cross join unsent
     cross join lateral analytics.counter_border(about.resource, about.key, about.sample_table, unsent.at, moment.at) near
  ), known as materialized (
    select series.observed_at, series.value, lag(series.value) over (order by series.observed_at) as previous
      from series where series.value is not null
  ), rise as materialized (
    select risen.observed_at, risen.gained, risen.quality
      from (select array_agg(known.observed_at order by known.observed_at) as times, array_agg(known.value order by known.observed_at) as numbers
              from known join about on not about.is_level) own
     cross join lateral analytics.counter_rises(own.times, own.numbers, null, false) risen
     union all
    select known.observed_at, coalesce(known.value - known.previous, 0), 'exact' from known join about on about.is_level
  ), moment as materialized (
    select border.at from border union select border.before_at from border where border.before_at is not null
     union select border.after_at from border where border.after_at is not null
  ), reached as materialized (
    -- What came together until each instant.
    select merged.at, merged.is_asked, merged.value,
           sum(merged.gained) over so_far as gained, sum(merged.resets) over so_far as resets, sum(merged.clamped) over so_far as clamped,
           count(merged.value) over so_far as known
      from (select known.observed_at as at, false as is_asked, known.value, rise.gained, (rise.quality = 'reset')::int as resets,
                   (rise.quality = 'clamped')::int as clamped
              from known join rise on rise.observed_at = known.observed_at
             union all
            select moment.at, true, null, 0, 0, 0 from moment) merged
    window so_far as (order by merged.at, merged.is_asked rows between unbounded preceding and current row)
  ), total as materialized (
    select reached.at, reached.gained, reached.resets, reached.clamped, latest.value
      from reached
      left join reached latest on not latest.is_asked and latest.known = reached.known
     where reached.is_asked
  ), response as materialized (
    select own.observed_at, own.is_sent, own.is_sent and lag(own.is_sent) over in_time as is_between,
           extract(epoch from own.observed_at - lag(own.observed_at) over in_time) as seconds
      from (select distinct one.observed_at, not coalesce(unsent.at @> one.observed_at, false) as is_sent
              from about cross join unsent
             cross join (select min(cell.begins) as begins, max(cell.ends) as ends from cell) asked
              join sync.observation one on one.resource = about.resource and one.key = about.key and one.status in ('ok', 'unchanged', 'partial')
               and one.observed_at >= asked.begins - interval '6 hours' and one.observed_at <= asked.ends + interval '6 hours') own
    window in_time as (order by own.observed_at)
  ), usual as materialized (
    -- As close as borders must be.
    select greatest(300, least(21600, coalesce(2 * percentile_disc(0.5) within group (order by response.seconds), 3600))) as seconds from response
  ), until as materialized (
    select greatest(now(), max(response.observed_at)) as at from response
  ), watched as materialized (
    select merged.at, merged.is_asked, sum(merged.seconds) over so_far as seconds,
           max(merged.shown) over so_far as shown_at, max(merged.sent) over so_far as sent_at,
           min(merged.shown) over still_to_come as next_at, min(merged.sent) over still_to_come as next_sent_at
      from (select response.observed_at as at, false as is_asked, response.observed_at as shown,
                   case when response.is_sent then response.observed_at end as sent,
                   case when response.is_between and response.seconds <= usual.seconds then response.seconds else 0 end as seconds
              from response cross join usual
             union all
            select limited.at, true, null, null, 0
              from (select distinct least(border.at, until.at) as at from border cross join until) limited) merged
    window so_far as (order by merged.at, merged.is_asked rows between unbounded preceding and current row),
           still_to_come as (order by merged.at desc, merged.is_asked desc rows between unbounded preceding and current row)
  ), covered as materialized (
    select watched.at,
           coalesce(watched.seconds, 0)
             + case when watched.sent_at = watched.shown_at and watched.next_sent_at is not distinct from watched.next_at
                         and extract(epoch from coalesce(watched.next_at, watched.at) - watched.shown_at) <= usual.seconds
                    then extract(epoch from watched.at - watched.shown_at) else 0 end as seconds
      from watched cross join usual where watched.is_asked
  ), own as materialized (
    -- What a member hides is in no series.
    select one.nth, one.gained, one.at_most, one.quality
      from analytics.member_cells(counter_cells.owner, counter_cells.part, counter, begins, ends) one
     where counter_cells.kind = 'member' and exists (select from known)
  ), risen as (
    select cell.nth, begun.after_at <= cell.ends as is_shown, begun.is_watched and ended.is_watched and cell.begins <= cell.ends as is_sure, about.is_level,
           case when begun.is_watched then at_begin.value end as value,
           at_end.gained - at_begin.gained as shown, at_end.resets - at_begin.resets as resets, at_end.clamped - at_begin.clamped as clamped,
           case when begun.after_at <= cell.ends then at_end.gained - within.gained end as inside,
           case when begun.before_at >= period.begins and ended.after_at <= period.ends
                     and around.resets + around.clamped = before.resets + before.clamped then around.gained - before.gained end as most,
           extract(epoch from least(cell.ends, until.at) - least(cell.begins, until.at)) as seconds, covered_end.seconds - covered_begin.seconds as covered
      from cell
     cross join about cross join period cross join until
      join border begun on begun.at = cell.begins
      join border ended on ended.at = cell.ends
      join total at_begin on at_begin.at = cell.begins
      join total at_end on at_end.at = cell.ends
      left join total before on before.at = begun.before_at
      left join total within on within.at = begun.after_at
      left join total around on around.at = ended.after_at
      join covered covered_begin on covered_begin.at = least(cell.begins, until.at)
      join covered covered_end on covered_end.at = least(cell.ends, until.at)
  )
  select risen.nth, risen.value, rose.gained,
         case when rose.gained is null or risen.is_level then rose.gained
              when counter_cells.kind = 'member' then own.at_most
              when not risen.is_sure then risen.most
              when risen.resets + risen.clamped = 0 then rose.gained end,
         case when rose.gained is null then 'unknown'
              when counter_cells.kind = 'member' and not risen.is_level then own.quality
              when not risen.is_sure then 'at_least'
              when risen.is_level then 'exact'
              when risen.resets > 0 then 'reset'
              when risen.clamped > 0 then 'clamped' else 'exact' end,
         case when risen.seconds > 0 then greatest(0, least(1, risen.covered / risen.seconds)) end
    from risen
    left join own on own.nth = risen.nth
   cross join lateral (select case when risen.is_level and risen.is_sure then risen.shown
                                   when risen.is_level then null
                                   when counter_cells.kind = 'member' then case when risen.is_shown then own.gained end
                                   when risen.is_sure then risen.shown else risen.inside end as gained) rose;
end;
comment on function analytics.counter_cells(text, uuid, uuid, text, timestamptz[], timestamptz[]) is
'By how much a counter rose in each cell [begins, ends), what it was when the cell began, and how sure that is: the basis of analytics.gained, analytics.timeline and analytics.best. Arguments: kind, such as guild; owner, the guild or player; part, the character; counter; begins and ends of the cells.';
