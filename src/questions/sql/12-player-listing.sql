-- What is known of each player's presence, in parts: times during which every response listed the player, cut where
-- `lastJoin` shows a login in between. A login at j that a response at e shows means that there was no login in (j, e].
create or replace view analytics.player_listing as
with listing as (
  select one.player_uuid, one.first_listed_at, one.last_listed_at, one.login_earliest, one.logout_latest,
         one.world, one.last_world, coalesce(one.last_listed_at, greatest(seen.at, one.first_listed_at)) as until,
         lag(one.last_listed_at) over own as before_until, lead(one.first_listed_at) over own as after_from
    from game.player_listing one
   cross join (
     select case when not exists (select from sync.source_span where resource = 'online-players' and not has_sessions)
                 then (select max(observed_at) from sync.run
                        where resource = 'online-players' and status in ('ok', 'unchanged', 'partial'))
                 -- Of a response of another database, whose sessions were not imported, is not known whom it listed.
                 else (select max(run.observed_at) from sync.run
                        where run.resource = 'online-players' and run.status in ('ok', 'unchanged', 'partial')
                          and not exists (select from sync.source_span span
                                           where span.resource = run.resource and not span.has_sessions and span.source_id = run.source_id
                                             and run.observed_at between span.began_at and span.ended_at)) end as at) seen
   where not exists (select from sync.privacy_restriction rule
                      where rule.player_uuid = one.player_uuid and rule.field_group = 'onlineStatus')
  window own as (partition by one.player_uuid order by one.first_listed_at)
), evidence as (
  -- Read once, into arrays in the order of time: width_bucket counts how many of their instants are not after another one.
  select observed.player_uuid,
         array_agg(observed.observed_at order by observed.observed_at) filter (where not observed.online) as offline_at,
         array_agg(distinct observed.last_join order by observed.last_join) filter (where observed.last_join is not null) as login_at,
         array_agg(observed.observed_at order by observed.observed_at, observed.last_join) filter (where observed.last_join is not null) as dated_at,
         array_agg(observed.last_join order by observed.observed_at, observed.last_join) filter (where observed.last_join is not null) as dated_login,
         array_agg(observed.last_join order by observed.last_join) filter (where observed.online and observed.last_join is not null) as online_login,
         array_agg(observed.online_at order by observed.last_join) filter (where observed.online and observed.last_join is not null) as online_at
    from (select one.player_uuid, one.observed_at, one.online, one.last_join,
                 -- The last response that had the player online since this login or an earlier one.
                 max(one.observed_at) filter (where one.online) over (partition by one.player_uuid order by one.last_join) as online_at
            from analytics.player_evidence one) observed
   group by observed.player_uuid
), shown as materialized (
  select array_agg(numbers.observed_at order by numbers.observed_at) as at from game.online_sample numbers
   where numbers.hidden = 0
     and not exists (select from sync.source_span span where span.resource = 'online-players' and not span.has_sessions
                        and numbers.observed_at between span.began_at and span.ended_at)
)
select listing.player_uuid, known.listed_from, known.listed_until, known.is_listed, known.login_earliest, known.login_latest,
       known.login_exact, known.logout_earliest, known.logout_latest, known.is_continued, listing.world, listing.last_world
  from listing
  left join evidence on evidence.player_uuid = listing.player_uuid
 cross join lateral (
   select coalesce(width_bucket(listing.first_listed_at, evidence.login_at), 0) as first_cut,
          coalesce(width_bucket(listing.until, evidence.login_at), 0) as last_cut,
          listing.first_listed_at - interval '1 microsecond' as just_before
 ) span
 cross join lateral generate_series(span.first_cut, span.last_cut) as part(number)
 cross join lateral (
   select case when part.number > span.first_cut then evidence.login_at[part.number] end as cut,
          case when part.number < span.last_cut then evidence.login_at[part.number + 1] end as next_cut
 ) login
 cross join lateral (
   select case when login.next_cut is null then listing.until
               else greatest(analytics.online_answer_before(login.next_cut), listing.first_listed_at) end as listed_until,
          -- Offline: a profile shows it without hiding it, or the player is not listed while no player is hidden.
          greatest(listing.login_earliest, evidence.offline_at[width_bucket(span.just_before, evidence.offline_at)],
                   case when listing.login_earliest is null then
                     (select empty.at from (select (select at from shown)[width_bucket(span.just_before, (select at from shown))] as at) empty
                       where empty.at > coalesce(listing.before_until, '-infinity')) end) as login_earliest,
          evidence.dated_login[width_bucket(span.just_before, evidence.dated_at) + 1] as first_reported
   offset 0
 ) bounds
 cross join lateral (
   select case when login.cut is null and bounds.first_reported <= listing.first_listed_at
                and bounds.first_reported >= coalesce(bounds.login_earliest, '-infinity') then bounds.first_reported end as login,
          -- A player shown as online who logged in before is online still.
          case when login.next_cut is null then evidence.online_at[width_bucket(bounds.listed_until, evidence.online_login)] end as online_at
 ) exact
 cross join lateral (
   select case when login.cut is null then listing.first_listed_at
               else least(coalesce(analytics.online_answer_after(login.cut), login.cut), login.next_cut) end as listed_from,
          bounds.listed_until,
          case when login.next_cut is null then listing.last_listed_at is null else false end as is_listed,
          coalesce(login.cut, exact.login, bounds.login_earliest) as login_earliest,
          coalesce(login.cut, exact.login, listing.first_listed_at) as login_latest,
          coalesce(login.cut, exact.login) as login_exact,
          greatest(bounds.listed_until, exact.online_at) as logout_earliest,
          coalesce(login.next_cut,
            least(listing.logout_latest,
                  evidence.offline_at[width_bucket(bounds.listed_until, evidence.offline_at) + 1],
                  evidence.login_at[width_bucket(bounds.listed_until, evidence.login_at) + 1],
                  case when listing.logout_latest is null then
                    (select empty.at from (select (select at from shown)[width_bucket(listing.last_listed_at, (select at from shown)) + 1] as at) empty
                      where empty.at < coalesce(listing.after_from, 'infinity')) end)) as logout_latest,
          login.cut is null and exact.login <= listing.before_until as is_continued
   -- Later steps sort these few columns, not the arrays.
   offset 0
 ) known;
comment on view analytics.player_listing is 'Times during which every response listed a player as online, with the bounds of the login before and the logout after, from these, profiles and guilds. The parts of analytics.player_session.';
comment on column analytics.player_listing.player_uuid is 'The player.';
comment on column analytics.player_listing.listed_from is 'The first response that listed the player.';
comment on column analytics.player_listing.listed_until is 'The last response that did.';
comment on column analytics.player_listing.is_listed is 'True when that is the latest response.';
comment on column analytics.player_listing.login_earliest is 'The login was not before; NULL when that is not known, because the player may have been hidden.';
comment on column analytics.player_listing.login_latest is 'The login was not after.';
comment on column analytics.player_listing.login_exact is 'The login to the second, where a profile or guild shows it.';
comment on column analytics.player_listing.logout_earliest is 'The logout was not before.';
comment on column analytics.player_listing.logout_latest is 'The logout was not after; NULL when that is not known.';
comment on column analytics.player_listing.is_continued is 'True when the player did not log in again since the listing before: it belongs to the same session.';
comment on column analytics.player_listing.world is 'Where the player was listed first.';
comment on column analytics.player_listing.last_world is 'Where the player was listed last.';
