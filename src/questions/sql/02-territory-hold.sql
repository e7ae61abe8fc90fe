create or replace view analytics.territory_hold as
select known.territory, known.guild_uuid, known.guild_name, known.guild_prefix, known.held_from, known.held_until, known.held_for,
       known.is_current, known.acquired, known.observed_at, known.confirmed_until,
       least(known.confirmed_until, known.held_until) - known.held_from as confirmed_for
  from (
    select hold.territory, hold.guild_uuid, hold.guild_name, hold.guild_prefix, hold.valid_from as held_from,
           nullif(hold.valid_until, 'infinity') as held_until,
           coalesce(nullif(hold.valid_until, 'infinity'), seen.observed_at, hold.observed_at) - hold.valid_from as held_for,
           hold.valid_until = 'infinity' as is_current,
           hold.acquired, hold.observed_at,
           -- Written out: a function would be called for each row.
           greatest(hold.observed_at, (
             select latest.observed_at
               from (select coalesce((select case when next.acquired = next.valid_from then next.observed_at
                                                  else least(next.valid_from, next.observed_at) end
                                        from game.territory_hold next
                                       where next.territory = hold.territory and next.valid_from = hold.valid_until),
                                     hold.valid_until) as at offset 0) ended
              cross join lateral (select run.observed_at from sync.run
                                   where run.resource = 'territories' and run.status in ('ok', 'unchanged', 'partial')
                                     and run.observed_at < coalesce((
                                           select min(span.from_at)
                                             from (select lacked.from_at, lacked.until_at from sync.unsent lacked
                                                    where lacked.resource = 'territories' and lacked.field in ('/guild', '/guild/uuid')
                                                    union all
                                                   select pending.first_at, null from sync.claim pending
                                                    where pending.resource = 'territories' and pending.kind = 'unsent'
                                                      and pending.subject in ('/guild', '/guild/uuid')
                                                    union all
                                                   select unread.from_at, unread.until_at from sync.unread
                                                    where unread.resource = 'territories/holds' and unread.key = hold.territory
                                                    union all
                                                   select pending.first_at, null from sync.claim pending
                                                    where (pending.resource, pending.kind) in (('territories/holds', 'unread'), ('territories', 'missing'))
                                                      and pending.subject = hold.territory) span
                                            where span.from_at < ended.at and coalesce(span.until_at, 'infinity') >= ended.at), ended.at)
                                   order by run.observed_at desc nulls last limit 1) latest)) as confirmed_until
      from game.territory_hold hold
     cross join (select max(observed_at) as observed_at from sync.run
                  where resource = 'territories' and status in ('ok', 'unchanged', 'partial')) seen
     where hold.guild_uuid is not null) known;
comment on view analytics.territory_hold is 'Every time a guild held a territory: from its capture, by the game''s own clock, until the next one.';
comment on column analytics.territory_hold.territory is 'Exact name of the territory.';
comment on column analytics.territory_hold.guild_uuid is 'The guild that held it.';
comment on column analytics.territory_hold.guild_name is 'Name of the guild when the hold was first seen.';
comment on column analytics.territory_hold.guild_prefix is 'Prefix of the guild when the hold was first seen.';
comment on column analytics.territory_hold.held_from is 'When it was captured (event time), or first seen held where the API gave no time.';
comment on column analytics.territory_hold.held_until is 'When it was lost; NULL while it is held. Lost without a new owner: when that was first seen.';
comment on column analytics.territory_hold.held_for is 'How long it was held; of a current hold, up to the latest response.';
comment on column analytics.territory_hold.is_current is 'True while it is held.';
comment on column analytics.territory_hold.acquired is 'The capture time the API gave; NULL when it gave none.';
comment on column analytics.territory_hold.observed_at is 'observed_at of the first response that showed the hold.';
comment on column analytics.territory_hold.confirmed_until is 'The last response that showed the hold. What was between it and held_until is not known where that is long.';
comment on column analytics.territory_hold.confirmed_for is 'How long it was held as far as responses show it: from held_from to confirmed_until, at most to held_until.';
