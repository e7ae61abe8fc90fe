create or replace view analytics.freshness as
with recursive known (resource) as (
  -- A loose index scan: one entry per resource, however many runs it had.
  (select run.resource from sync.run order by run.resource limit 1)
  union all
  select (select run.resource from sync.run where run.resource > known.resource order by run.resource limit 1)
    from known where known.resource is not null
), every as (
  select known.resource from known where known.resource is not null
   union
  select schedule.resource from sync.expectation schedule
)
select every.resource, seen.observed_at as last_observed_at, changed.observed_at as last_changed_at, latest.status as last_status,
       greatest(now() - seen.observed_at, interval '0') as age, make_interval(secs => schedule.every_seconds) as expected_every,
       case when schedule.every_seconds is null then false
            else seen.received_at is null or now() - seen.received_at > 1.5 * make_interval(secs => schedule.every_seconds)
              -- Requested in time, but the copies that came are older than any cache explains.
              or now() - seen.observed_at > 2.5 * make_interval(secs => schedule.every_seconds) + interval '2 minutes'
              -- The clock was set back since: by it, no response has come.
              or seen.received_at > now() + interval '1 hour' end as is_late,
       seen.received_at as last_received_at
  from every
  left join lateral (select run.status from sync.run where run.resource = every.resource
                      order by run.started_at desc nulls last, run.status = 'rejected' limit 1) latest on true
  left join lateral (
    select max(accepted.observed_at) as observed_at, max(accepted.received_at) as received_at
      from ((select run.observed_at, run.finished_at as received_at from sync.run
              where run.resource = every.resource and run.status in ('ok', 'unchanged', 'partial')
              order by run.observed_at desc nulls last, run.finished_at desc nulls last limit 1)
             union all
            (select one.observed_at, one.received_at from sync.observation one
              where one.resource = every.resource and one.status in ('ok', 'unchanged', 'partial')
              order by one.received_at desc limit 1)) accepted) seen on true
  left join lateral (
    select max(written.observed_at) as observed_at
      from ((select run.observed_at from sync.run
              where run.resource = every.resource and run.status in ('ok', 'partial')
                and run.inserted + run.changed + run.closed + run.events + (run.status = 'ok')::int > 0
              order by run.observed_at desc nulls last limit 1)
             union all
            (select one.observed_at from sync.observation one
              where one.resource = every.resource and one.status = 'ok' order by one.received_at desc limit 1)) written) changed on true
  left join lateral (select expected.every_seconds from sync.expectation expected
                      where expected.resource = every.resource and expected.valid_from <= now()
                      order by expected.valid_from desc limit 1) schedule on true;
comment on view analytics.freshness is 'How fresh each resource is, and whether it should be fresher.';
comment on column analytics.freshness.resource is 'The resource, such as territories.';
comment on column analytics.freshness.last_observed_at is 'observed_at of the latest accepted response; NULL before the first.';
comment on column analytics.freshness.last_changed_at is 'observed_at of the latest response that changed something.';
comment on column analytics.freshness.last_status is 'How the latest run ended: ok, unchanged, partial, stale, rejected, interrupted (a signal ended it) or failed; NULL: it never ran.';
comment on column analytics.freshness.age is 'Age of that response now; 0 where its observed_at is ahead of the clock of this machine.';
comment on column analytics.freshness.expected_every is 'How often it should be observed; NULL: not at all, or no schedule is known.';
comment on column analytics.freshness.is_late is 'True when the next observation is overdue by half that time, or when the responses that do come are older than two and a half times it; also where the clock was set back since the last one came. Never where none is expected.';
comment on column analytics.freshness.last_received_at is 'When the latest accepted response came, by the clock of the machine that sent the request.';
