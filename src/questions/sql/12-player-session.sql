create or replace view analytics.player_session as
select named.player_uuid, named.username, session.world,
       session.login_earliest, session.login_latest,
       case when session.logout_latest is not null or not session.is_listed then session.logout_earliest end as logout_earliest,
       session.logout_latest,
       case when session.logout_latest is not null then false when session.is_listed then true end as is_open,
       nullif(concat_ws('; ',
         case when session.login_earliest is null then 'may have been online before, hidden or unseen' end,
         case when session.logout_latest is null then
           case when session.is_listed then 'listed by the latest response' else 'left the list, may be hidden' end end), '') as reason,
       session.last_world, session.listed_from, session.listed_until,
       session.login_latest as login_estimate,
       case when session.logout_latest is not null or not session.is_listed then session.logout_earliest end as logout_estimate,
       extract(epoch from greatest(session.logout_earliest, session.login_latest) - session.login_latest)::double precision as seconds_estimate
  -- Sorted here, so that a page makes the sessions of those players alone whom it shows. Not in a "with": Postgres would plan that without the order.
  from (select * from (
    -- The latest name in a profile, or else in a guild.
    select profile.player_uuid, profile.username from game.player profile
     where profile.username is not null
       and not exists (select from game.player later where later.player_uuid = profile.player_uuid
                          and later.username is not null and later.valid_from > profile.valid_from)
    union all
    select member_name.player_uuid, member_name.username
      from (select member.player_uuid, member.username from game.guild_member member
             where member.username is not null
               and not exists (select from game.guild_member later where later.player_uuid = member.player_uuid
                                  and later.username is not null
                                  and (later.valid_from, later.guild_uuid) > (member.valid_from, member.guild_uuid))) member_name
     where not exists (select from game.player profile where profile.player_uuid = member_name.player_uuid and profile.username is not null)
    union all
    select nameless.player_uuid, null
      from (select distinct listed.player_uuid from game.player_listing listed) nameless
     where not exists (select from game.player profile where profile.player_uuid = nameless.player_uuid and profile.username is not null)
       and not exists (select from game.guild_member member where member.player_uuid = nameless.player_uuid and member.username is not null)
  ) named order by player_uuid) named
 -- One player after another: a question about one, by name or uuid, reads nothing of the others.
 cross join lateral (
   select min(part.listed_from) as listed_from, max(part.listed_until) as listed_until,
          (array_agg(part.world order by part.listed_from))[1] as world,
          (array_agg(part.last_world order by part.listed_from desc))[1] as last_world,
          (array_agg(part.login_earliest order by part.listed_from))[1] as login_earliest,
          (array_agg(part.login_latest order by part.listed_from))[1] as login_latest,
          (array_agg(part.logout_earliest order by part.listed_from desc))[1] as logout_earliest,
          (array_agg(part.logout_latest order by part.listed_from desc))[1] as logout_latest,
          bool_or(part.is_listed) as is_listed
     from (select listing.*, count(*) filter (where listing.is_continued is not true)
                               over (order by listing.listed_from) as number
             from analytics.player_listing listing where listing.player_uuid = named.player_uuid) part
    group by part.number
 ) session;
comment on view analytics.player_session is 'When players were online, with the earliest and latest login and logout that all responses allow. Times that a player hid throughout are not here. Logging out and in again between two responses shows only in a later response about the profile or guild.';
comment on column analytics.player_session.player_uuid is 'The player.';
comment on column analytics.player_session.username is 'The player''s latest name, where a profile or guild gives one.';
comment on column analytics.player_session.world is 'Where the player was listed first; hops are in game.player_hop.';
comment on column analytics.player_session.login_earliest is 'The login was not before; NULL when that is not known.';
comment on column analytics.player_session.login_latest is 'The login was not after; equal to login_earliest where it is known to the second.';
comment on column analytics.player_session.logout_earliest is 'The logout was not before; NULL while the session is open.';
comment on column analytics.player_session.logout_latest is 'The logout was not after; NULL when that is not known.';
comment on column analytics.player_session.is_open is 'True when the latest response lists the player, false after the logout, NULL when the player left the list and may be hidden.';
comment on column analytics.player_session.reason is 'Why a bound is NULL.';
comment on column analytics.player_session.last_world is 'Where the player was listed last.';
comment on column analytics.player_session.listed_from is 'The first response that listed the player.';
comment on column analytics.player_session.listed_until is 'The last response that listed the player.';
comment on column analytics.player_session.login_estimate is 'One likely login, never NULL: as a profile or guild shows it to the second, or else the first response that listed the player, up to one interval between responses too late.';
comment on column analytics.player_session.logout_estimate is 'One likely logout: the last response that showed the player online (list, profile or guild), up to one interval between responses too early; NULL while the latest response lists the player.';
comment on column analytics.player_session.seconds_estimate is 'From login_estimate to logout_estimate, or to the latest response while that lists the player; never NULL. A player who hid in between shows as two sessions.';
