-- A hold that a response after a gap still shows was held throughout: the game says since when. One that ended meanwhile, or has not been
-- looked at since, is known until the gap began.
create or replace function analytics.territory_gap_at(at timestamptz)
returns table (began_at timestamptz, ended_at timestamptz)
language sql stable parallel safe rows 1
begin atomic
  select gap.began_at, case when gap.began_at >= watch.last_at then 'infinity' else gap.ended_at end
    from analytics.unobserved('territories', territory_gap_at.at, territory_gap_at.at + interval '1 microsecond') gap
   cross join analytics.watch('territories') watch
   where gap.began_at < territory_gap_at.at and (gap.missed >= 3 or gap.missed = 0)
   order by gap.began_at limit 1;
end;
comment on function analytics.territory_gap_at(timestamptz) is
'The time around an instant in which territories were not observed for three expected responses or more; no row: they were. ended_at is infinity while none came since.';

-- The last observation before speaks until the next one was due.
create or replace function analytics.territory_gaps(from_time timestamptz, to_time timestamptz)
returns table (begins timestamptz[], ends timestamptz[])
language sql stable parallel safe rows 1
begin atomic
  select array_agg(gap.began_at + case when gap.missed = 0 then interval '1 microsecond' else (gap.ended_at - gap.began_at) / (gap.missed + 1) end
                   order by gap.ended_at),
         array_agg(case when gap.began_at >= watch.last_at then 'infinity' else gap.ended_at end order by gap.ended_at)
    from analytics.unobserved('territories', from_time, to_time) gap
   cross join analytics.watch('territories') watch
   where gap.missed >= 3 or gap.missed = 0;
end;
comment on function analytics.territory_gaps(timestamptz, timestamptz) is
'The times in [from_time, to_time) of which no observation of three or more speaks, in order, for width_bucket: the one that may contain an instant is number width_bucket(instant, ends) + 1. One row; NULL without any.';

create or replace function analytics.territory_owner_at(territory text, at timestamptz default now())
returns table (territory text, guild_uuid uuid, guild_name text, guild_prefix text, held_from timestamptz, held_until timestamptz,
               confirmed_until timestamptz, reason text)
language sql stable parallel safe set jit = off
begin atomic
  select hold.territory, case when gap.began_at is null then hold.guild_uuid end,
         case when gap.began_at is null then hold.guild_name end, case when gap.began_at is null then hold.guild_prefix end,
         case when gap.began_at is null then hold.valid_from end,
         case when gap.began_at is null then nullif(hold.valid_until, 'infinity') end,
         analytics.territory_confirmed_until(hold.observed_at, hold.ended_at),
         case when gap.began_at is not null then 'not observed' end
    -- Holds do not overlap: the last that began is the one.
    from (select one.*, analytics.territory_end_seen(one.territory, one.valid_until) as ended_at from game.territory_hold one
           where one.territory = territory_owner_at.territory and one.valid_from <= territory_owner_at.at
           order by one.valid_from desc limit 1) hold
    left join lateral (select * from analytics.territory_gap_at(territory_owner_at.at) around
                        where around.ended_at >= hold.ended_at) gap on true
   where territory_owner_at.at < hold.valid_until and (hold.guild_uuid is not null or gap.began_at is not null)
     and analytics.checked_at(territory_owner_at.at) is not null;
end;
comment on function analytics.territory_owner_at(text, timestamptz) is
'Who held a territory at an instant; no row when it had no owner. Where it was not observed for long and something else was found after, or nothing since, the owner is NULL and reason says not observed. held_until is NULL while the hold is current; confirmed_until: the last response that showed the hold. Arguments: territory, its exact name; at, the instant (now when left out).';
