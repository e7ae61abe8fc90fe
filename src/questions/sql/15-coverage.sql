-- A column that is new: what returns others cannot be replaced.
do $$
begin
  if exists (select from pg_proc where oid = to_regprocedure('analytics.coverage(text, timestamptz, timestamptz)')
                                  and not 'imported' = any(proargnames)) then
    drop function analytics.coverage(text, timestamptz, timestamptz);
  end if;
end $$;

create or replace function analytics.coverage(resource text, from_time timestamptz, to_time timestamptz)
returns table (hour timestamptz, expected int, observed int, unchanged int, rejected int, missed int, coverage real,
               stale int, partial int, imported real)
language sql stable parallel safe set jit = off
begin atomic
  with watch as materialized (
    select seen.is_worklist, seen.is_told, seen.until,
           greatest(date_trunc('hour', from_time, 'UTC'), date_trunc('hour', seen.first_at, 'UTC')) as begins,
           least(to_time, seen.until) as ends,
           -- The hours before are counted already; from here on the ledger is read.
           coalesce((select reach.counted_until from sync.coverage_reach reach
                      where reach.resource = coverage.resource), '-infinity') as whole_from
      from analytics.watch(coverage.resource) seen
     where seen.first_at < to_time and from_time < to_time
  ), since as materialized (
    -- The last response before is searched once, not for each response; an hour earlier, because late copies of one may lie
    -- after the next one.
    select watch.is_worklist, watch.ends + interval '1 hour' as ends, greatest(watch.begins, watch.whole_from) as begins,
           coalesce((select max(before.observed_at) from sync.run before
                      where before.resource = coverage.resource and before.status in ('ok', 'unchanged', 'partial')
                        and before.observed_at <= greatest(watch.begins, watch.whole_from) - interval '1 hour'), '-infinity') as answered,
           greatest(watch.begins, watch.whole_from)
             - make_interval(secs => (select coalesce(max(every.every_seconds), 0)
                                        from analytics.expected_every(coverage.resource) every)) as received
      from watch
  ), schedule as materialized (
    select every.begins, every.ends, every.every_seconds from analytics.expected_every(coverage.resource) every
  ), cell as (
    select moment.hour, watch.whole_from
      from watch
     cross join lateral generate_series(watch.begins, date_trunc('hour', watch.ends, 'UTC'), interval '1 hour') as moment(hour)
     where watch.begins < watch.ends and moment.hour < watch.ends
  ), answer as (
    -- An identical copy lies as much later as its request.
    select run.observed_at
             + (run.finished_at - first_value(run.finished_at) over (partition by run.observed_at order by run.finished_at)) as at,
           run.status
      from since
     cross join lateral (select accepted.observed_at, accepted.finished_at, accepted.status from sync.run accepted
                          where accepted.resource = coverage.resource and accepted.status in ('ok', 'unchanged', 'partial')
                            and accepted.observed_at >= since.answered and accepted.observed_at < since.ends
                         offset 0) run
     where not since.is_worklist
     union all
    select one.received_at, case when one.status in ('hidden', 'gone') then 'ok' else one.status end
      from since
     cross join lateral (select answered.received_at, answered.status from sync.observation answered
                          where answered.resource = coverage.resource
                            and answered.received_at >= since.received and answered.received_at < since.ends
                         offset 0) one
     where since.is_worklist
     union all
    select run.started_at, run.status
      from since
     cross join lateral (select refused.started_at, refused.status from sync.run refused
                          where refused.resource = coverage.resource and refused.status in ('rejected', 'stale')
                            and refused.started_at >= since.begins and refused.started_at < since.ends
                         offset 0) run
     where not since.is_worklist
  ), placed as (
    select answer.at, answer.status,
           extract(epoch from answer.at - lag(answer.at) over (partition by answer.status in ('rejected', 'stale') order by answer.at))
             / schedule.every_seconds as periods
      from answer
      left join schedule on schedule.begins <= answer.at and answer.at < schedule.ends
  ), counted as (
    select date_trunc('hour', placed.at, 'UTC') as hour,
           count(*) filter (where placed.status not in ('rejected', 'stale'))::int as observed,
           count(*) filter (where placed.status = 'unchanged')::int as unchanged,
           count(*) filter (where placed.status = 'rejected')::int as rejected,
           count(*) filter (where placed.status = 'stale')::int as stale,
           count(*) filter (where placed.status = 'partial')::int as partial,
           -- An observation that comes early fills no more than the time since the one before.
           round(sum(case when placed.periods < 0.5 then placed.periods else 1 end)
                 filter (where placed.status not in ('rejected', 'stale')))::int as filled
      from placed group by 1
  ), lost as (
    -- So many missed ones lie before an instant, evenly spread over the gap; of two instants the difference lies between.
    select cell.hour,
           sum(least(gap.missed, greatest(0, ceil(extract(epoch from cell.hour + interval '1 hour' - gap.began_at) * (gap.missed + 1)
                                                  / extract(epoch from gap.ended_at - gap.began_at)) - 1))
               - least(gap.missed, greatest(0, ceil(extract(epoch from cell.hour - gap.began_at) * (gap.missed + 1)
                                                    / extract(epoch from gap.ended_at - gap.began_at)) - 1)))::int as missed
      from watch
     cross join lateral analytics.unobserved(coverage.resource, greatest(watch.begins, watch.whole_from),
                                             date_trunc('hour', watch.ends, 'UTC') + interval '1 hour') gap
      join cell on cell.hour < gap.ended_at and cell.hour + interval '1 hour' > gap.began_at
     where gap.missed > 0
     group by cell.hour
  )
  select cell.hour, expected.total, number.observed, number.unchanged, number.rejected, number.missed,
         (1 - number.missed / nullif(expected.total, 0)::real)::real, number.stale, number.partial,
         -- `least` leaves out what is NULL.
         (select least(1, coalesce(sum(extract(epoch from least(span.ended_at, cell.hour + interval '1 hour')
                                                          - greatest(span.began_at, cell.hour))), 0) / 3600)
            from sync.source_span span
           where span.resource = coverage.resource and span.began_at < cell.hour + interval '1 hour'
             and span.ended_at > cell.hour)::real
    from cell
   cross join watch
    left join sync.coverage_hour folded
           on folded.resource = coverage.resource and folded.hour = cell.hour and cell.hour < cell.whole_from
    left join counted on counted.hour = cell.hour and cell.hour >= cell.whole_from
    left join lost on lost.hour = cell.hour and cell.hour >= cell.whole_from
   cross join lateral (
     select coalesce(folded.observed, counted.observed, 0) as observed, coalesce(folded.unchanged, counted.unchanged, 0) as unchanged,
            coalesce(folded.rejected, counted.rejected, 0) as rejected, coalesce(folded.missed, lost.missed, 0) as missed,
            coalesce(folded.stale, counted.stale, 0) as stale, coalesce(folded.partial, counted.partial, 0) as partial
   ) number
   cross join lateral (
     select case when watch.is_told then coalesce(folded.expected, coalesce(counted.filled, 0) + number.missed) end as total
   ) expected
   order by cell.hour;
end;
comment on function analytics.coverage(text, timestamptz, timestamptz) is
'How completely a resource was observed in each full hour (UTC) that begins or lies in [from_time, to_time), from its first observation until now. expected: observations that were made as scheduled, and missed ones (more requests than expected do not make up for missed ones); observed: accepted responses, of a worklist those about all its keys; unchanged and partial: those among them that changed nothing, or were not complete; rejected, stale: responses that failed validation, or older than what was known; coverage: the share (0..1) of the expected observations that exist, NULL where none were expected; expected is NULL, too, where no schedule was ever known; imported: the share (0..1) of the hour that another database observed and this one did not, known from its lake. Arguments: resource, such as territories; from_time; to_time.';

drop function if exists analytics.online_coverage(timestamptz, timestamptz);
