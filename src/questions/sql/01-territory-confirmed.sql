-- The end of a hold is seen by the first response with the next one, which says itself since when it is true. One without a time begins with
-- the first response that showed it, of which it took several to be believed.
create or replace function analytics.territory_end_seen(territory text, valid_until timestamptz) returns timestamptz
language sql stable parallel safe
return coalesce((select case when next.acquired = next.valid_from then next.observed_at else least(next.valid_from, next.observed_at) end
                   from game.territory_hold next
                  where next.territory = territory_end_seen.territory and next.valid_from = territory_end_seen.valid_until),
                territory_end_seen.valid_until);
comment on function analytics.territory_end_seen(text, timestamptz) is
'The first response that showed something else than a hold that ended at an instant; infinity: none has. Arguments: territory; valid_until of the hold.';

-- A response without a field shows nothing of it: what it said is known until the first such response. While others are awaited, that it is
-- one is pending. One plan serves all calls: PostgreSQL 18 would plan each hold of a page anew, which takes longer than the call.
create or replace function analytics.territory_sent_until(fields text[], at timestamptz) returns timestamptz
language sql stable parallel safe set plan_cache_mode = force_generic_plan
return coalesce((select min(span.from_at)
                   from (select lacked.from_at, lacked.until_at from sync.unsent lacked
                          where lacked.resource = 'territories' and lacked.field = any(territory_sent_until.fields)
                          union all
                         select pending.first_at, null from sync.claim pending
                          where pending.resource = 'territories' and pending.kind = 'unsent'
                            and pending.subject = any(territory_sent_until.fields)) span
                  where span.from_at < territory_sent_until.at and coalesce(span.until_at, 'infinity') >= territory_sent_until.at),
                territory_sent_until.at);
comment on function analytics.territory_sent_until(text[], timestamptz) is
'The first response about territories that lacks a field, where it is not sent at an instant; the instant itself where it is. Arguments: fields, as sync.unsent names them; at, the instant.';

create or replace function analytics.territory_confirmed_until(observed_at timestamptz, ended_at timestamptz) returns timestamptz
language sql stable parallel safe
return greatest(territory_confirmed_until.observed_at,
                (select run.observed_at from sync.run
                  where run.resource = 'territories' and run.status in ('ok', 'unchanged', 'partial')
                    and run.observed_at < territory_confirmed_until.ended_at
                  order by run.observed_at desc nulls last limit 1));
comment on function analytics.territory_confirmed_until(timestamptz, timestamptz) is
'The last response that showed a hold. Arguments: observed_at, the first that did; ended_at, the first that showed something else.';
