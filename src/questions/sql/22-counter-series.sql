-- Where the numbers of a counter are: all who may have it, and the samples of one of them, as parts of the statements below, so that each is
-- planned for one kind and one period. What players hide is left out by the views that are read. In them, $1 is the counter, $2 and $3 the
-- period; each.owner and each.part are whose samples.
create or replace function analytics.counter_source(kind text, counter text)
returns table (entities text, samples text, stay text)
language sql stable parallel safe
begin atomic
  select source.entities, source.samples,
         case when kind = 'member' and counter = 'contributed' then 'and one.observed_at >= each.begins and one.observed_at < each.ends' else '' end
    from (select coalesce((select one.kind from game.leaderboard one where one.type = counter order by one.valid_from desc limit 1),
                          'player') || '_uuid' as owner) board
   cross join lateral (values
      ('guild', 'select distinct one.guild_uuid as owner, null::uuid as part, null::timestamptz as joined,
                        timestamptz ''-infinity'' as begins, timestamptz ''infinity'' as ends from game.guild one',
       case when counter ~ '^seasonRanks\.\d{1,6}\.rating$'
            then format('select rated.observed_at, rated.rating::double precision as value from game.guild_season rated
                          where rated.guild_uuid = each.owner and rated.season = %s', split_part(counter, '.', 2)::int)
            when exists (select from pg_catalog.pg_attribute number
                          where number.attrelid = 'game.guild_sample'::regclass and number.attnum > 0 and number.attname = counter
                            and number.atttypid in ('int4'::regtype, 'int8'::regtype, 'float4'::regtype, 'float8'::regtype))
            then format('select own.observed_at, own.%I::double precision as value from game.guild_sample own
                          where own.guild_uuid = each.owner', counter)
            else 'select null::timestamptz as observed_at, null::double precision as value where false' end),
      -- What was contributed begins at 0 with each stay.
      ('member', format('select one.guild_uuid as owner, one.player_uuid as part, %s as joined, min(one.valid_from) as begins, max(one.valid_until) as ends
                           from game.guild_member one group by 1, 2, 3 having max(one.valid_until) > $2 and min(one.valid_from) <= $3',
                        case when counter = 'contributed' then 'one.joined' else 'null::timestamptz' end),
       'select own.observed_at, own.value from analytics.member_counter_sample own
         where own.guild_uuid = each.owner and own.counter = $1 and own.player_uuid = each.part'),
      ('player', 'select distinct one.player_uuid as owner, null::uuid as part, null::timestamptz as joined,
                         timestamptz ''-infinity'' as begins, timestamptz ''infinity'' as ends from game.player one',
       'select own.observed_at, own.value from analytics.player_counter_sample own where own.player_uuid = each.owner and own.counter = $1'),
      ('character', null,
       'select own.observed_at, own.value from analytics.character_counter_sample own
         where own.player_uuid = each.owner and own.character_uuid = each.part and own.counter = $1'),
      ('profession', null,
       format('select own.observed_at, own.%I::double precision as value from analytics.character_profession_sample own
                where own.player_uuid = each.owner and own.character_uuid = each.part and own.profession = replace($1, ''.xpPercent'', '''')',
              case when counter like '%.xpPercent' then 'xp_percent' else 'level' end)),
      -- Who is on no place of the next response has no score from then on.
      ('leaderboard', format('select distinct own.%1$I as owner, own.character_uuid as part, null::timestamptz as joined,
                                     timestamptz ''-infinity'' as begins, timestamptz ''infinity'' as ends
                                from game.leaderboard_place own
                               where own.type = $1 and own.%1$I is not null and own.observed_at > $2 and own.observed_at <= $3', board.owner),
       format('select own.observed_at, own.score as value from game.leaderboard_place own where %1$s
                union all
               select gone.at, null from game.leaderboard_place own
                cross join lateral (select next.observed_at as at from game.leaderboard_place next
                                     where next.type = own.type and next.place = own.place and next.observed_at > own.observed_at
                                     order by next.observed_at limit 1) gone
                where %1$s
                  and not exists (select from game.leaderboard_place still
                                   where still.%2$I = each.owner and still.type = $1 and still.observed_at = gone.at
                                     and still.character_uuid is not distinct from each.part)',
              format('own.%I = each.owner and own.type = $1 and own.character_uuid is not distinct from each.part
                      and not exists (select from sync.privacy_restriction rule where rule.player_uuid = each.owner
                                         and (rule.field_group = ''mainAccess''
                                              or rule.field_group = ''characterListAccess'' and each.part is not null))', board.owner),
              board.owner))) as given(kind, entities, samples)
   cross join lateral (
     select coalesce(given.entities,
                     'select distinct one.player_uuid as owner, one.character_uuid as part, null::timestamptz as joined,
                             timestamptz ''-infinity'' as begins, timestamptz ''infinity'' as ends from game.player_character one') as entities,
            -- A character that the player has no more is not counted any more, and one that is back as it was is counted again.
            case when given.kind in ('character', 'profession')
                 then format('%1$s
                       union all
                      select ended.valid_until, null from game.player_character ended
                       where ended.player_uuid = each.owner and ended.character_uuid = each.part and ended.valid_until < ''infinity''
                         and not exists (select from game.player_character next
                                          where next.player_uuid = ended.player_uuid and next.character_uuid = ended.character_uuid
                                            and next.valid_from = ended.valid_until)
                       union all
                      select back.valid_from, latest.value from game.player_character back
                       cross join lateral (select one.observed_at, one.value from (%1$s) one where one.observed_at <= back.valid_from
                                            order by one.observed_at desc limit 1) latest
                       where back.player_uuid = each.owner and back.character_uuid = each.part and back.previous_until < back.valid_from
                         and latest.observed_at < back.valid_from', given.samples)
                 else given.samples end as samples) source
   where given.kind = counter_source.kind;
end;
comment on function analytics.counter_source(text, text) is
'Where the numbers of a counter are, as parts of statements: entities, who may have it; samples, those of one of them; stay, which of these belong to a stay of a member. Arguments: kind, such as guild; counter.';

create or replace function analytics.counter_series(kind text, owner uuid, part uuid, counter text, from_time timestamptz, to_time timestamptz)
returns table (observed_at timestamptz, value double precision)
language plpgsql stable parallel safe set plan_cache_mode = force_generic_plan as $$
declare
  source record;
begin
  -- Of these three many are asked of at once, and to plan it takes ten times as long as to run it: once a session is enough.
  if kind = 'member' then
    return query
   (select one.observed_at, one.value from analytics.member_counter_sample one
     where one.guild_uuid = owner and one.player_uuid = part and one.counter = counter_series.counter and one.observed_at <= from_time
     order by one.observed_at desc limit 1)
     union all
    select one.observed_at, one.value from analytics.member_counter_sample one
     where one.guild_uuid = owner and one.player_uuid = part and one.counter = counter_series.counter
       and one.observed_at > from_time and one.observed_at <= to_time;
    return;
  elsif kind = 'player' then
    return query
   (select one.observed_at, one.value from analytics.player_counter_sample one
     where one.player_uuid = owner and one.counter = counter_series.counter and one.observed_at <= from_time
     order by one.observed_at desc limit 1)
     union all
    select one.observed_at, one.value from analytics.player_counter_sample one
     where one.player_uuid = owner and one.counter = counter_series.counter and one.observed_at > from_time and one.observed_at <= to_time;
    return;
  elsif kind = 'guild' and counter in ('level', 'xp_percent', 'territories', 'wars', 'raids', 'members', 'online', 'online_listed', 'hidden') then
    return query
    select known.observed_at,
           -- Each for itself: what numbers of several types have in common would be `real`.
           case counter_series.counter when 'level' then known.level::double precision when 'xp_percent' then known.xp_percent::double precision
             when 'territories' then known.territories::double precision when 'wars' then known.wars::double precision
             when 'raids' then known.raids::double precision when 'members' then known.members::double precision
             when 'online' then known.online::double precision when 'online_listed' then known.online_listed::double precision
             else known.hidden::double precision end
      from ((select one.* from game.guild_sample one
              where one.guild_uuid = owner and one.observed_at <= from_time order by one.observed_at desc limit 1)
             union all
            select one.* from game.guild_sample one
             where one.guild_uuid = owner and one.observed_at > from_time and one.observed_at <= to_time) known;
    return;
  end if;
  select * into source from analytics.counter_source(kind, counter);
  if not found then
    return;
  end if;
  return query execute format('
    select known.observed_at, known.value
      from (select $4::uuid as owner, $5::uuid as part) each
     cross join lateral ((select before.observed_at, before.value from (%1$s) before where before.observed_at <= $2
                           order by before.observed_at desc limit 1)
                          union all
                         select within.observed_at, within.value from (%1$s) within where within.observed_at > $2 and within.observed_at <= $3) known',
    source.samples) using counter, from_time, to_time, owner, part;
end
$$;
comment on function analytics.counter_series(text, uuid, uuid, text, timestamptz, timestamptz) is
'The numbers of one counter in (from_time, to_time], and the last one before; NULL: it was not sent from then on. Arguments: kind, such as guild; owner, the guild or player; part, the player of a guild or the character; counter, such as wars or a leaderboard; from_time; to_time.';
