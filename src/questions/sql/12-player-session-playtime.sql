-- seconds_min counts what responses show: between two of them that both list the player and are at most 90 seconds apart,
-- and from a login that is known exactly to the first response. seconds_max counts the widest bounds of each session, and
-- the times that some players were hidden and this one may have been among them, and those of which what was known had to
-- be removed: of these all that counts as watched in coverage, since between two responses an hour apart a hidden player may
-- have been online throughout. The time after the latest response does not count. seconds_estimate counts from login_estimate
-- to logout_estimate of each session in analytics.player_session, and lies between the two.
do $$
begin
  -- Another column is another type, which `create or replace` refuses.
  if exists (select from pg_proc where oid = to_regprocedure('analytics.player_playtime(uuid, timestamptz, timestamptz)')
                and not 'seconds_estimate' = any(proargnames)) then
    drop function analytics.player_playtime(uuid, timestamptz, timestamptz);
  end if;
end $$;
create or replace function analytics.player_playtime(player uuid, from_time timestamptz, to_time timestamptz)
returns table (day date, seconds_min double precision, seconds_max double precision, coverage real, seconds_estimate double precision)
language sql stable parallel safe set jit = off
begin atomic
  with cell as (
    select moment.at, (moment.at at time zone 'UTC')::date as day, greatest(moment.at, from_time) as begins,
           least(moment.at + interval '24 hours', to_time, seen.at) as ends
      from analytics.cells(from_time, to_time, interval '24 hours', 'epoch') as moment(at)
     cross join (select max(observed_at) as at from sync.run
                  where resource = 'online-players' and status in ('ok', 'unchanged', 'partial')) seen
  ), listing as materialized (
    select part.login_earliest, part.login_latest, part.listed_from, part.listed_until, part.logout_earliest, part.logout_latest,
           count(*) filter (where part.is_continued is not true) over (order by part.listed_from) as session
      from analytics.player_listing part where part.player_uuid = player
  ), session as (
    -- The same as analytics.player_session, from listings that are read already.
    select one.login_earliest, one.login_latest, one.logout_earliest, one.logout_latest, one.listed_from, one.listed_until,
           lag(one.listed_until) over own as before_until, lead(one.listed_from) over own as after_from
      from (select min(listing.listed_from) as listed_from, max(listing.listed_until) as listed_until,
                   (array_agg(listing.login_earliest order by listing.listed_from))[1] as login_earliest,
                   (array_agg(listing.login_latest order by listing.listed_from))[1] as login_latest,
                   (array_agg(listing.logout_earliest order by listing.listed_from desc))[1] as logout_earliest,
                   (array_agg(listing.logout_latest order by listing.listed_from desc))[1] as logout_latest
              from listing group by listing.session) one
    window own as (order by one.listed_from)
  ), certain as (
    select range_agg(shown.during) as spans
      from (select tstzrange(listing.login_latest, listing.listed_from) as during from listing
             where listing.login_latest < listing.listed_from
            union all
            select tstzrange(listing.listed_until, listing.logout_earliest) from listing
             where listing.listed_until < listing.logout_earliest
            union all
            select tstzrange(step.begins, step.ends)
              from listing
             cross join lateral (
               select greatest(span.first_at, listing.listed_from) as begins,
                      least(case when span.next_at - span.last_at <= interval '90 seconds' then span.next_at else span.last_at end,
                            listing.listed_until) as ends
                 from analytics.online_span(greatest(listing.listed_from, from_time - interval '90 seconds'),
                                            least(listing.listed_until, to_time + interval '90 seconds')) span) step
             where listing.listed_from < to_time and listing.listed_until > from_time and step.begins < step.ends) shown
  ), likely as (
    select range_agg(tstzrange(session.login_latest, session.logout_earliest)) as spans
      from session where session.login_latest < session.logout_earliest
  ), possible as (
    -- Where a bound is not known, the sessions before and after it are the limit. Sessions of a lake may overlap.
    select range_agg(tstzrange(widest.since, widest.until)) as spans
      from (select coalesce(session.login_earliest, session.before_until, '-infinity') as since,
                   coalesce(session.logout_latest, session.after_from, 'infinity') as until from session) widest
     where widest.since <= widest.until
  ), secret as (
    -- The times for which it is unknown whether this player hides.
    select range_agg(tstzrange(privacy.observed_at, privacy.until)) as spans
      from (select status.online, status.observed_at,
                   lead(status.observed_at, 1, 'infinity') over (order by status.observed_at) as until
              from (select profile.observed_at, profile.online from game.player_status profile where profile.player_uuid = player
                     union all
                    select member.observed_at, member.online from game.member_presence member where member.player_uuid = player
                     union all
                    select '-infinity', null::boolean) status) privacy
     where privacy.online is null and privacy.observed_at < privacy.until
  ), removed as (
    -- What a pending restriction is to remove is not shown any more.
    select range_agg(tstzrange('-infinity', began.at)) as spans
      from (select action.at from sync.privacy_action action
             where action.field_group in ('onlineStatus', 'everything')
               and (action.player_uuid = player or action.player_hash = sha256(player::text::bytea))
             union all
            select rule.since from sync.privacy_restriction rule
             where rule.player_uuid = player and rule.field_group = 'onlineStatus' and rule.is_pending) began
  ), hiding as (
    select range_agg(tstzrange(rule.since, 'infinity')) as spans from sync.privacy_restriction rule
     where rule.player_uuid = player and rule.field_group = 'onlineStatus'
  ), unsure as materialized (
    -- Outside of it neither hidden players nor responses matter; NULL where nothing is unsure.
    select lower(part.span) as since, upper(part.span) as until
      from (select range_merge((coalesce(secret.spans, '{}') + coalesce(removed.spans, '{}'))
                               * tstzmultirange(tstzrange(from_time, greatest(from_time, to_time)))) as span
              from secret cross join removed) part
  ), numbers as materialized (
    -- From the last number before.
    select coalesce((select max(before.observed_at) from game.online_sample before where before.observed_at <= unsure.since), unsure.since) as since,
           unsure.until
      from unsure
  ), shown as materialized (
    -- There is hardly ever a number without hidden players; of more of them, every number is read instead.
    select array_agg(few.observed_at) as at, count(*) <= 1000 as is_all
      from (select sample.observed_at from numbers
              join game.online_sample sample on sample.observed_at >= numbers.since and sample.observed_at < numbers.until
             where sample.hidden = 0 limit 1001) few
  ), hidden as (
    select case when begun.at is not null
                then tstzmultirange(tstzrange(begun.at, 'infinity')) - coalesce(apart.spans, '{}') end as spans
      from numbers
     cross join shown
     cross join lateral (select min(sample.observed_at) as at from game.online_sample sample
                          where sample.observed_at >= numbers.since and sample.observed_at < numbers.until) begun
     cross join lateral (
       select range_agg(tstzrange(free.at, greatest(free.at, free.until, case when free.is_more then free.next_at end))) as spans
         from (select one.at, next.at as next_at, lead(one.at) over (order by one.at) = next.at as is_more,
                      -- Since the response before, where that is too long ago to know.
                      case when next.at <= one.at + interval '90 seconds' or next.at = 'infinity' then next.at
                           else (select case when next.at - before.at > interval '90 seconds' then before.at else next.at end
                                   from (select analytics.online_answer_before(next.at) as at) before) end as until
                 from unnest(shown.at) as one(at)
                cross join lateral (
                  select coalesce(
                    (select min(soon.observed_at) from game.online_sample soon
                      where soon.observed_at > one.at and soon.observed_at < least(numbers.until, one.at + interval '1 hour')),
                    (select min(later.observed_at) from game.online_sample later
                      where later.observed_at > one.at and later.observed_at < numbers.until), 'infinity') as at) next) free) apart
     where shown.is_all
     union all
    -- Of many numbers in a row only the first with hidden players, and the first without.
    select range_agg(tstzrange(
             case when turn.observed_at - turn.before_at > interval '90 seconds'
                  then (select case when turn.observed_at - before.at > interval '90 seconds' then before.at else turn.observed_at end
                          from (select analytics.online_answer_before(turn.observed_at) as at) before)
                  else turn.observed_at end, turn.until))
      from (select marked.is_hidden, marked.observed_at, marked.before_at,
                   lead(marked.observed_at, 1, 'infinity') over (order by marked.observed_at) as until
              from (select sample.observed_at, sample.hidden is distinct from 0 as is_hidden,
                           lag(sample.hidden is distinct from 0) over own as was_hidden,
                           lag(sample.observed_at) over own as before_at
                      from numbers
                      join game.online_sample sample on sample.observed_at >= numbers.since and sample.observed_at < numbers.until
                     where not (select shown.is_all from shown)
                    window own as (order by sample.observed_at)) marked
             where marked.is_hidden is distinct from marked.was_hidden) turn
     where turn.is_hidden
    having not (select shown.is_all from shown)
  ), looked as (
    -- What coverage counts as watched, however far apart the responses are, and what they certainly cover.
    select coalesce(dense.spans, '{}') + coalesce(covered.spans, '{}') as spans
      from (select range_agg(tstzrange(stretch.begins, stretch.ends)) as spans
              from unsure cross join lateral analytics.online_watched(unsure.since, unsure.until) stretch) dense
     cross join (
       select range_agg(part.span) as spans
         from unsure
        cross join analytics.watch('online-players') watch
        cross join lateral (
          select range_agg(tstzrange(case when gap.missed = 0 then gap.began_at
                                          else gap.began_at + (gap.ended_at - gap.began_at) / (gap.missed + 1) end, gap.ended_at)) as spans
            from analytics.unobserved('online-players', unsure.since, unsure.until) gap) blind
        cross join lateral unnest(tstzmultirange(tstzrange(greatest(watch.first_at, unsure.since), unsure.until))
                                  - coalesce(blind.spans, '{}')) as part(span)
        where watch.first_at < unsure.until) covered
  ), bound as materialized (
    select coalesce(certain.spans, '{}') as fewest,
           coalesce(likely.spans, '{}') + coalesce(certain.spans, '{}') as likely,
           coalesce(possible.spans, '{}') + coalesce(certain.spans, '{}')
             + (coalesce(secret.spans, '{}') * coalesce(hidden.spans, '{}') + coalesce(removed.spans, '{}'))
               * coalesce(looked.spans, '{}') as most,
           coalesce(hiding.spans, '{}') + coalesce(removed.spans, '{}') as unlikely
      from hiding cross join certain cross join likely cross join possible cross join secret cross join hidden cross join removed cross join looked
  )
  select cell.day, case when known.is_known then coalesce(fewest.seconds, 0) end,
         case when known.is_known then coalesce(most.seconds, 0) end, watch.coverage,
         case when known.is_known and not tstzrange(cell.begins, greatest(cell.begins, cell.ends)) && bound.unlikely
              then coalesce(likely.seconds, 0) end
    from cell
   cross join lateral (select not exists (select from sync.tier where tier.sample_table = 'game.player_listing'
                                             and tier.fine_since > cell.begins)
                                 and not exists (select from sync.source_span span
                                                  where span.resource = 'online-players' and not span.has_sessions
                                                    and span.began_at < cell.ends and span.ended_at > cell.begins) as is_kept) kept
    join analytics.watched('online-players', from_time, to_time, interval '24 hours', 'epoch') watch on watch.at = cell.at
   cross join bound
   cross join lateral (
     select sum(extract(epoch from upper(part.span) - lower(part.span)))::double precision as seconds
       from unnest(tstzmultirange(tstzrange(cell.begins, greatest(cell.begins, cell.ends))) * bound.fewest) as part(span)
   ) fewest
   cross join lateral (
     -- A day without responses is unknown, but for what profiles or guilds show of it.
     select kept.is_kept
            and (fewest.seconds > 0
                 or coalesce(watch.coverage > 0,
                             exists (select from sync.run
                                      where run.resource = 'online-players' and run.status in ('ok', 'unchanged', 'partial')
                                        and run.observed_at between cell.begins and cell.ends))) as is_known
   ) known
   cross join lateral (
     select sum(extract(epoch from upper(part.span) - lower(part.span)))::double precision as seconds
       from unnest(tstzmultirange(tstzrange(cell.begins, greatest(cell.begins, cell.ends))) * bound.most) as part(span)
   ) most
   cross join lateral (
     select sum(extract(epoch from upper(part.span) - lower(part.span)))::double precision as seconds
       from unnest(tstzmultirange(tstzrange(cell.begins, greatest(cell.begins, cell.ends))) * bound.likely) as part(span)
   ) likely
   order by cell.day;
end;
comment on function analytics.player_playtime(uuid, timestamptz, timestamptz) is
'How long a player was online on each day (UTC) of [from_time, to_time), in seconds: at least what the responses show, at most what the bounds of the sessions allow; seconds_estimate is one likely number between the two, from login_estimate to logout_estimate of each session, and NULL on days of which the player hides a part. A player who may have been hidden may have been online for all of the watched time; time without observations shows in coverage alone. All NULL on days without observations, on days that the retention of game.player_listing has removed, and on those observed by another database whose sessions were not imported.';

-- The functions of an older version, replaced above, depend on it.
drop function if exists analytics.online_answer(timestamptz, timestamptz);
