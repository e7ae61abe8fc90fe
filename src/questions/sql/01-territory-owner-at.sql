-- The last observation before speaks until the next one was due. Responses without a field speak of others alone.
create or replace function analytics.territory_gaps_of(fields text[], from_time timestamptz, to_time timestamptz)
returns table (begins timestamptz[], ends timestamptz[])
language sql stable parallel safe rows 1
begin atomic
  with gap as (
    select tstzrange(gap.began_at + case when gap.missed = 0 then interval '1 microsecond'
                                         else (gap.ended_at - gap.began_at) / (gap.missed + 1) end,
                     case when gap.began_at >= watch.last_at then 'infinity' else gap.ended_at end) as unknown
      from analytics.unobserved('territories', from_time, to_time) gap
     cross join analytics.watch('territories') watch
     where gap.missed >= 3 or gap.missed = 0
     union all
    select tstzrange(span.from_at, coalesce(span.until_at, 'infinity')) from sync.unsent span
     where span.resource = 'territories' and span.field = any(fields)
       and span.from_at < to_time and coalesce(span.until_at, 'infinity') > from_time
  )
  select array_agg(lower(part.unknown) order by lower(part.unknown)), array_agg(upper(part.unknown) order by lower(part.unknown))
    from unnest((select range_agg(gap.unknown) from gap where not isempty(gap.unknown))) as part(unknown);
end;
comment on function analytics.territory_gaps_of(text[], timestamptz, timestamptz) is
'The times in [from_time, to_time) of which no observation of three or more speaks, or in which the API did not send a field, in order, for width_bucket: the one that may contain an instant is number width_bucket(instant, ends) + 1. One row; NULL without any. Arguments: fields, as sync.unsent names them; from_time; to_time.';

create or replace function analytics.territory_gaps(from_time timestamptz, to_time timestamptz)
returns table (begins timestamptz[], ends timestamptz[])
language sql stable parallel safe rows 1
begin atomic
  select gaps.begins, gaps.ends from analytics.territory_gaps_of('{/guild,/guild/uuid}', from_time, to_time) gaps;
end;
comment on function analytics.territory_gaps(timestamptz, timestamptz) is
'The times in [from_time, to_time) in which it was not observed who held territories, as analytics.territory_gaps_of has them.';

-- A hold that a response after a gap still shows was held throughout: the game says since when. One that ended meanwhile, or has not been
-- looked at since, is known until the gap begins. This alone says so, for every question about the map. Not immutable, as an interval is
-- taken from an instant: Postgres would call it for each hold instead of writing it out.
create or replace function analytics.territory_unknown_from(valid_until timestamptz, begins timestamptz[], ends timestamptz[]) returns timestamptz
language sql stable parallel safe
return begins[width_bucket(least(valid_until - interval '1 microsecond', timestamptz '9999-12-31Z'), ends) + 1];
comment on function analytics.territory_unknown_from(timestamptz, timestamptz[], timestamptz[]) is
'From when on it is unknown who held a territory, of a hold that ended at an instant; NULL: it is known until then. Arguments: valid_until of the hold; begins and ends of the gaps, as analytics.territory_gaps has them.';

create or replace function analytics.territory_owner_at(territory text, at timestamptz default now())
returns table (territory text, guild_uuid uuid, guild_name text, guild_prefix text, held_from timestamptz, held_until timestamptz,
               confirmed_until timestamptz, reason text)
language sql stable parallel safe set jit = off
begin atomic
  select hold.territory, case when hold.is_known then hold.guild_uuid end,
         case when hold.is_known then hold.guild_name end, case when hold.is_known then hold.guild_prefix end,
         case when hold.is_known then hold.valid_from end,
         case when hold.is_known then nullif(hold.valid_until, 'infinity') end,
         analytics.territory_confirmed_until(hold.observed_at, least(
           analytics.territory_sent_until('{/guild,/guild/uuid}', hold.end_seen),
           analytics.unread_from('territories/holds', hold.territory, hold.end_seen))),
         case when not hold.is_known then 'not observed' end
    -- Holds do not overlap: the last that began is the one.
    from (select one.*, coalesce(territory_owner_at.at < analytics.territory_unknown_from(one.valid_until, gap.begins, gap.ends), true)
                 and analytics.was_read('territories/holds', one.territory, territory_owner_at.at, one.valid_until) as is_known,
                 analytics.territory_end_seen(one.territory, one.valid_until) as end_seen
            from game.territory_hold one
           cross join analytics.territory_gaps(territory_owner_at.at, territory_owner_at.at + interval '1 microsecond') gap
           where one.territory = territory_owner_at.territory and one.valid_from <= territory_owner_at.at
           order by one.valid_from desc limit 1) hold
   where territory_owner_at.at < hold.valid_until and (hold.guild_uuid is not null or not hold.is_known)
     and analytics.checked_at(territory_owner_at.at) is not null;
end;
comment on function analytics.territory_owner_at(text, timestamptz) is
'Who held a territory at an instant; no row when it had no owner. Where it was not observed for long and something else was found after, or nothing since, the owner is NULL and reason says not observed. held_until is NULL while the hold is current; confirmed_until: the last response that showed the hold. Arguments: territory, its exact name; at, the instant (now when left out).';
