-- A hold that the first response after a gap still shows lasted through it; of one that it does not show, it is unknown who held the
-- place since the gap began.
-- A step of a few hours is about as long as a place is held in times of war: every hold is read once then, and counted for the
-- steps that it lasts. Over longer steps holds outnumber the rows of the result: one lookup per place and step finds the holder.
create or replace function analytics.guild_territory_count(from_time timestamptz, to_time timestamptz, step interval)
returns table (at timestamptz, guild_uuid uuid, guild_name text, territories int, at_most int, reason text)
language sql stable parallel safe set jit = off set enable_sort = off set work_mem = '32MB'
begin atomic
  with recursive way as (
    select step > interval '0' and step < interval '6 hours' as is_short
  ), moment as materialized (
    select moment.at, moment.nth
      from analytics.cells(from_time, to_time, step, null) with ordinality as moment(at, nth)
     where moment.at <= (select seen.last_at from analytics.observed() seen)
  ), gap as materialized (
    select gaps.begins, gaps.ends from analytics.territory_gaps(from_time, to_time) gaps
  ), instants as materialized (
    select array_agg(moment.at order by moment.nth) as all_of_them,
           array_agg(moment.at + interval '1 microsecond' order by moment.nth) as all_over
      from moment
  ), holder (guild_uuid) as (
    -- A loose index scan: one entry per guild, however much it held.
    (select hold.guild_uuid from game.territory_hold hold
      where (select way.is_short from way) and hold.guild_uuid is not null order by hold.guild_uuid limit 1)
    union all
    select (select hold.guild_uuid from game.territory_hold hold
             where hold.guild_uuid > holder.guild_uuid order by hold.guild_uuid limit 1)
      from holder where holder.guild_uuid is not null
  ), held as (
    select standing.territory, standing.guild_uuid, standing.guild_name, standing.valid_from, standing.valid_until
      from analytics.territory_held place
     cross join lateral (select * from game.territory_hold one
                          where one.territory = place.territory and one.valid_from <= from_time
                          order by one.valid_from desc limit 1) standing
     where (select way.is_short from way) and standing.valid_until > from_time
     union all
    select later.territory, later.guild_uuid, later.guild_name, later.valid_from, later.valid_until
      from holder
      join game.territory_hold later
        on later.guild_uuid = holder.guild_uuid and later.valid_from > from_time and later.valid_from < to_time
     union all
    -- Without a holder, as long as that is known.
    select free.territory, null, null, free.valid_from, free.valid_until
      from game.territory_hold free
     where (select way.is_short from way) and free.guild_uuid is null and free.valid_from > from_time and free.valid_from < to_time
  ), lasting as (
    -- From the first step that is not before its beginning to the last one before its end, and the last one at which it is known.
    select generate_series(width_bucket(held.valid_from, instants.all_over) + 1, width_bucket(held.valid_until, instants.all_over)) as nth,
           width_bucket(least(held.valid_until, analytics.territory_unknown_from(held.valid_until, gap.begins, gap.ends),
                              unread.begins[width_bucket(held.valid_until, unread.over) + 1]), instants.all_over) as known,
           held.guild_uuid, held.guild_name
      from held cross join instants cross join gap
      -- Of each place in order, to be found by halves; what two databases had may lie within another span, which then says it.
      left join (select span.key, array_agg(span.from_at order by span.from_at) as begins,
                        coalesce(array_agg(span.until_at + interval '1 microsecond' order by span.from_at)
                                   filter (where span.until_at < 'infinity'), '{}') as over
                   from (select each.key, each.from_at, each.until_at,
                                max(each.until_at) over (partition by each.key order by each.from_at
                                                         rows between unbounded preceding and 1 preceding) as before
                           from (select unread.key, unread.from_at, coalesce(unread.until_at, 'infinity') as until_at
                                   from sync.unread where unread.resource = 'territories/holds') each) span
                  where span.until_at > span.before or span.before is null group by span.key) unread on unread.key = held.territory
  ), counted as (
    select lasting.nth, case when lasting.nth <= lasting.known then lasting.guild_uuid end as guild_uuid,
           case when lasting.nth <= lasting.known then lasting.guild_name end as guild_name
      from lasting where lasting.guild_uuid is not null or lasting.nth > lasting.known
     union all
    select moment.nth::int, case when hold.is_known then hold.guild_uuid end, case when hold.is_known then hold.guild_name end
      from moment
     cross join gap
     cross join analytics.territory_held place
     cross join lateral (select one.*,
                                coalesce(moment.at < analytics.territory_unknown_from(one.valid_until, gap.begins, gap.ends), true)
                                and not exists (select from sync.unread
                                                 where unread.from_at <= moment.at
                                                   and unread.resource = 'territories/holds' and unread.key = one.territory
                                                   and unread.from_at < one.valid_until
                                                   and coalesce(unread.until_at, 'infinity') >= one.valid_until) as is_known
                           from game.territory_hold one
                          where one.territory = place.territory and one.valid_from <= moment.at
                          order by one.valid_from desc limit 1) hold
     where not (select way.is_short from way) and moment.at < hold.valid_until and (hold.guild_uuid is not null or not hold.is_known)
  ), summed as materialized (
    select counted.nth, counted.guild_uuid, count(*)::int as territories,
           min(counted.guild_name) as name, max(counted.guild_name) as other, count(counted.guild_name) as named
      from counted
     group by counted.nth, counted.guild_uuid
  )
  select instants.all_of_them[summed.nth], summed.guild_uuid,
         -- A guild that was renamed has holds under both names: that of the last one counts.
         case when summed.name = summed.other and summed.named = summed.territories then summed.name
              else (select hold.guild_name from game.territory_hold hold
                     where hold.guild_uuid = summed.guild_uuid and hold.valid_from <= instants.all_of_them[summed.nth]
                       and hold.valid_until > instants.all_of_them[summed.nth]
                     order by hold.valid_from desc limit 1) end collate "C",
         summed.territories,
         coalesce(summed.territories + case when summed.guild_uuid is not null
                    then sum(summed.territories) filter (where summed.guild_uuid is null) over (partition by summed.nth) end,
                  summed.territories)::int,
         case when summed.guild_uuid is null then 'not observed' end
    from summed cross join instants
   order by 1, 4 desc, 3;
end;
comment on function analytics.guild_territory_count(timestamptz, timestamptz, interval) is
'How many territories each guild held at every step of [from_time, to_time) that is not after now. Where no response came for long, some places may have had another holder than before, or one at all: they count for no guild, are counted in a row of their own with the reason not observed, and make at_most larger than territories.';
