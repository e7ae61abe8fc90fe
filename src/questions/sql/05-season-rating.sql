create or replace function analytics.season_rating(season int)
returns table (guild_uuid uuid, guild_name text, reported_rating bigint, holding_estimate bigint, war_estimate bigint,
               as_of timestamptz, coverage real, reason text)
language sql stable parallel safe set jit = off
begin atomic
  with recursive definition as (
    select version.started_at, version.ends_at, version.territory_holding_sr_per_hour as per_hour, version.sr_per_war as per_war
      from game.season version where version.season = season_rating.season
     order by version.valid_from desc limit 1
  ), map as (
    select max(observed_at) as seen_at from sync.run
     where resource = 'territories' and status in ('ok', 'unchanged', 'partial')
  ), begun as materialized (
    select standing.guild_uuid, standing.valid_from, least(standing.valid_until, standing.unread_from) as valid_until
      from definition
     cross join analytics.territory_held place
     -- Of a place whose record cannot be read, or does not say it, it is known until then who held it.
     cross join lateral (select one.guild_uuid, one.valid_from, one.valid_until,
                                least((select min(unread.from_at) from sync.unread
                                        where unread.resource = 'territories/holds' and unread.key = one.territory and unread.from_at < one.valid_until
                                          and coalesce(unread.until_at, 'infinity') >= one.valid_until),
                                      analytics.territory_sent_until('{/guild,/guild/uuid}', one.valid_until)) as unread_from
                           from game.territory_hold one
                          where one.territory = place.territory and one.valid_from <= definition.started_at
                          order by one.valid_from desc limit 1) standing
     where least(standing.valid_until, standing.unread_from) > definition.started_at
  ), cut as materialized (
    -- The same of what ended since. These are few of the holds; the others are read from the index of guilds alone.
    select ended.guild_uuid, ended.valid_from, ended.valid_until, min(ended.from_at) as unread_from
      from definition
     cross join lateral (
       select hold.*, unread.from_at from sync.unread
         join game.territory_hold hold on hold.territory = unread.key and hold.valid_until > unread.from_at
          and hold.valid_until <= coalesce(unread.until_at, 'infinity')
        where unread.resource = 'territories/holds' and coalesce(unread.until_at, 'infinity') > definition.started_at
       union all
       select hold.*, span.from_at from sync.unsent span
         join game.territory_hold hold on hold.valid_until > span.from_at and hold.valid_until <= coalesce(span.until_at, 'infinity')
        where span.resource = 'territories' and span.field in ('/guild', '/guild/uuid')
          and coalesce(span.until_at, 'infinity') > definition.started_at) ended
     where ended.valid_from > definition.started_at
     group by ended.territory, ended.guild_uuid, ended.valid_from, ended.valid_until
  ), holder (guild_uuid) as (
    -- A loose index scan: one entry per guild, however much it held.
    (select hold.guild_uuid from game.territory_hold hold where hold.guild_uuid is not null order by hold.guild_uuid limit 1)
    union all
    select (select hold.guild_uuid from game.territory_hold hold
             where hold.guild_uuid > holder.guild_uuid order by hold.guild_uuid limit 1)
      from holder where holder.guild_uuid is not null
  ), held as (
    -- Those who held something when it began, and those who captured something since.
    select standing.guild_uuid from begun standing
      join definition on definition.started_at < coalesce(definition.ends_at, 'infinity')
     where standing.guild_uuid is not null
     union
    select holder.guild_uuid from holder cross join definition
     where exists (select from game.territory_hold hold
                    where hold.guild_uuid = holder.guild_uuid and hold.valid_from > definition.started_at
                      and hold.valid_from < coalesce(definition.ends_at, 'infinity'))
  ), guild as (
    select reported.guild_uuid from game.guild_season reported where reported.season = season_rating.season
     union
    select held.guild_uuid from held
  ), rated as (
    select guild.guild_uuid, latest.rating,
           -- A rating holds until the last response about the guild; after the season's end nothing is added.
           least(coalesce(work.observed_at, map.seen_at), definition.ends_at) as as_of,
           -- What the API does not send is unknown, unless a response after the season said it.
           exists (select from sync.unsent span
                    where span.resource = 'guilds' and span.columns && array['guild_season.*', 'guild_season.rating']
                      and span.from_at <= least(work.observed_at, definition.ends_at)
                      and coalesce(span.until_at, 'infinity') > work.observed_at) as is_unsent
      from guild
     cross join map
      left join definition on true
      left join sync.work_item work on work.resource = 'guilds' and work.key = guild.guild_uuid::text
      left join lateral (select reported.rating from game.guild_season reported
                          where reported.guild_uuid = guild.guild_uuid and reported.season = season_rating.season
                            -- What one response does not give has not changed.
                            and reported.rating is not null
                          order by reported.observed_at desc limit 1) latest on true
  ), unsent as materialized (
    select span.from_at, coalesce(span.until_at, 'infinity') as until_at from sync.unsent span
     where span.resource = 'guilds' and 'guild_sample.wars' = any (span.columns)
  ), share as materialized (
    -- Shared by all guilds with responses of the same instant.
    select instant.as_of, analytics.watched_share('territories', definition.started_at, instant.as_of) as coverage
      from (select distinct rated.as_of from rated) instant cross join definition
  )
  select rated.guild_uuid, coalesce(named.name, last_hold.guild_name) collate "C", case when not rated.is_unsent then rated.rating end,
         case when definition.per_hour is not null and share.coverage > 0 and abs(coalesce(holding.seconds, 0) * definition.per_hour / 3600) <= 2 ^ 53
              then floor(coalesce(holding.seconds, 0) * definition.per_hour / 3600)::bigint end,
         case when abs(wars.fought::numeric * definition.per_war) <= 2 ^ 53 then (wars.fought * definition.per_war)::bigint end, rated.as_of, share.coverage,
         nullif(concat_ws('; ',
           case when rated.is_unsent then 'the API does not send ratings'
                when rated.rating is null then 'no response has a rating' end,
           case when definition.started_at is null then 'nothing is known of the season'
                when definition.per_hour is null or definition.per_war is null then 'the API does not give the rates of the season' end,
           case when definition.started_at is not null and coalesce(share.coverage, 0) < 1 then 'the map was not watched all the time' end,
           case when exists (select from sync.unread span
                              where span.resource = 'territories/holds' and span.from_at < rated.as_of
                                and coalesce(span.until_at, 'infinity') > definition.started_at)
                then 'who held a territory could not be read all the time' end,
           case when exists (select from sync.unsent span
                              where span.resource = 'territories' and span.field in ('/guild', '/guild/uuid') and span.from_at < rated.as_of
                                and coalesce(span.until_at, 'infinity') > definition.started_at)
                then 'the API did not send all the time who held territories' end,
           case when definition.started_at is not null and wars.fought is null then 'the API gives no wars'
                when wars.since > definition.started_at then 'wars before the first response about the guild are not known' end,
           case when wars.is_more_later then 'wars after the last response within the season are not known' end,
           case when wars.is_unsent then 'wars since the API does not send them are not known' end), '')
    from rated
    left join definition on true
    left join share on share.as_of = rated.as_of
    left join lateral (
      select extract(epoch from sum(part.held)) as seconds
        from (select sum(least(hold.valid_until, rated.as_of) - hold.valid_from) as held from game.territory_hold hold
               where hold.guild_uuid = rated.guild_uuid and hold.valid_from > definition.started_at and hold.valid_from < rated.as_of
               union all
              select sum(greatest(least(cut.unread_from, rated.as_of), cut.valid_from) - least(cut.valid_until, rated.as_of)) from cut
               where cut.guild_uuid = rated.guild_uuid and cut.valid_from < rated.as_of
               union all
              select sum(least(standing.valid_until, rated.as_of) - definition.started_at) from begun standing
               where standing.guild_uuid = rated.guild_uuid and standing.valid_from < rated.as_of) part
    ) holding on true
    left join lateral (
      -- From the last number before the season to the last one: a dip or a jump in between comes to nothing.
      select greatest(0, last.wars - first.wars) as fought, first.observed_at as since,
             exists (select from game.guild_sample later
                      where later.guild_uuid = rated.guild_uuid and later.observed_at > rated.as_of and later.wars > last.wars) as is_more_later,
             exists (select from unsent
                      where unsent.from_at <= rated.as_of and unsent.until_at > rated.as_of
                        and not exists (select from game.guild_sample later
                                         where later.guild_uuid = rated.guild_uuid and later.observed_at > rated.as_of
                                           and later.wars is not null)) as is_unsent
        from (select sample.wars, sample.observed_at from game.guild_sample sample
               where sample.guild_uuid = rated.guild_uuid and sample.wars is not null and sample.observed_at <= rated.as_of
               order by sample.observed_at desc limit 1) last
       cross join lateral (
         (select sample.wars, sample.observed_at, 1 as place from game.guild_sample sample
           where sample.guild_uuid = rated.guild_uuid and sample.wars is not null and sample.observed_at <= definition.started_at
             -- Of one that is older, more may have been fought before the season.
             and exists (select from sync.observation one
                          where one.resource = 'guilds' and one.key = rated.guild_uuid::text and one.status in ('ok', 'unchanged', 'partial')
                            and one.observed_at <= definition.started_at and one.observed_at > definition.started_at - interval '6 hours')
             and not exists (select from unsent where unsent.from_at <= definition.started_at and unsent.until_at > definition.started_at)
           order by sample.observed_at desc limit 1)
          union all
         (select sample.wars, sample.observed_at, 2 from game.guild_sample sample
           where sample.guild_uuid = rated.guild_uuid and sample.wars is not null and sample.observed_at > definition.started_at
           order by sample.observed_at limit 1)
          order by place limit 1) first
    ) wars on true
    left join lateral (select listed.name from game.guild_listing listed where listed.guild_uuid = rated.guild_uuid
                        order by listed.valid_from desc limit 1) listing on true
    left join lateral (select coalesce(listing.name, (select profile.name from game.guild profile
                                                       where profile.guild_uuid = rated.guild_uuid
                                                       order by profile.valid_from desc limit 1)) as name) named on true
    left join lateral (select hold.guild_name from game.territory_hold hold where hold.guild_uuid = rated.guild_uuid
                        order by hold.valid_from desc limit 1) last_hold on true
   order by 3 desc nulls last, holding.seconds desc nulls last, 2;
end;
comment on function analytics.season_rating(int) is
'The rating that guilds reported in a season, and how much of it is explained by what they held and fought as far as responses show: hours that each territory was held times what the season gives for an hour, and wars times what it gives for a war. As of the last response about the guild, or the end of the season. coverage: the share (0..1) of the season until then for which the map was watched; reason: why a number is NULL, or may be wrong. Argument: season, its number.';
