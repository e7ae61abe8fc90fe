-- Of all of a kind, the most that a counter can have risen by: all that it rose, whatever it fell. One index range for each.
create or replace function analytics.guild_most(counter text, from_time timestamptz, to_time timestamptz)
returns table (owner uuid, part uuid, most double precision)
language sql stable parallel safe set jit = off
begin atomic
  select each.guild_uuid, null::uuid, risen.most
    from (select distinct one.guild_uuid from game.guild one) each
   cross join lateral (
     select sum(greatest(0, run.value - run.previous)) as most
       from (select known.value, lag(known.value) over (order by known.observed_at) as previous
               from analytics.guild_series(each.guild_uuid, counter, from_time, to_time) known where known.value is not null) run) risen
   where risen.most > 0;
end;
comment on function analytics.guild_most(text, timestamptz, timestamptz) is
'Of each guild whose counter rose in (from_time, to_time] all that it rose by: no rise is more. Arguments: counter; from_time; to_time.';

create or replace function analytics.member_most(counter text, from_time timestamptz, to_time timestamptz)
returns table (owner uuid, part uuid, most double precision)
language sql stable parallel safe set jit = off
begin atomic
  select each.guild_uuid, each.player_uuid, risen.most
    from (select distinct one.guild_uuid, one.player_uuid from game.guild_member one) each
   cross join lateral (
     -- What was contributed begins at 0 with each stay.
     select sum(case when run.value < run.previous or run.previous is null then case when counter = 'contributed' then run.value else 0 end
                     else run.value - run.previous end) filter (where not run.is_before) as most
       from (select known.value, lag(known.value) over (order by known.observed_at) as previous, known.observed_at <= from_time as is_before
               from ((select one.observed_at, one.value from game.member_counter one
                       where one.guild_uuid = each.guild_uuid and one.counter = member_most.counter and one.player_uuid = each.player_uuid
                         and one.value is not null and one.observed_at <= from_time
                       order by one.observed_at desc limit 1)
                      union all
                     select one.observed_at, one.value from game.member_counter one
                      where one.guild_uuid = each.guild_uuid and one.counter = member_most.counter and one.player_uuid = each.player_uuid
                        and one.value is not null and one.observed_at > from_time and one.observed_at <= to_time) known) run) risen
   where risen.most > 0;
end;
comment on function analytics.member_most(text, timestamptz, timestamptz) is
'Of each member whose counter rose in (from_time, to_time] all that it rose by: no rise is more. Arguments: counter; from_time; to_time.';

create or replace function analytics.player_most(counter text, from_time timestamptz, to_time timestamptz)
returns table (owner uuid, part uuid, most double precision)
language sql stable parallel safe set jit = off
begin atomic
  select each.player_uuid, null::uuid, risen.most
    from (select distinct one.player_uuid from game.player one) each
   cross join lateral (
     select sum(greatest(0, run.value - run.previous)) as most
       from (select known.value, lag(known.value) over (order by known.observed_at) as previous
               from ((select one.observed_at, one.value from analytics.player_counter_sample one
                       where one.player_uuid = each.player_uuid and one.counter = player_most.counter and one.observed_at <= from_time
                       order by one.observed_at desc limit 1)
                      union all
                     select one.observed_at, one.value from analytics.player_counter_sample one
                      where one.player_uuid = each.player_uuid and one.counter = player_most.counter
                        and one.observed_at > from_time and one.observed_at <= to_time) known) run) risen
   where risen.most > 0;
end;
comment on function analytics.player_most(text, timestamptz, timestamptz) is
'Of each player whose counter rose in (from_time, to_time] all that it rose by: no rise is more. Arguments: counter; from_time; to_time.';

create or replace function analytics.character_most(counter text, from_time timestamptz, to_time timestamptz)
returns table (owner uuid, part uuid, most double precision)
language sql stable parallel safe set jit = off
begin atomic
  select each.player_uuid, each.character_uuid, risen.most
    from (select distinct one.player_uuid, one.character_uuid from game.player_character one) each
   cross join lateral (
     select sum(greatest(0, run.value - run.previous)) as most
       from (select known.value, lag(known.value) over (order by known.observed_at) as previous
               from ((select one.observed_at, one.value from analytics.character_counter_sample one
                       where one.player_uuid = each.player_uuid and one.character_uuid = each.character_uuid
                         and one.counter = character_most.counter and one.observed_at <= from_time
                       order by one.observed_at desc limit 1)
                      union all
                     select one.observed_at, one.value from analytics.character_counter_sample one
                      where one.player_uuid = each.player_uuid and one.character_uuid = each.character_uuid
                        and one.counter = character_most.counter and one.observed_at > from_time and one.observed_at <= to_time) known) run) risen
   where risen.most > 0;
end;
comment on function analytics.character_most(text, timestamptz, timestamptz) is
'Of each character whose counter rose in (from_time, to_time] all that it rose by: no rise is more. Arguments: counter; from_time; to_time.';

create or replace function analytics.profession_most(counter text, from_time timestamptz, to_time timestamptz)
returns table (owner uuid, part uuid, most double precision)
language sql stable parallel safe set jit = off
begin atomic
  select each.player_uuid, each.character_uuid, risen.most
    from (select distinct one.player_uuid, one.character_uuid from game.player_character one) each
   cross join lateral (
     select sum(greatest(0, run.value - run.previous)) as most
       from (select known.value, lag(known.value) over (order by known.observed_at) as previous
               from analytics.profession_series(each.player_uuid, each.character_uuid, counter, from_time, to_time) known
              where known.value is not null) run) risen
   where risen.most > 0;
end;
comment on function analytics.profession_most(text, timestamptz, timestamptz) is
'Of each character whose level in a profession rose in (from_time, to_time] all that it rose by: no rise is more. Arguments: counter; from_time; to_time.';

create or replace function analytics.counter_most(kind text, counter text, from_time timestamptz, to_time timestamptz)
returns table (owner uuid, part uuid, most double precision)
language sql stable parallel safe
begin atomic
  select one.owner, one.part, one.most from analytics.guild_most(counter, from_time, to_time) one where kind = 'guild'
   union all
  select one.owner, one.part, one.most from analytics.member_most(counter, from_time, to_time) one where kind = 'member'
   union all
  select one.owner, one.part, one.most from analytics.player_most(counter, from_time, to_time) one where kind = 'player'
   union all
  select one.owner, one.part, one.most from analytics.character_most(counter, from_time, to_time) one where kind = 'character'
   union all
  select one.owner, one.part, one.most from analytics.profession_most(counter, from_time, to_time) one where kind = 'profession';
end;
comment on function analytics.counter_most(text, text, timestamptz, timestamptz) is
'Of all of a kind whose counter rose in (from_time, to_time] all that it rose by: no rise is more. Arguments: kind, such as guild; counter; from_time; to_time.';

-- From the first number on until one is high enough.
create or replace function analytics.counter_first(kind text, counter text, value double precision)
returns table (owner uuid, part uuid, at timestamptz)
language sql stable parallel safe set jit = off
begin atomic
  select each.guild_uuid, null::uuid, reached.at
    from (select distinct one.guild_uuid from game.guild one) each
   cross join lateral (select min(known.observed_at) as at
                         from analytics.guild_series(each.guild_uuid, counter, '-infinity', 'infinity') known
                        where known.value >= counter_first.value) reached
   where kind = 'guild' and reached.at is not null
   union all
  select each.guild_uuid, each.player_uuid, reached.observed_at
    from (select distinct one.guild_uuid, one.player_uuid from game.guild_member one) each
   cross join lateral (select known.observed_at from game.member_counter known
                        where known.guild_uuid = each.guild_uuid and known.counter = counter_first.counter
                          and known.player_uuid = each.player_uuid and known.value >= counter_first.value
                        order by known.observed_at limit 1) reached
   -- What a member hides is in no series.
   where kind = 'member' and exists (select from analytics.member_series(each.guild_uuid, each.player_uuid, counter, 'infinity', 'infinity'))
   union all
  select each.player_uuid, null, reached.observed_at
    from (select distinct one.player_uuid from game.player one) each
   cross join lateral (select known.observed_at from analytics.player_counter_sample known
                        where known.player_uuid = each.player_uuid and known.counter = counter_first.counter
                          and known.value >= counter_first.value
                        order by known.observed_at limit 1) reached
   where kind = 'player'
   union all
  select each.player_uuid, each.character_uuid, reached.observed_at
    from (select distinct one.player_uuid, one.character_uuid from game.player_character one) each
   cross join lateral (select known.observed_at from analytics.character_counter_sample known
                        where known.player_uuid = each.player_uuid and known.character_uuid = each.character_uuid
                          and known.counter = counter_first.counter and known.value >= counter_first.value
                        order by known.observed_at limit 1) reached
   where kind = 'character'
   union all
  select each.player_uuid, each.character_uuid, reached.at
    from (select distinct one.player_uuid, one.character_uuid from game.player_character one) each
   cross join lateral (select min(known.observed_at) as at
                         from analytics.profession_series(each.player_uuid, each.character_uuid, counter, '-infinity', 'infinity') known
                        where known.value >= counter_first.value) reached
   where kind = 'profession' and reached.at is not null;
end;
comment on function analytics.counter_first(text, text, double precision) is
'Of all of a kind whose counter ever was that high, the first response that showed it. Arguments: kind, such as guild; counter; value.';
