-- From when to when a resource was observed, and how often it should be. For a resource of one response, an
-- observation lies at its observed_at; an identical copy lies as much later as it was
-- requested later. For a worklist it lies where a response about any of its keys came.
create or replace function analytics.watch(resource text)
returns table (is_worklist boolean, first_at timestamptz, last_at timestamptz, until timestamptz, is_told boolean)
language sql stable parallel safe
begin atomic
  select kind.is_worklist,
         -- What was counted of the time before is gone.
         greatest(life.first_at, (select tier.coarse_since from sync.tier where tier.sample_table = 'ledger/' || watch.resource)),
         life.last_at, greatest(now(), life.last_at),
         exists (select from sync.expectation schedule where schedule.resource = watch.resource)
    -- By the latest row, not by whether any exists: an index finds it even where there is none.
    from (select max(one.received_at) is not null as is_worklist from sync.observation one
           where one.resource = watch.resource) kind
   cross join lateral (
     select (select min(run.observed_at) from sync.run
              where run.resource = watch.resource and run.status in ('ok', 'unchanged', 'partial')) as first_at,
            (select latest.observed_at + (max(copy.finished_at) - min(copy.finished_at))
               from (select max(run.observed_at) as observed_at from sync.run
                      where run.resource = watch.resource and run.status in ('ok', 'unchanged', 'partial')) latest
               join sync.run copy on copy.resource = watch.resource and copy.observed_at = latest.observed_at
                                 and copy.status in ('ok', 'unchanged', 'partial')
              group by latest.observed_at) as last_at
      where not kind.is_worklist
      union all
     select (select one.received_at from sync.observation one
              where one.resource = watch.resource and one.status not in ('rejected', 'stale')
              order by one.received_at limit 1),
            (select one.received_at from sync.observation one
              where one.resource = watch.resource and one.status not in ('rejected', 'stale')
              order by one.received_at desc limit 1)
      where kind.is_worklist
   ) life;
end;
comment on function analytics.watch(text) is
'Since when and until when a resource was observed, as far as the retention of the ledger reaches. until is now; is_told is true when a schedule is known. Argument: resource, such as territories.';

create or replace function analytics.expected_every(resource text)
returns table (begins timestamptz, ends timestamptz, every_seconds double precision)
language sql stable parallel safe
begin atomic
  -- The first schedule holds for the time before it, too: for recorded responses, or a clock that was wrong.
  select case when lag(schedule.valid_from) over own is null then '-infinity' else schedule.valid_from end,
         lead(schedule.valid_from, 1, 'infinity') over own, schedule.every_seconds
    from sync.expectation schedule where schedule.resource = expected_every.resource
  window own as (order by schedule.valid_from);
end;
comment on function analytics.expected_every(text) is
'How many seconds should lie between two observations of a resource, from when to when; NULL: none were expected. Argument: resource.';

-- A gap of m missed observations between two made ones is cut in m + 1 equal parts: the first is what the observation
-- before it still covers, and a missed one lies at the beginning of each other. A gap without missed ones is a time
-- during which none were expected; nothing is known of it either.
create or replace function analytics.unobserved(resource text, from_time timestamptz, to_time timestamptz)
returns table (began_at timestamptz, ended_at timestamptz, missed int, reason text)
language sql stable parallel safe
begin atomic
  -- Gaps do not overlap: those that end in the interval, and the one that ends after it.
  select gap.began_at, gap.ended_at, gap.missed, gap.reason from sync.gap
   where gap.resource = unobserved.resource and gap.ended_at > from_time and gap.ended_at <= to_time
   union all
  select next.began_at, next.ended_at, next.missed, next.reason
    from (select * from sync.gap
           where gap.resource = unobserved.resource and gap.ended_at > greatest(from_time, to_time)
           order by gap.ended_at limit 1) next
   where next.began_at < to_time
   union all
  -- The running one: the next observation is late when half its time has passed again. It has no end: of now and after nothing is known.
  select part.begins,
         case when part.every_seconds is null then part.ends
              else part.begins + make_interval(secs => (part.missed + 1) * part.every_seconds) end,
         coalesce(part.missed, 0), case when part.every_seconds is null then 'switched off' else 'not observed since' end
    from (select greatest(schedule.begins, watch.last_at) as begins, least(schedule.ends, watch.until) as ends, schedule.every_seconds,
                 schedule.ends > watch.until as is_last,
                 (ceil(extract(epoch from least(schedule.ends, watch.until) - greatest(schedule.begins, watch.last_at))
                       / schedule.every_seconds - 0.5) - 1)::int as missed
            from analytics.watch(unobserved.resource) watch
           cross join lateral analytics.expected_every(unobserved.resource) schedule
           where schedule.ends > watch.last_at and schedule.begins < watch.until) part
   where (part.missed > 0 or part.every_seconds is null and part.ends > part.begins)
     and part.begins < to_time and (part.ends > from_time or part.is_last);
end;
comment on function analytics.unobserved(text, timestamptz, timestamptz) is
'The times in [from_time, to_time) in which a resource was not observed as often as expected: from the last observation before to the first after, how many were missed, and why. missed 0: none were expected. The running gap ends where the next observation would be on time.';

-- A state that a response after a gap still shows was so throughout. One that ended meanwhile, or has not been looked at since, is known
-- until the next observation was due.
create or replace function analytics.gap_at(resource text, at timestamptz)
returns table (ends timestamptz)
language sql stable parallel safe
begin atomic
  select case when gap.began_at >= watch.last_at then 'infinity' else gap.ended_at end
    from analytics.unobserved(gap_at.resource, gap_at.at, gap_at.at + interval '1 microsecond') gap
   cross join analytics.watch(gap_at.resource) watch
   where (gap.missed >= 3 or gap.missed = 0)
     and gap_at.at >= gap.began_at + case when gap.missed = 0 then interval '1 microsecond'
                                          else (gap.ended_at - gap.began_at) / (gap.missed + 1) end;
end;
comment on function analytics.gap_at(text, timestamptz) is
'The gap in which an instant lies, where three or more observations of a resource are missing or none were expected; no row: it was observed then. ends: the first observation after it; infinity: there is none. What ended until then is unknown at the instant. Arguments: resource; at, the instant.';

create or replace function analytics.was_observed(resource text, at timestamptz, valid_until timestamptz) returns boolean
language sql stable parallel safe
return not exists (select from analytics.gap_at(was_observed.resource, was_observed.at) gap where was_observed.valid_until <= gap.ends);
comment on function analytics.was_observed(text, timestamptz, timestamptz) is
'Whether it is known that a version of something was so at an instant: false in a gap after which responses showed something else, or none came. Arguments: resource; at, the instant; valid_until of the version.';
