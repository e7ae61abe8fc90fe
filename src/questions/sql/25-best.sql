create or replace function analytics.best(kind text, counter text, entity text)
returns table (period text, from_time timestamptz, gained double precision, quality text, at_most double precision)
language sql stable parallel safe set jit = off
begin atomic
  with who as materialized (
    select one.owner, one.part from analytics.counted_entity(best.kind, best.counter, best.entity) one
  ), life as materialized (
    -- Each for itself, so that it is one entry of the index.
    select (select min(response.observed_at) from sync.observation response
             where response.resource = known.resource and response.key = known.key and response.status in ('ok', 'unchanged', 'partial')) as first_at,
           (select max(response.observed_at) from sync.observation response
             where response.resource = known.resource and response.key = known.key and response.status in ('ok', 'unchanged', 'partial')) as last_at
      from (select about.resource, analytics.counter_key(best.kind, who.owner, best.counter) as key
              from who join analytics.counter_kind() about on about.kind = best.kind) known
  ), cell as materialized (
    select length.period, moment.at at time zone 'UTC' as begins, (moment.at + length.step) at time zone 'UTC' as ends,
           row_number() over () as nth
      from life
     cross join (values ('day', interval '1 day'), ('week', interval '7 days'), ('month', interval '1 month')) as length(period, step)
     cross join lateral generate_series(date_trunc(length.period, life.first_at at time zone 'UTC'),
                                        life.last_at at time zone 'UTC', length.step) as moment(at)
  ), risen as materialized (
    select cell.period, cell.begins, own.gained, own.quality, own.at_most
      from who
     cross join (select array_agg(cell.begins order by cell.nth) as begins, array_agg(cell.ends order by cell.nth) as ends from cell) cells
     cross join lateral analytics.counter_risen(best.kind, who.owner, who.part, best.counter, cells.begins, cells.ends) own
      join cell on cell.nth = own.nth
  )
  select length.period, highest.begins, highest.gained, coalesce(highest.quality, 'unknown'), highest.at_most
    from (values (1, 'day'), (2, 'week'), (3, 'month')) as length(nth, period)
    left join lateral (select risen.begins, risen.gained, risen.quality, risen.at_most from risen
                        where risen.period = length.period and risen.gained is not null
                        order by risen.gained desc, risen.begins limit 1) highest on true
   order by length.nth;
end;
comment on function analytics.best(text, text, text) is
'In which day, week (from Monday) and month (UTC) a counter of one guild, player or character rose most, as far as that is certain; the first of equal ones. What happened in a gap across days is in none of them. quality and at_most as in analytics.gained. Arguments: kind, such as guild; counter, as in analytics.counter; entity, a uuid or name, of members guild/player, of leaderboards a guild or player, of characters and professions player/character.';
