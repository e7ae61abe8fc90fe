-- A column that is new: what returns others cannot be replaced.
do $$
begin
  if exists (select from pg_proc where oid = to_regprocedure('analytics.player_biography(uuid)') and not 'confirmed_until' = any(proargnames)) then
    drop function analytics.player_biography(uuid);
  end if;
end $$;

create or replace function analytics.player_biography(player uuid)
returns table (valid_from timestamptz, valid_until timestamptz, username text, guild_uuid uuid, guild_name text, guild_rank text,
               confirmed_until timestamptz)
language sql stable parallel safe set jit = off
begin atomic
  with hidden as materialized (
    select exists (select from sync.privacy_restriction rule
                    where rule.player_uuid = player and rule.field_group = 'guildHistoryAccess') as guilds
  ), lacking as materialized (
    select 'guild_rank' = any (unsent.columns) as rank from analytics.not_sent('player') unsent
  ), version as (
    select profile.valid_from, profile.valid_until, profile.username, shown.guild_uuid, shown.guild_name,
           lower(shown.guild_rank collate "C") collate "default" as guild_rank
      from game.player profile
      -- Without the former guilds of a player who hides these: they are to be removed.
      left join lateral (select profile.guild_uuid, profile.guild_name, profile.guild_rank
                          where profile.valid_until = 'infinity' or not (select hidden.guilds from hidden)
                             or profile.guild_uuid = (select now.guild_uuid from game.player now
                                                       where now.player_uuid = player and now.valid_until = 'infinity')) shown on true
     where profile.player_uuid = player
     union all
    -- Players without a synced profile are known from guilds alone.
    select member.valid_from, member.valid_until, member.username, member.guild_uuid, named.name, member.rank
      from analytics.membership member
     cross join lateral (select min(listed.valid_from) as at from game.guild_listing listed
                          where listed.guild_uuid = member.guild_uuid) known
      left join lateral (select listed.name from game.guild_listing listed
                          where listed.guild_uuid = member.guild_uuid and listed.valid_from <= greatest(member.valid_from, known.at)
                          order by listed.valid_from desc limit 1) named on true
     where member.player_uuid = player
       and not exists (select from game.player profile where profile.player_uuid = player)
  ), beside as (
    select version.*, count(version.username) over own as name_number, lag(version.guild_uuid) over own as uuid_before,
           lag(version.guild_name) over own as name_before, lag(version.guild_rank) over own as rank_before,
           -- Without a guild between two versions with one, or at the end.
           version.guild_uuid is null and lag(version.guild_uuid) over own is not null
             and lag(version.valid_until) over own = version.valid_from
             and (lead(version.valid_from) over own is null or lead(version.guild_uuid) over own is not null) as may_be_missing
      from version
    window own as (order by version.valid_from)
  ), carried as (
    -- What one response lacks has not changed: it takes another one to show that.
    select beside.valid_from, beside.valid_until,
           max(beside.username) over (partition by beside.name_number) as username,
           case when missing.is_so then beside.uuid_before else beside.guild_uuid end as guild_uuid,
           case when missing.is_so then beside.name_before else beside.guild_name end as guild_name,
           case when missing.is_so then beside.rank_before else beside.guild_rank end as guild_rank
      from beside
     cross join lateral (select beside.may_be_missing
                                -- Of such a version the only response stays in the ledger; those of others may be gone.
                                and (select min(one.observed_at) = beside.valid_from and max(one.observed_at) = beside.valid_from
                                       from sync.observation one
                                      where one.resource = 'players' and one.key = player::text
                                        and one.status in ('ok', 'unchanged', 'partial')
                                        and one.observed_at >= beside.valid_from and one.observed_at < beside.valid_until) as is_so) missing
  ), marked as (
    select version.*,
           (version.username, version.guild_uuid, version.guild_name, version.guild_rank, version.valid_from)
             is distinct from
           (lag(version.username) over own, lag(version.guild_uuid) over own, lag(version.guild_name) over own,
            lag(version.guild_rank) over own, lag(version.valid_until) over own) as is_other
      from carried version
    window own as (order by version.valid_from)
  ), numbered as (
    select marked.*, count(*) filter (where marked.is_other) over (order by marked.valid_from) as number from marked
  )
  select stay.begins, nullif(stay.ends, 'infinity'), stay.username, stay.guild_uuid, stay.guild_name,
         case when stay.is_ranked then stay.guild_rank end,
         greatest(stay.shown_at, (select one.observed_at from sync.observation one
                                   where one.resource = case when source.is_profile then 'players' else 'guilds' end
                                     and one.key = case when source.is_profile then player else stay.guild_uuid end::text
                                     and one.status in ('ok', 'unchanged', 'partial')
                                     and one.observed_at < coalesce(case when source.is_profile then analytics.unread_from('players', player::text, stay.ends)
                                                                         else analytics.unread_from('guilds/members', stay.guild_uuid::text || '/' || player::text, stay.ends) end,
                                                                    stay.ends)
                                     -- Nor does a response confirm what the API does not send.
                                     and not exists (select from sync.unsent span
                                                      where span.resource = one.resource and span.from_at <= one.observed_at
                                                        and coalesce(span.until_at, 'infinity') > one.observed_at
                                                        and (span.columns && array['player.username', 'player.guild_uuid', 'player.guild_name']
                                                             or 'player.guild_rank' = any (span.columns) and stay.is_ranked))
                                   order by one.observed_at desc limit 1))
    from (select min(numbered.valid_from) as begins, max(numbered.valid_until) as ends, max(numbered.valid_from) as shown_at,
                 numbered.username, numbered.guild_uuid, numbered.guild_name, numbered.guild_rank,
                 max(numbered.valid_until) < 'infinity' or not (select lacking.rank from lacking) as is_ranked
            from numbered
           group by numbered.number, numbered.username, numbered.guild_uuid, numbered.guild_name, numbered.guild_rank) stay
   cross join (select exists (select from game.player profile where profile.player_uuid = player) as is_profile) source
   order by stay.begins;
end;
comment on function analytics.player_biography(uuid) is
'The names, guilds and ranks of a player, from when to when; valid_until is NULL while it is so; confirmed_until: the last response that showed it, after which it is not known until valid_until. From the player''s profile, or from guilds for players without a synced profile. A guild that only one response lacks, and a name that is not sent, count as unchanged; a rank that is not sent now is NULL.';
