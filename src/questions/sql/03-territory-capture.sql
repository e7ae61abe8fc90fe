create or replace view analytics.territory_capture as
select capture.captured_at, capture.observed_at, capture.territory, capture.from_guild_uuid, capture.from_guild_name,
       capture.to_guild_uuid, capture.to_guild_name,
       capture.from_guild_uuid is not distinct from capture.to_guild_uuid as is_recapture,
       least((select run.observed_at from sync.run
               where run.resource = 'territories' and run.status in ('ok', 'unchanged') and run.complete and run.observed_at < sent.until
               order by run.observed_at desc nulls last limit 1),
             (select min(span.last_sent_at) from sync.unsent span
               where span.resource = 'territories' and span.until_at = sent.until)) as not_before
  from game.territory_capture capture
 cross join lateral (select least(capture.captured_at, capture.observed_at) as at) shown
 -- What territory_sent_until and whole_response_before say, written out: functions with the rights of their owner are called for each of ten
 -- thousand rows, which takes four times as long.
 cross join lateral (
   select coalesce((select min(span.from_at)
                      from (select lacked.from_at, lacked.until_at from sync.unsent lacked
                             where lacked.resource = 'territories' and lacked.field in ('/guild', '/guild/uuid')
                             union all
                            select pending.first_at, null from sync.claim pending
                             where pending.resource = 'territories' and pending.kind = 'unsent'
                               and pending.subject in ('/guild', '/guild/uuid')) span
                     where span.from_at < shown.at and coalesce(span.until_at, 'infinity') >= shown.at), shown.at) as until) sent;
comment on view analytics.territory_capture is 'Every capture that a response showed, also by the guild that already held the place. The first response about a territory shows its owner, not a capture.';
comment on column analytics.territory_capture.captured_at is 'When it happened, by the game''s own clock; when first seen where the API gave no time.';
comment on column analytics.territory_capture.observed_at is 'observed_at of the first response that showed it.';
comment on column analytics.territory_capture.territory is 'Exact name of the territory.';
comment on column analytics.territory_capture.from_guild_uuid is 'Who was seen holding it before; NULL when it had no owner. Others may have held it between two responses.';
comment on column analytics.territory_capture.from_guild_name is 'Name of that guild then.';
comment on column analytics.territory_capture.to_guild_uuid is 'Who captured it.';
comment on column analytics.territory_capture.to_guild_name is 'Name of that guild then.';
comment on column analytics.territory_capture.is_recapture is 'True when the same guild was seen holding it before.';
comment on column analytics.territory_capture.not_before is 'The last whole response before it, which did not show it yet: it happened after that. NULL: the ledger of that time is gone.';
