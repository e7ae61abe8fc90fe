-- Of all of a kind, how much a counter can have risen, by what it was at some instants: a few index entries for each, however many samples there
-- are, in the order of the index (the planner would rather read and sort all of them). About 10,000 numbers are looked up, two for each where there are more of a kind.
create or replace function analytics.counter_likely(kind text, counter text, from_time timestamptz, to_time timestamptz)
returns table (owner uuid, part uuid, most double precision, fell boolean)
language plpgsql stable parallel safe set jit = off set enable_sort = off set enable_bitmapscan = off as $$
declare
  source record;
begin
  select * into source from analytics.counter_source(kind, counter);
  if not found then
    return;
  end if;
  -- Between infinite instants there are no steps.
  select period.begins, period.ends into from_time, to_time from analytics.bounded(from_time, to_time, interval '1 day') period;
  return query execute format('
    with each as materialized (%1$s), moment as materialized (
      select $2 + ($3 - $2) * ((step.nth - 1) / step.count) as after, $2 + ($3 - $2) * (step.nth / step.count) as at
        from (select generate_series(1, steps.count - 1) as nth, steps.count::double precision as count
                from (select greatest(1, least(30, 5000 / greatest(1, count(*))))::int as count from each) steps) step
    ), number as (
      select each.owner, each.part, each.joined, known.observed_at, known.value
        from each
        -- Most did not change in that time: of them nothing else is looked up.
       cross join lateral (select one.observed_at, one.value from (%2$s) one
                            where one.observed_at > $2 and one.observed_at <= $3 and one.value is not null %3$s
                            order by one.observed_at desc limit 1) last
        -- The last one before is most often not long ago.
        left join lateral (select one.observed_at, one.value from (%2$s) one
                            where one.observed_at <= $2 and one.observed_at > $2 - interval ''35 days'' and one.value is not null %3$s
                            order by one.observed_at desc limit 1) recent on true
        left join lateral (select one.observed_at, one.value from (%2$s) one
                            where recent.observed_at is null and one.observed_at <= $2 - interval ''35 days''
                              and one.value is not null %3$s
                            order by one.observed_at desc limit 1) older on true
       cross join lateral (select coalesce(recent.observed_at, older.observed_at) as observed_at, coalesce(recent.value, older.value) as value) before
       cross join lateral (
         select before.observed_at, before.value where before.observed_at is not null
          union all
         -- Of who had none before, from the first one on.
         (select one.observed_at, one.value from (%2$s) one
           where before.observed_at is null and one.observed_at > $2 and one.observed_at <= $3
             and one.value is not null %3$s
           order by one.observed_at limit 1)
          union all
         select last.observed_at, last.value
          union all
         select latest.observed_at, latest.value
           from moment
          cross join lateral (select one.observed_at, one.value from (%2$s) one
                               where one.observed_at > $2 and one.observed_at <= $3
                                 and one.observed_at > moment.after and one.observed_at <= moment.at and one.value is not null %3$s
                               order by one.observed_at desc limit 1) latest) known
    )
    -- One that fell began again, as far as is known.
    select run.owner, run.part,
           coalesce(sum(run.value - case when run.value < run.previous and not $4 then 0
                                         else coalesce(run.previous, case when run.joined is not null then 0 end) end), 0),
           coalesce(bool_or(run.value < run.previous), false) and not $4 %4$s
      from (select number.*, lag(number.value) over (partition by number.owner, number.part, number.joined order by number.observed_at) as previous
              from number) run
     where run.observed_at > $2
     group by run.owner, run.part',
    source.entities, source.samples, source.stay,
    -- Where counters of members fell is materialized, except for the last hours.
    case when kind = 'member' then 'or exists (select from game.member_counter_dip dip
                                                where dip.guild_uuid = run.owner and dip.counter = $1 and dip.player_uuid = run.part
                                                  and dip.fell_at > $2 and dip.hour <= $3)' else '' end)
    using counter, from_time, to_time, analytics.is_level_only(kind, counter);
end
$$;
comment on function analytics.counter_likely(text, text, timestamptz, timestamptz) is
'Of all of a kind whose counter changed in (from_time, to_time] how much it can have risen, by what it was at some instants: what it lost and gained again between two of them is not counted; and whether it fell, as far as that is known. Arguments: kind, such as guild; counter; from_time; to_time.';

-- From the first number on until one is high enough, in the order of the index.
create or replace function analytics.counter_first(kind text, counter text, value double precision)
returns table (owner uuid, part uuid, at timestamptz)
language plpgsql stable parallel safe set jit = off set enable_sort = off set enable_bitmapscan = off as $$
declare
  source record;
  last_at constant timestamptz := (select greatest(now(), max(item.observed_at)) from sync.work_item item);
begin
  select * into source from analytics.counter_source(kind, counter);
  if not found then
    return;
  end if;
  return query execute format('
    with tier as materialized (
      select coalesce(max(one.averaged_until), ''-infinity'') as until from sync.tier one where one.sample_table = ''game.member_counter''
    ), each as materialized (
      select distinct one.owner, one.part from (%1$s) one
    )
    select each.owner, each.part, reached.observed_at
      from each
     cross join lateral (select one.observed_at from (%2$s) one where one.value >= $4 and one.observed_at <= $3
                          order by one.observed_at limit 1) reached %3$s',
    source.entities, source.samples,
    -- A counter that never fell was never more than it is. Where counters of members fell is materialized, except for the last hours.
    case when kind = 'member' then format('
     where exists (select from (select one.observed_at, one.value from (%s) one where one.value is not null and one.observed_at <= $3
                                 order by one.observed_at desc limit 1) latest
                    where latest.value >= $4 or latest.observed_at >= (select tier.until from tier))
        or exists (select from game.member_counter_dip dip
                    where dip.guild_uuid = each.owner and dip.counter = $1 and dip.player_uuid = each.part)', source.samples) end)
    using counter, timestamptz '-infinity', last_at, value;
end
$$;
comment on function analytics.counter_first(text, text, double precision) is
'Of all of a kind whose counter ever was that high, the first response that showed it. Arguments: kind, such as guild; counter; value.';

-- There are hundreds of thousands of members, and those who were first most often were when all began: so many hours from then on are read as
-- they were written, of all members together.
create or replace function analytics.counter_soonest(kind text, counter text, value double precision, n int)
returns table (owner uuid, part uuid, at timestamptz)
language plpgsql stable parallel safe set jit = off as $$
declare
  last_at constant timestamptz := (select greatest(now(), max(item.observed_at)) from sync.work_item item);
  begun timestamptz := case when kind = 'member' then (select min(one.valid_from) from game.guild_member one) end;
  hours int;
  owners uuid[];
  parts uuid[];
  instants timestamptz[];
  since timestamptz := '-infinity';
  until timestamptz;
  reached record;
begin
  if begun is not null then
    foreach hours in array array[1, 8, 64, 512] loop
      select array_agg(one.guild_uuid), array_agg(one.player_uuid), array_agg(one.at) into owners, parts, instants
        from (select first.* from (select own.guild_uuid, own.player_uuid, min(own.observed_at) as at from analytics.member_counter_sample own
                                    where own.counter = counter_soonest.counter and own.value >= counter_soonest.value
                                      and own.observed_at <= least(begun + make_interval(hours => hours), last_at)
                                    group by own.guild_uuid, own.player_uuid
                                    order by at, own.guild_uuid, own.player_uuid offset 0) first
               where exists (select from game.guild_member one where one.guild_uuid = first.guild_uuid and one.player_uuid = first.player_uuid)
               order by first.at, first.guild_uuid, first.player_uuid limit n) one;
      -- Of a young history those are all that there are.
      if coalesce(cardinality(owners), 0) >= n or begun + make_interval(hours => hours) >= last_at then
        return query select * from unnest(owners, parts, instants);
        return;
      end if;
    end loop;
  end if;
  -- Numbers of guilds are read as they were written, of all guilds together: as much as it takes until enough of them were so high.
  if kind = 'guild' and exists (select from pg_catalog.pg_attribute number
                                 where number.attrelid = 'game.guild_sample'::regclass and number.attnum > 0 and number.attname = counter
                                   and number.atttypid in ('int4'::regtype, 'int8'::regtype, 'float4'::regtype, 'float8'::regtype)) then
    begun := (select seen.first_at from analytics.observed() seen);
    foreach hours in array array[720, 2160, 5040, null] loop
      until := least(begun + make_interval(hours => hours), last_at);
      continue when until <= since;
      execute format('select array_agg(first.owner) as owners, array_agg(first.at) as instants
                        from (select own.guild_uuid as owner, min(own.observed_at) as at from game.guild_sample own
                               where own.%I >= $1 and own.observed_at > $2 and own.observed_at <= $3 group by own.guild_uuid) first
                       where exists (select from game.guild one where one.guild_uuid = first.owner)
                         and first.owner <> all (coalesce($4, ''{}''))', counter)
         into reached using value, since, until, owners;
      owners := owners || reached.owners;
      instants := instants || reached.instants;
      exit when cardinality(owners) >= n;
      since := until;
    end loop;
    return query select one.owner, null::uuid, one.at from unnest(owners, instants) one(owner, at);
    return;
  end if;
  return query select one.owner, one.part, one.at from analytics.counter_first(kind, counter, value) one;
end
$$;
comment on function analytics.counter_soonest(text, text, double precision, int) is
'What analytics.counter_first says of the n first, and perhaps of others. Arguments: kind, such as guild; counter; value; n.';
