create or replace function analytics.world_event_schedule(from_time timestamptz, to_time timestamptz)
returns table (name text, at timestamptz, level int, difficulty text, coverage real, internal_name text,
               announced_at timestamptz)
language sql stable parallel safe
begin atomic
  with known as materialized (
    select cell.hour, cell.coverage from analytics.coverage('world-events', from_time, least(to_time, now())) cell
  )
  select version.name, occurrence.starts_at, case when 'level' <> all (lacking.columns) then version.level end,
         case when 'difficulty' <> all (lacking.columns) then version.difficulty end, known.coverage, occurrence.internal_name,
         occurrence.announced_at
    from game.world_event_occurrence occurrence
    -- As it was when it began; of one that is still to come, as it is.
    left join lateral (select event.name, event.level, event.difficulty from game.world_event event
                        where event.internal_name = occurrence.internal_name
                          and event.valid_from <= greatest(occurrence.starts_at, occurrence.announced_at)
                        order by event.valid_from desc limit 1) version on true
   cross join lateral analytics.not_sent('world_event', occurrence.starts_at) lacking
    left join known on known.hour = date_trunc('hour', occurrence.starts_at, 'UTC')
   where occurrence.starts_at >= from_time and occurrence.starts_at < to_time
   order by occurrence.starts_at, version.name collate "C";
end;
comment on function analytics.world_event_schedule(timestamptz, timestamptz) is
'When world events began or begin in [from_time, to_time), by their schedules. The API sends only the next one, of a few events: what is not listed may have happened too. coverage: of the responses in that hour; NULL: still to come, or before the first response. level and difficulty are NULL where the API did not send them then.';
