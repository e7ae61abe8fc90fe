create or replace function analytics.first_to(kind text, counter text, value numeric, n int default 10)
returns table (place int, entity text, name text, at timestamptz, not_before timestamptz)
language sql stable parallel safe set jit = off
begin atomic
  select reached.place, concat_ws('/', reached.owner, reached.part), analytics.counted_name(first_to.kind, reached.owner, reached.part),
         reached.at, before.at
    from (select one.owner, one.part, one.at, rank() over (order by one.at)::int as place
            from (select analytics.checked_counter(first_to.kind, first_to.counter) as counter) checked
           cross join lateral analytics.counter_soonest(first_to.kind, checked.counter, greatest(-1e308, least(1e308, first_to.value))::double precision,
                                                            greatest(0, least(first_to.n, 1000))) one
           order by one.at, one.owner, one.part
           limit greatest(0, least(first_to.n, 1000))) reached
    join analytics.counter_kind() about on about.kind = first_to.kind
    -- What was before the first number is not known, and a response that lacks the counter says nothing of it.
    left join lateral (select one.value is null as is_unsent
                         from analytics.counter_series(first_to.kind, reached.owner, reached.part, first_to.counter,
                                                       reached.at - interval '1 microsecond', reached.at - interval '1 microsecond') one
                        order by one.observed_at desc limit 1) last on true
    left join lateral (
      select found.at from (
        select max(response.observed_at) as at from sync.observation response
         where not last.is_unsent and response.resource = about.resource and response.key = analytics.counter_key(first_to.kind, reached.owner, first_to.counter)
           and response.status in ('ok', 'unchanged', 'partial')
           -- Of older days the last number is left: on that day, others may have shown it before.
           and response.observed_at < case when reached.at < (select tier.fine_since from sync.tier where tier.sample_table = about.sample_table)
                                           then date_trunc('day', reached.at, 'UTC') else reached.at end
           and not exists (select from analytics.counter_unsent(first_to.kind, first_to.counter) span
                            where span.last_sent_at < response.observed_at and span.until_at > response.observed_at)
         union all
        select max(one.observed_at)
          from analytics.counter_series(first_to.kind, reached.owner, reached.part, first_to.counter, '-infinity', reached.at - interval '1 microsecond') one
         where last.is_unsent and one.value is not null) found
       -- Of what a response showed is known that it was less only where a number is left of then.
       where exists (select from analytics.counter_series(first_to.kind, reached.owner, reached.part, first_to.counter, found.at, found.at) one
                      where one.observed_at <= found.at and one.value is not null)) before on true
   order by reached.at, reached.owner, reached.part;
end;
comment on function analytics.first_to(text, text, numeric, int) is
'Who was first seen with at least so much of a counter. at: the first response that shows it; not_before: the last one before that, which did not show it yet; NULL where the first number that is left shows it, so that it is not known since when. Of two whose times overlap, who was first is not known. Arguments: kind, such as guild; counter, as in analytics.counter; value; n, how many (10 when left out, 1000 at most).';
