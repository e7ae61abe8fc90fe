-- A column that is new: what returns others cannot be replaced.
do $$
begin
  if exists (select from pg_proc where oid = to_regprocedure('analytics.top_gained(text, text, timestamptz, timestamptz, integer)')
                                  and not 'found_by' = any(proargnames)) then
    drop function analytics.top_gained(text, text, timestamptz, timestamptz, int);
  end if;
end $$;

-- Without coverage, which takes a quarter of the time, for who does not show it.
create or replace function analytics.counter_top(kind text, counter text, from_time timestamptz, to_time timestamptz, n int)
returns table (place int, owner uuid, part uuid, gained double precision, quality text, at_most double precision, unsent tstzmultirange, found_by text)
language sql stable parallel safe set jit = off set plan_cache_mode = force_generic_plan
begin atomic
  with asked as materialized (
    select analytics.checked_counter(counter_top.kind, counter_top.counter) as counter, period.begins, period.ends,
           greatest(0, least(counter_top.n, 1000)) as n,
           counter_top.kind = 'member' and not analytics.is_level_only(counter_top.kind, counter_top.counter) as is_of_members
      from analytics.bounded(from_time, to_time, interval '1 day') period
  ), most as materialized (
    select one.owner, one.part, one.most, one.fell, row_number() over (order by one.most desc, one.owner, one.part) as nth
      from asked cross join lateral analytics.counter_likely(counter_top.kind, asked.counter, asked.begins, asked.ends) one
  ), tried_first as materialized (
    -- What members gained is cheap to know of many at once.
    select own.nth, own.gained, own.at_most, own.quality
      from (select array_agg(most.owner order by most.nth) as owners, array_agg(most.part order by most.nth) as parts
              from asked join most on most.nth <= asked.n + 2 where asked.is_of_members having count(*) > 0) members
     cross join asked
     cross join lateral analytics.members_gained(members.owners, members.parts, asked.counter, asked.begins, asked.ends) own
  ), tried_later as materialized (
    select members.nths[own.nth] as nth, own.gained, own.at_most, own.quality
      from asked
     cross join (select coalesce((select tried_first.gained from tried_first where tried_first.gained is not null
                                   order by tried_first.gained desc offset (select greatest(0, asked.n - 1) from asked) limit 1), 0) as gained) least
     cross join lateral (select array_agg(most.nth order by most.nth) as nths, array_agg(most.owner order by most.nth) as owners,
                                array_agg(most.part order by most.nth) as parts
                           from most
                          where asked.is_of_members and most.nth > asked.n + 2 and most.nth <= 4 * asked.n + 40
                            and (most.most > least.gained or most.fell) having count(*) > 0) members
     cross join lateral analytics.members_gained(members.owners, members.parts, asked.counter, asked.begins, asked.ends) own
  ), tried as materialized (
    select most.owner, most.part, most.most, most.fell, own.gained, own.at_most, own.quality,
           row_number() over (order by own.gained desc nulls last, case when own.gained is null then most.nth end, most.owner, most.part) as nth
      from asked
      join most on most.nth <= 4 * asked.n + 40
      left join (table tried_first union all table tried_later) own on own.nth = most.nth
  ), likely as materialized (
    select tried.owner, tried.part, own.gained, own.quality, own.at_most, own.unsent
      from asked
      join tried on tried.nth <= asked.n + 2
     cross join lateral analytics.counter_risen(counter_top.kind, tried.owner, tried.part, asked.counter, array[asked.begins], array[asked.ends]) own
     where not asked.is_of_members
     union all
    -- What a member hides is in no series, as in analytics.counter_risen.
    select tried.owner, tried.part, case when own.is_shown then tried.gained end, tried.quality, tried.at_most,
           analytics.counter_lacking('member', asked.counter, tried.owner::text, asked.begins - interval '168 hours', own.times, own.numbers)
      from asked
      join tried on tried.nth <= asked.n + 2
     cross join lateral (select array_agg(one.observed_at order by one.observed_at) as times, array_agg(one.value order by one.observed_at) as numbers,
                                bool_or(one.value is not null and one.observed_at >= asked.begins and one.observed_at <= asked.ends) as is_shown
                           from analytics.counter_series('member', tried.owner, tried.part, asked.counter,
                                                         asked.begins - interval '168 hours', asked.ends + interval '168 hours') one) own
     where asked.is_of_members
  ), enough as materialized (
    -- Those who cannot have gained more than the last of the first are not among them, unless they began again.
    select coalesce((select likely.gained from likely where likely.gained is not null
                      order by likely.gained desc offset (select greatest(0, asked.n - 1) from asked) limit 1), 0) as gained
  ), known as materialized (
    select likely.owner, likely.part, likely.gained, likely.quality, likely.at_most, likely.unsent from likely
     union all
    select tried.owner, tried.part, own.gained, own.quality, own.at_most, own.unsent
      from asked cross join enough
      join tried on tried.nth > asked.n + 2 and (tried.most > enough.gained or tried.fell) and not asked.is_of_members
     cross join lateral analytics.counter_risen(counter_top.kind, tried.owner, tried.part, asked.counter, array[asked.begins], array[asked.ends]) own
  ), found as materialized (
    -- Whether those who are not worked out began again between two instants is known of members alone, but for the last hours.
    select case when (select count(*) from most)
                     = case when asked.is_of_members then (select count(*) from tried_first) + (select count(*) from tried_later) else (select count(*) from known) end
                     or counter_top.kind = 'member'
                        and asked.ends <= (select max(tier.averaged_until) from sync.tier tier where tier.sample_table = 'game.member_counter')
                        and not exists (select from most where most.nth > 4 * asked.n + 40 and (most.fell or most.most > last.gained))
                then 'all' else 'instants' end as by
      from asked
     cross join (select coalesce((select known.gained from known where known.gained is not null
                                   order by known.gained desc offset (select greatest(0, asked.n - 1) from asked) limit 1), 0) as gained) last
  ), first as materialized (
    select known.*, rank() over (order by known.gained desc)::int as place
      from known where known.gained > 0
     order by known.gained desc, known.owner, known.part
     limit (select asked.n from asked)
  )
  select first.place, first.owner, first.part, first.gained, first.quality, first.at_most, first.unsent, found.by
    from first
   cross join found
   order by first.place, first.owner, first.part;
end;
comment on function analytics.counter_top(text, text, timestamptz, timestamptz, int) is
'Who gained most of a counter, as analytics.top_gained says it. unsent: the times whose responses lack it. Arguments: kind, such as guild; counter; from_time; to_time; n, how many.';

create or replace function analytics.top_gained(kind text, counter text, from_time timestamptz, to_time timestamptz, n int default 10)
returns table (place int, entity text, name text, gained double precision, quality text, coverage real, at_most double precision, found_by text)
language sql stable parallel safe set jit = off
begin atomic
  select top.place, concat_ws('/', top.owner, top.part), analytics.counted_name(top_gained.kind, top.owner, top.part),
         top.gained, top.quality, covered.coverage, top.at_most, top.found_by
    from analytics.bounded(from_time, to_time, interval '1 day') period
   cross join lateral analytics.counter_top(top_gained.kind, top_gained.counter, from_time, to_time, top_gained.n) top
   cross join lateral analytics.counter_covered(top_gained.kind, analytics.counter_key(top_gained.kind, top.owner, top_gained.counter), top.unsent,
                                                array[period.begins], array[period.ends]) covered
   order by top.place, top.owner, top.part;
end;
comment on function analytics.top_gained(text, text, timestamptz, timestamptz, int) is
'Who gained most of a counter in [from_time, to_time), by what is certain: quality, coverage and at_most as in analytics.gained. Where responses lie far apart, another one with less can have gained more. found_by: all (all whose counter changed are compared), or instants (the first of them by what each had at up to thirty instants of that time: one that began again and rose above what it was between two of these may be missing). Arguments: kind, such as guild; counter, as in analytics.counter; from_time; to_time; n, how many (10 when left out, 1000 at most).';

-- That of former versions returned less.
drop function if exists analytics.counter_most(text, text, timestamptz, timestamptz);
drop function if exists analytics.members_risen(uuid[], uuid[], text, timestamptz, timestamptz);
