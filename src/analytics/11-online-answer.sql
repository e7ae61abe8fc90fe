-- An answer holds until the next one. Where that is more than 90 seconds away somebody looked too seldom to know, and it
-- holds for the 30 seconds that it is cached.
create or replace function analytics.online_answer(from_time timestamptz, to_time timestamptz)
returns table (observed_at timestamptz, holds_until timestamptz)
language sql stable parallel safe
begin atomic
  select answer.observed_at,
         case when answer.next_at - answer.observed_at <= interval '90 seconds' then answer.next_at
              else answer.observed_at + interval '30 seconds' end
    from (select run.observed_at, lead(run.observed_at) over (order by run.observed_at) as next_at
            from (select distinct accepted.observed_at from sync.run accepted
                   where accepted.resource = 'online-players' and accepted.status in ('ok', 'unchanged', 'partial')
                     and accepted.observed_at > from_time - interval '90 seconds'
                     and accepted.observed_at <= to_time + interval '90 seconds') run) answer
   where answer.observed_at < to_time
     and (answer.observed_at >= from_time or answer.next_at > from_time or answer.observed_at + interval '30 seconds' > from_time);
end;
comment on function analytics.online_answer(timestamptz, timestamptz) is
'The accepted answers about who is online that speak for [from_time, to_time), and until when each holds: until the next one, or for 30 seconds where that is more than 90 seconds away.';

create or replace function analytics.online_coverage(from_time timestamptz, to_time timestamptz) returns real
language sql stable parallel safe
return (
  select case when asked.slots > 0 then
           least(1, (select count(distinct floor(extract(epoch from run.observed_at - from_time) / 30)) from sync.run
                      where run.resource = 'online-players' and run.status in ('ok', 'unchanged', 'partial')
                        and run.observed_at >= from_time and run.observed_at < to_time) / asked.slots)
         end
    from (select ceil(extract(epoch from least(to_time, greatest(now(), max(run.observed_at))) - from_time) / 30) as slots
            from sync.run
           where run.resource = 'online-players' and run.status in ('ok', 'unchanged', 'partial')) asked
);
comment on function analytics.online_coverage(timestamptz, timestamptz) is
'How well [from_time, to_time) was watched: the share (0..1) of its half minutes that have an answer about who is online. What lies in the future does not count; NULL when all of it does.';
