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
