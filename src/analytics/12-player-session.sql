create or replace view analytics.player_session as
with numbered as (
  select part.*, count(*) filter (where part.is_continued is not true)
                   over (partition by part.player_uuid order by part.listed_from) as number
    from analytics.player_listing part
), session as (
  select numbered.player_uuid, numbered.number, min(numbered.listed_from) as listed_from, max(numbered.listed_until) as listed_until,
         (array_agg(numbered.world order by numbered.listed_from))[1] as world,
         (array_agg(numbered.last_world order by numbered.listed_from desc))[1] as last_world,
         (array_agg(numbered.login_earliest order by numbered.listed_from))[1] as login_earliest,
         (array_agg(numbered.login_latest order by numbered.listed_from))[1] as login_latest,
         (array_agg(numbered.logout_earliest order by numbered.listed_from desc))[1] as logout_earliest,
         (array_agg(numbered.logout_latest order by numbered.listed_from desc))[1] as logout_latest,
         bool_or(numbered.is_listed) as is_listed
    from numbered
   group by numbered.player_uuid, numbered.number
)
select session.player_uuid, coalesce(profile.username, member.username) as username, session.world,
       session.login_earliest, session.login_latest,
       case when session.logout_latest is not null or not session.is_listed then session.logout_earliest end as logout_earliest,
       session.logout_latest,
       case when session.logout_latest is not null then false when session.is_listed then true end as is_open,
       nullif(concat_ws('; ',
         case when session.login_earliest is null then 'may have been online before, hidden or unseen' end,
         case when session.logout_latest is null then
           case when session.is_listed then 'still online' else 'left the list, may be hidden' end end), '') as reason,
       session.last_world, session.listed_from, session.listed_until
  from session
  left join lateral (select known.username from game.player known
                      where known.player_uuid = session.player_uuid and known.username is not null
                      order by known.valid_from desc limit 1) profile on true
  left join lateral (select known.username from game.guild_member known
                      where known.player_uuid = session.player_uuid and known.username is not null and profile.username is null
                      order by known.valid_from desc limit 1) member on true;
comment on view analytics.player_session is 'When players were online, with the earliest and latest login and logout that all answers allow. Times that a player hid throughout are not here. Logging out and in again between two answers shows only where a profile or guild was asked afterwards.';
comment on column analytics.player_session.player_uuid is 'The player.';
comment on column analytics.player_session.username is 'The player''s latest name, where a profile or guild told one.';
comment on column analytics.player_session.world is 'Where the player was listed first; hops are in game.player_hop.';
comment on column analytics.player_session.login_earliest is 'The login was not before; NULL when that is not known.';
comment on column analytics.player_session.login_latest is 'The login was not after; equal to login_earliest where it is known to the second.';
comment on column analytics.player_session.logout_earliest is 'The logout was not before; NULL while the session is open.';
comment on column analytics.player_session.logout_latest is 'The logout was not after; NULL when that is not known.';
comment on column analytics.player_session.is_open is 'True when the latest answer lists the player, false after the logout, NULL when the player left the list and may be hidden.';
comment on column analytics.player_session.reason is 'Why a bound is NULL.';
comment on column analytics.player_session.last_world is 'Where the player was listed last.';
comment on column analytics.player_session.listed_from is 'The first answer that listed the player.';
comment on column analytics.player_session.listed_until is 'The last answer that listed the player.';
