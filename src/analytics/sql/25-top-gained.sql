create or replace function analytics.top_gained(kind text, counter text, from_time timestamptz, to_time timestamptz, n int default 10)
returns table (place int, entity text, name text, gained double precision, quality text, coverage real, at_most double precision)
language sql stable parallel safe set jit = off
begin atomic
  with asked as materialized (
    select analytics.checked_counter(top_gained.kind, top_gained.counter) as counter, period.begins, period.ends,
           greatest(0, least(top_gained.n, 1000)) as n
      from analytics.bounded(from_time, to_time, interval '1 day') period
  ), most as materialized (
    select one.owner, one.part, one.most, row_number() over (order by one.most desc, one.owner, one.part) as nth
      from asked cross join lateral analytics.counter_most(top_gained.kind, asked.counter, asked.begins, asked.ends) one
  ), likely as materialized (
    select most.owner, most.part, own.gained, own.quality, own.at_most, own.unsent
      from asked
      join most on most.nth <= asked.n + 2
     cross join lateral analytics.counter_risen(top_gained.kind, most.owner, most.part, asked.counter, array[asked.begins], array[asked.ends]) own
  ), enough as materialized (
    -- Those who cannot have gained more than the last of the first are not among them.
    select coalesce((select likely.gained from likely where likely.gained is not null
                      order by likely.gained desc offset (select greatest(0, asked.n - 1) from asked) limit 1), 0) as gained
  ), known as (
    select likely.owner, likely.part, likely.gained, likely.quality, likely.at_most, likely.unsent from likely
     union all
    select most.owner, most.part, own.gained, own.quality, own.at_most, own.unsent
      from asked cross join enough
      join most on most.nth > asked.n + 2 and most.nth <= 4 * asked.n + 40 and most.most > enough.gained
     cross join lateral analytics.counter_risen(top_gained.kind, most.owner, most.part, asked.counter, array[asked.begins], array[asked.ends]) own
  ), first as materialized (
    select known.*, rank() over (order by known.gained desc)::int as place
      from known where known.gained > 0
     order by known.gained desc, known.owner, known.part
     limit (select asked.n from asked)
  )
  select first.place, concat_ws('/', first.owner, first.part), analytics.counted_name(top_gained.kind, first.owner, first.part),
         first.gained, first.quality, covered.coverage, first.at_most
    from asked
   cross join first
   cross join lateral analytics.counter_covered(top_gained.kind, analytics.counter_key(top_gained.kind, first.owner, asked.counter), first.unsent, array[asked.begins], array[asked.ends]) covered
   order by first.place, first.owner, first.part;
end;
comment on function analytics.top_gained(text, text, timestamptz, timestamptz, int) is
'Who gained most of a counter in [from_time, to_time), by what is certain: quality, coverage and at_most as in analytics.gained. Where responses lie far apart, another one with less can have gained more. They are found among the 4 n + 40 who can have gained most by what they had at up to thirty instants of that time; a counter that began again from 0 and rose above what it was between two of these may be missed. Arguments: kind, such as guild; counter, as in analytics.counter; from_time; to_time; n, how many (10 when left out, 1000 at most).';
