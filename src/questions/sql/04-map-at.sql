create or replace function analytics.map_at(at timestamptz default now())
returns table (territory text, guild_uuid uuid, guild_name text, guild_prefix text, held_from timestamptz, reason text)
language sql stable parallel safe set jit = off
begin atomic
  with gap as materialized (select gaps.* from analytics.territory_gaps(map_at.at, map_at.at + interval '1 microsecond') gaps)
  select hold.territory, case when hold.is_known then hold.guild_uuid end, case when hold.is_known then hold.guild_name end,
         case when hold.is_known then hold.guild_prefix end, case when hold.is_known then hold.valid_from end,
         case when not hold.is_known then 'not observed' end
    from (select latest.*, coalesce(map_at.at < analytics.territory_unknown_from(latest.valid_until, gap.begins, gap.ends), true)
                 and not exists (select from sync.unread span
                                  where span.resource = 'territories/holds' and span.key = latest.territory and span.from_at <= map_at.at
                                    and span.from_at < latest.valid_until
                                    and coalesce(span.until_at, 'infinity') >= latest.valid_until) as is_known
            from gap
           cross join analytics.territory_held place
           cross join lateral (select * from game.territory_hold one
                                where one.territory = place.territory and one.valid_from <= map_at.at
                                order by one.valid_from desc limit 1) latest) hold
   where map_at.at < hold.valid_until and analytics.checked_at(map_at.at) is not null
   order by hold.territory collate "C";
end;
comment on function analytics.map_at(timestamptz) is
'Every territory known at an instant and who held it; guild columns are NULL where it had no owner, and, with the reason not observed, where no response came for long and the next one showed something else, or none has come. Argument: at, the instant (now when left out).';

-- That of former versions, which another one replaces.
drop function if exists analytics.territory_gap_at(timestamptz);
