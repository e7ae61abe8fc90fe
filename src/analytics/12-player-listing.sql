-- What is known of each player's presence, in parts: times during which every answer listed the player, cut where
-- `lastJoin` tells of a login in between. A login at j that was told at e means that there was no login in (j, e].
create or replace view analytics.player_listing as
with listing as (
  select one.player_uuid, one.first_listed_at, one.last_listed_at, one.first_unlisted_at, one.login_earliest, one.logout_latest,
         one.world, one.last_world, coalesce(one.last_listed_at, greatest(seen.at, one.first_listed_at)) as until,
         lag(one.last_listed_at) over own as before_until, lead(one.first_listed_at) over own as after_from
    from game.player_listing one
   cross join (select max(observed_at) as at from sync.run
                where resource = 'online-players' and status in ('ok', 'unchanged', 'partial')) seen
  window own as (partition by one.player_uuid order by one.first_listed_at)
), part as (
  select listing.*, login.at as cut, lead(login.at) over (partition by listing.player_uuid, listing.first_listed_at
                                                          order by login.at nulls first) as next_cut
    from listing
   cross join lateral (
     select null::timestamptz as at
      union
     select told.last_join from analytics.player_evidence told
      where told.player_uuid = listing.player_uuid
        and told.last_join > listing.first_listed_at and told.last_join <= listing.until
   ) login
)
select part.player_uuid,
       case when part.cut is null then part.first_listed_at
            else least(coalesce(analytics.online_answer_after(part.cut), part.cut), part.next_cut) end as listed_from,
       bounds.listed_until,
       case when part.next_cut is null then part.last_listed_at is null else false end as is_listed,
       coalesce(part.cut, exact.login, bounds.login_earliest) as login_earliest,
       coalesce(part.cut, exact.login, part.first_listed_at) as login_latest,
       coalesce(part.cut, exact.login) as login_exact,
       greatest(bounds.listed_until, still.online_at) as logout_earliest,
       coalesce(part.next_cut, over.logout_latest) as logout_latest,
       part.cut is null and exact.login <= part.before_until as is_continued,
       part.world, part.last_world
  from part
 cross join lateral (
   select case when part.next_cut is null then part.until
               else greatest(analytics.online_answer_before(part.next_cut), part.first_listed_at) end as listed_until,
          -- Offline is who a profile says so of without hiding it, and who is not listed when nobody is hidden.
          greatest(part.login_earliest,
                   (select max(told.observed_at) from analytics.player_evidence told
                     where told.player_uuid = part.player_uuid and not told.online and told.observed_at < part.first_listed_at),
                   (select max(numbers.observed_at) from game.online_sample numbers
                     where part.login_earliest is null and numbers.hidden = 0 and numbers.observed_at < part.first_listed_at
                       and numbers.observed_at > coalesce(part.before_until, '-infinity'))) as login_earliest
 ) bounds
  left join lateral (
    select told.last_join as login
      from (select other.last_join from analytics.player_evidence other
             where other.player_uuid = part.player_uuid and other.observed_at >= part.first_listed_at
               and other.last_join is not null and part.cut is null
             order by other.observed_at limit 1) told
     where told.last_join <= part.first_listed_at and told.last_join >= coalesce(bounds.login_earliest, '-infinity')
  ) exact on true
 cross join lateral (
   select least(part.logout_latest,
                min(told.observed_at) filter (where not told.online and told.observed_at > bounds.listed_until),
                min(told.last_join) filter (where told.last_join > bounds.listed_until),
                (select min(numbers.observed_at) from game.online_sample numbers
                  where part.logout_latest is null and part.last_listed_at is not null and numbers.hidden = 0
                    and numbers.observed_at > part.last_listed_at
                    and numbers.observed_at < coalesce(part.after_from, 'infinity'))) as logout_latest
     from analytics.player_evidence told
    where told.player_uuid = part.player_uuid
 ) over
 cross join lateral (
   select max(told.observed_at) as online_at
     from analytics.player_evidence told
    where told.player_uuid = part.player_uuid and part.next_cut is null
      and told.online and told.observed_at > bounds.listed_until and told.last_join <= bounds.listed_until
 ) still;
comment on view analytics.player_listing is 'Times during which every answer listed a player as online, with what they and all that profiles and guilds tell say about the login before and the logout after. The parts of analytics.player_session.';
comment on column analytics.player_listing.player_uuid is 'The player.';
comment on column analytics.player_listing.listed_from is 'The first answer that listed the player.';
comment on column analytics.player_listing.listed_until is 'The last answer that did.';
comment on column analytics.player_listing.is_listed is 'True when that is the latest answer.';
comment on column analytics.player_listing.login_earliest is 'The login was not before; NULL when that is not known, because the player may have been hidden.';
comment on column analytics.player_listing.login_latest is 'The login was not after.';
comment on column analytics.player_listing.login_exact is 'The login to the second, where a profile or guild told it.';
comment on column analytics.player_listing.logout_earliest is 'The logout was not before.';
comment on column analytics.player_listing.logout_latest is 'The logout was not after; NULL when that is not known.';
comment on column analytics.player_listing.is_continued is 'True when the player did not log in again since the listing before: it belongs to the same session.';
comment on column analytics.player_listing.world is 'Where the player was listed first.';
comment on column analytics.player_listing.last_world is 'Where the player was listed last.';
