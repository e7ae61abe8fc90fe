-- What is known of when accepted responses of the online list were: exact instants, and before the retention of the ledger
-- spans in which each response came at most 90 seconds after the one before.
create or replace function analytics.online_span(from_time timestamptz, to_time timestamptz)
returns table (first_at timestamptz, last_at timestamptz, next_at timestamptz)
language sql stable parallel safe
begin atomic
  select known.first_at, known.last_at, lead(known.first_at) over (order by known.first_at)
    from (select span.began_at as first_at, span.ended_at as last_at from sync.answer_span span
           where span.resource = 'online-players' and span.ended_at >= from_time and span.began_at <= to_time
           union all
          select distinct accepted.observed_at, accepted.observed_at from sync.run accepted
           where accepted.resource = 'online-players' and accepted.status in ('ok', 'unchanged', 'partial')
             and accepted.observed_at >= from_time and accepted.observed_at <= to_time
             and accepted.observed_at > coalesce((select max(old.ended_at) from sync.answer_span old
                                                   where old.resource = 'online-players'), '-infinity')) known;
end;
comment on function analytics.online_span(timestamptz, timestamptz) is
'When there were accepted responses of the online list, as far as that lies in [from_time, to_time]: each alone, or, where it is long ago, those that came at most 90 seconds apart as one; and when the next came.';

-- A response holds until the next one. Where that is more than 90 seconds away the observations are too far apart to know, and it
-- holds for the 30 seconds that it is cached.
create or replace function analytics.online_watched(from_time timestamptz, to_time timestamptz)
returns table (begins timestamptz, ends timestamptz)
language sql stable parallel safe set jit = off
begin atomic
  -- Only the first response of a stretch makes a row. Backwards in time, as the index of the ledger has them: without a sort.
  with span as materialized (
    select one.began_at, one.ended_at from sync.answer_span one
     where one.resource = 'online-players' and one.ended_at >= from_time - interval '90 seconds'
       and one.began_at <= to_time + interval '90 seconds'
  ), answer as (
    select accepted.observed_at as at, lead(accepted.observed_at) over (order by accepted.observed_at desc nulls last) as before_at
      from sync.run accepted
     where accepted.resource = 'online-players' and accepted.status in ('ok', 'unchanged', 'partial')
       and accepted.observed_at >= from_time - interval '90 seconds' and accepted.observed_at <= to_time + interval '90 seconds'
       and accepted.observed_at > coalesce((select max(old.ended_at) from sync.answer_span old
                                             where old.resource = 'online-players'), '-infinity')
  ), last as (
    select greatest((select max(span.ended_at) from span),
                    (select max(accepted.observed_at) from sync.run accepted
                      where accepted.resource = 'online-players' and accepted.status in ('ok', 'unchanged', 'partial')
                        and accepted.observed_at <= to_time + interval '90 seconds')) as at
  ), first as (
    select known.at, known.before_at
      from (select answer.at, coalesce(answer.before_at, (select max(span.ended_at) from span)) as before_at from answer
             where answer.before_at is null or answer.at - answer.before_at > interval '90 seconds'
             union all
            select span.began_at, lag(span.ended_at) over (order by span.began_at) from span) known
     where known.before_at is null or known.at - known.before_at > interval '90 seconds'
  ), stretch as (
    select greatest(first.at, from_time) as begins,
           least(coalesce(lead(first.before_at) over (order by first.at), last.at) + interval '30 seconds', to_time) as ends
      from first cross join last
  )
  select stretch.begins, stretch.ends from stretch where stretch.begins < stretch.ends;
end;
comment on function analytics.online_watched(timestamptz, timestamptz) is
'The stretches of [from_time, to_time) that accepted responses of the online list cover: each until the next one, or for 30 seconds where that is more than 90 seconds away. No stretch touches another.';

-- Where only a span is known, a response lies in every 90 seconds of it: the bound is on the safe side.
create or replace function analytics.online_answer_before(at timestamptz) returns timestamptz
language sql stable parallel safe
return coalesce(
  (select greatest(span.began_at, online_answer_before.at - interval '90 seconds')
     from (select began_at, ended_at from sync.answer_span
            where resource = 'online-players' and began_at < online_answer_before.at order by began_at desc limit 1) span
    where span.ended_at >= online_answer_before.at),
  greatest((select span.ended_at from sync.answer_span span
             where span.resource = 'online-players' and span.began_at < online_answer_before.at order by span.began_at desc limit 1),
           (select max(run.observed_at) from sync.run
             where run.resource = 'online-players' and run.status in ('ok', 'unchanged', 'partial')
               and run.observed_at < online_answer_before.at)));
comment on function analytics.online_answer_before(timestamptz) is
'The last accepted response of the online list before an instant; up to 90 seconds earlier before the retention of the ledger. NULL: there was none, or nothing is known of it any more.';

create or replace function analytics.online_answer_after(at timestamptz) returns timestamptz
language sql stable parallel safe
return coalesce(
  (select least(span.ended_at, online_answer_after.at + interval '90 seconds')
     from (select began_at, ended_at from sync.answer_span
            where resource = 'online-players' and began_at < online_answer_after.at order by began_at desc limit 1) span
    where span.ended_at >= online_answer_after.at),
  least((select min(span.began_at) from sync.answer_span span
          where span.resource = 'online-players' and span.began_at >= online_answer_after.at),
        (select min(run.observed_at) from sync.run
          where run.resource = 'online-players' and run.status in ('ok', 'unchanged', 'partial')
            and run.observed_at >= online_answer_after.at)));
comment on function analytics.online_answer_after(timestamptz) is
'The first accepted response of the online list at an instant or after; up to 90 seconds later before the retention of the ledger. NULL: there was none.';
