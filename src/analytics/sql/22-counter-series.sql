-- The numbers of one counter over time, of a kind of things that are counted. What players hide is left out by the views that are read.
-- Each is planned by itself, and only where it is called: that is what the setting is for.
create or replace function analytics.guild_series(owner uuid, counter text, from_time timestamptz, to_time timestamptz)
returns table (observed_at timestamptz, value double precision)
language sql stable parallel safe set jit = off
begin atomic
  select kept.observed_at,
         case counter when 'level' then kept.level when 'xp_percent' then kept.xp_percent when 'territories' then kept.territories
                      when 'wars' then kept.wars when 'raids' then kept.raids when 'members' then kept.members when 'online' then kept.online
                      when 'online_listed' then kept.online_listed when 'hidden' then kept.hidden end
    from ((select one.* from game.guild_sample one where one.guild_uuid = owner and one.observed_at <= from_time
            order by one.observed_at desc limit 1)
           union all
          select one.* from game.guild_sample one where one.guild_uuid = owner and one.observed_at > from_time and one.observed_at <= to_time) kept
   where not starts_with(counter, 'seasonRanks.')
   union all
  select rated.observed_at, rated.rating from game.guild_season rated
   where rated.guild_uuid = owner and rated.observed_at <= to_time
     and rated.season = case when counter ~ '^seasonRanks\.\d{1,6}\.rating$' then split_part(counter, '.', 2)::int end;
end;
comment on function analytics.guild_series(uuid, text, timestamptz, timestamptz) is
'The numbers of a guild in (from_time, to_time], and the last one before. NULL: the API did not send it. Arguments: owner, the guild; counter, a column of game.guild_sample or seasonRanks.<season>.rating; from_time; to_time.';

create or replace function analytics.player_series(owner uuid, counter text, from_time timestamptz, to_time timestamptz)
returns table (observed_at timestamptz, value double precision)
language sql stable parallel safe set jit = off
begin atomic
  (select one.observed_at, one.value from analytics.player_counter_sample one
    where one.player_uuid = owner and one.counter = player_series.counter and one.observed_at <= from_time
    order by one.observed_at desc limit 1)
   union all
  select one.observed_at, one.value from analytics.player_counter_sample one
   where one.player_uuid = owner and one.counter = player_series.counter and one.observed_at > from_time and one.observed_at <= to_time;
end;
comment on function analytics.player_series(uuid, text, timestamptz, timestamptz) is
'A counter of a player in (from_time, to_time], and the last one before. Arguments: owner, the player; counter, by its path in the record; from_time; to_time.';

create or replace function analytics.character_series(owner uuid, part uuid, counter text, from_time timestamptz, to_time timestamptz)
returns table (observed_at timestamptz, value double precision)
language sql stable parallel safe set jit = off
begin atomic
  (select one.observed_at, one.value from analytics.character_counter_sample one
    where one.player_uuid = owner and one.character_uuid = part and one.counter = character_series.counter and one.observed_at <= from_time
    order by one.observed_at desc limit 1)
   union all
  select one.observed_at, one.value from analytics.character_counter_sample one
   where one.player_uuid = owner and one.character_uuid = part and one.counter = character_series.counter
     and one.observed_at > from_time and one.observed_at <= to_time;
end;
comment on function analytics.character_series(uuid, uuid, text, timestamptz, timestamptz) is
'A counter of a character in (from_time, to_time], and the last one before. Arguments: owner, the player; part, the character; counter, by its path in the record; from_time; to_time.';

create or replace function analytics.profession_series(owner uuid, part uuid, counter text, from_time timestamptz, to_time timestamptz)
returns table (observed_at timestamptz, value double precision)
language sql stable parallel safe set jit = off
begin atomic
  select kept.observed_at, case when counter like '%.xpPercent' then kept.xp_percent else kept.level end
    from ((select one.* from analytics.character_profession_sample one
            where one.player_uuid = owner and one.character_uuid = part and one.profession = replace(counter, '.xpPercent', '')
              and one.observed_at <= from_time
            order by one.observed_at desc limit 1)
           union all
          select one.* from analytics.character_profession_sample one
           where one.player_uuid = owner and one.character_uuid = part and one.profession = replace(counter, '.xpPercent', '')
             and one.observed_at > from_time and one.observed_at <= to_time) kept;
end;
comment on function analytics.profession_series(uuid, uuid, text, timestamptz, timestamptz) is
'The level of a character in a profession in (from_time, to_time], and the last one before. Arguments: owner, the player; part, the character; counter, the profession, or with .xpPercent the way to its next level; from_time; to_time.';

create or replace function analytics.member_series(owner uuid, part uuid, counter text, from_time timestamptz, to_time timestamptz)
returns table (observed_at timestamptz, value double precision)
language sql stable parallel safe set jit = off
begin atomic
  (select one.observed_at, one.value from analytics.member_counter_sample one
    where one.guild_uuid = owner and one.counter = member_series.counter and one.player_uuid = part and one.observed_at <= from_time
    order by one.observed_at desc limit 1)
   union all
  select one.observed_at, one.value from analytics.member_counter_sample one
   where one.guild_uuid = owner and one.counter = member_series.counter and one.player_uuid = part
     and one.observed_at > from_time and one.observed_at <= to_time;
end;
comment on function analytics.member_series(uuid, uuid, text, timestamptz, timestamptz) is
'A counter of a member of a guild in (from_time, to_time], and the last one before. Arguments: owner, the guild; part, the player; counter, by its path in the record; from_time; to_time.';

create or replace function analytics.counter_series(kind text, owner uuid, part uuid, counter text, from_time timestamptz, to_time timestamptz)
returns table (observed_at timestamptz, value double precision)
language sql stable parallel safe
begin atomic
  select one.observed_at, one.value from analytics.guild_series(owner, counter, from_time, to_time) one where kind = 'guild'
   union all
  select one.observed_at, one.value from analytics.member_series(owner, part, counter, from_time, to_time) one where kind = 'member'
   union all
  select one.observed_at, one.value from analytics.player_series(owner, counter, from_time, to_time) one where kind = 'player'
   union all
  select one.observed_at, one.value from analytics.character_series(owner, part, counter, from_time, to_time) one where kind = 'character'
   union all
  select one.observed_at, one.value from analytics.profession_series(owner, part, counter, from_time, to_time) one where kind = 'profession';
end;
comment on function analytics.counter_series(text, uuid, uuid, text, timestamptz, timestamptz) is
'The numbers of one counter in (from_time, to_time], and the last one before; NULL: it was not sent from then on. Arguments: kind, such as guild; owner, the guild or player; part, the character; counter; from_time; to_time.';
