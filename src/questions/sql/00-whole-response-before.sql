-- Only a whole response shows that something was not yet so: one with a part of the records, or without a field, may just lack it.
create or replace function analytics.whole_response_before(resource text, at timestamptz) returns timestamptz
language sql stable parallel safe
return least((select run.observed_at from sync.run
         where run.resource = whole_response_before.resource and run.status in ('ok', 'unchanged') and run.complete
           and run.observed_at < whole_response_before.at
         order by run.observed_at desc nulls last limit 1),
             -- A field that came back may have changed since it was last sent.
             (select min(span.last_sent_at) from sync.unsent span
               where span.resource = whole_response_before.resource and span.until_at = whole_response_before.at));
comment on function analytics.whole_response_before(text, timestamptz) is
'The last whole response of a resource before an instant: it does not show yet what the first response at that instant shows. NULL: there was none, or the ledger of that time is gone. Arguments: resource; at.';
