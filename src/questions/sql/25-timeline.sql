create or replace function analytics.timeline(kind text, counter text, entity text, from_time timestamptz, to_time timestamptz, step interval)
returns table (at timestamptz, value double precision, gained double precision, quality text, coverage real, at_most double precision)
language sql stable parallel safe set jit = off set plan_cache_mode = force_generic_plan
begin atomic
  with cell as materialized (
    select moment.at, coalesce(lead(moment.at) over (order by moment.at), period.ends) as ends
      from analytics.bounded(from_time, to_time, step) period
     cross join lateral analytics.cells(period.begins, period.ends, step, null) as moment(at)
  )
  select cell.at, risen.value, risen.gained, risen.quality, risen.coverage, risen.at_most
    from analytics.counted_entity(kind, counter, entity) who
   cross join (select array_agg(cell.at order by cell.at) as begins, array_agg(cell.ends order by cell.at) as ends from cell) all_cells
   cross join lateral analytics.counter_cells(kind, who.owner, who.part, counter, all_cells.begins, all_cells.ends) risen
    join (select cell.at, row_number() over (order by cell.at) as nth from cell) cell on cell.nth = risen.nth
   order by cell.at;
end;
comment on function analytics.timeline(text, text, text, timestamptz, timestamptz, interval) is
'How a counter of one guild, player or character developed: what it was when each step of [from_time, to_time) began (NULL where no response lies close before), and how much it rose in it, as analytics.gained says it. Arguments: kind, such as guild; counter, as in analytics.counter; entity, a uuid or name, of members guild/player, of leaderboards a guild or player, of characters and professions player/character; from_time; to_time; step, of at least a minute.';
