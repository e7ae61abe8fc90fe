create or replace function analytics.named_uuid(what text, entity_name text) returns uuid
language plpgsql stable parallel safe as $$
declare
  bearers uuid[];
  called text;
begin
  if entity_name ~* '^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$' then
    return entity_name::uuid;
  end if;
  if what = 'guild' then
    select array_agg(each.uuid order by each.uuid), string_agg(each.uuid || ' (' || each.label || ')', ', ' order by each.uuid) into bearers, called
      from (select known.guild_uuid as uuid, min(concat_ws(' ', known.name, '[' || known.prefix || ']') collate "C") as label
              from (select one.guild_uuid, one.name, one.prefix from game.guild_listing one
                     union all
                    select one.guild_uuid, one.name, one.prefix from game.guild one) known
             where known.name = entity_name or known.prefix = entity_name
             group by known.guild_uuid order by 1 limit 10) each;
  else
    -- Spelled so, by an index; else in upper or lower case.
    for attempt in 1 .. 2 loop
      select array_agg(each.uuid order by each.uuid), string_agg(each.uuid || ' (' || each.label || ')', ', ' order by each.uuid) into bearers, called
        from (select known.player_uuid as uuid, min(known.username collate "C") as label
                from (select one.player_uuid, one.username from game.player one where attempt = 1 and one.username = entity_name
                       union all
                      select one.player_uuid, one.username from game.guild_member one where attempt = 1 and one.username = entity_name
                       union all
                      select one.player_uuid, one.username from game.player one
                       where attempt = 2 and lower(one.username collate "C") = lower(entity_name collate "C")
                       union all
                      select one.player_uuid, one.username from game.guild_member one
                       where attempt = 2 and lower(one.username collate "C") = lower(entity_name collate "C")) known
               group by known.player_uuid order by 1 limit 10) each;
      exit when bearers is not null;
    end loop;
  end if;
  if bearers is null then
    raise exception '% not found: %', what, entity_name using errcode = 'invalid_parameter_value';
  elsif cardinality(bearers) > 1 then
    raise exception 'several %s have or had the name %: %; use a uuid', what, entity_name, called using errcode = 'invalid_parameter_value';
  end if;
  return bearers[1];
end
$$;
comment on function analytics.named_uuid(text, text) is
'The uuid of the guild or player who has or had a name; an error where none or several do. Arguments: what, guild or player; entity_name, a uuid, an exact name, a prefix of a guild, or a name of a player in upper or lower case.';

create or replace function analytics.checked_counter(kind text, counter text) returns text
language plpgsql stable parallel safe as $$
declare
  source record;
  is_known boolean := false;
  known text[];
begin
  if not exists (select from analytics.counter_kind() one where one.kind = checked_counter.kind) then
    raise exception 'kind must be one of %, got %', (select string_agg(one.kind, ', ') from analytics.counter_kind() one), coalesce(kind, 'NULL')
          using errcode = 'invalid_parameter_value';
  end if;
  -- One who has it is most often the first.
  select * into source from analytics.counter_source(kind, counter);
  execute format('select exists (select from (%s) each cross join lateral (select from (%s) one limit 1) found)', source.entities, source.samples)
    into is_known using counter, timestamptz '-infinity', timestamptz 'infinity';
  if not is_known then
    known := array(select one.counter from analytics.counter one where one.kind = checked_counter.kind order by one.counter collate "C");
    is_known := counter = any(known);
  end if;
  if is_known is not true then
    raise exception 'no counter of kind % is called %: there are %', kind, coalesce(counter, 'NULL'),
          coalesce(nullif(array_to_string(known[1:100], ', '), ''), 'none yet') using errcode = 'invalid_parameter_value';
  end if;
  return counter;
end
$$;
comment on function analytics.checked_counter(text, text) is
'The counter itself; an error that says what there is where the kind or the counter is not known. Arguments: kind, such as guild; counter.';

create or replace function analytics.counted_entity(kind text, counter text, entity text)
returns table (owner uuid, part uuid, entity_key text, name text)
language plpgsql stable parallel safe rows 1 as $$
declare
  words constant text[] := string_to_array(entity, '/');
  of_kind text := case when kind in ('character', 'profession') then 'player/character' when kind = 'member' then 'guild/player'
                       when kind = 'guild' then 'guild' else 'player' end;
  parts uuid[];
  called text;
begin
  if not exists (select from analytics.counter_kind() one where one.kind = counted_entity.kind) then
    perform analytics.checked_counter(kind, counter);
  end if;
  if kind = 'leaderboard' then
    -- Some rank characters: then a player may have several places.
    select case when board.kind = 'guild' then 'guild' when cardinality(words) = 2 then 'player/character' else 'player' end into of_kind
      from game.leaderboard board where board.type = counter order by board.valid_from desc limit 1;
    if of_kind is null then
      perform analytics.checked_counter(kind, counter);
    end if;
  end if;
  if entity is null or cardinality(words) <> cardinality(string_to_array(of_kind, '/')) then
    raise exception 'entity of kind % must be %, each a uuid or name, got %', kind, of_kind, coalesce(entity, 'NULL')
          using errcode = 'invalid_parameter_value';
  end if;
  if kind = 'leaderboard' then
    -- Who is on a board need not be known otherwise.
    select coalesce(one.guild_uuid, one.player_uuid) into owner
      from analytics.leaderboard_place_sample one where one.name = words[1] and one.type = counter order by one.observed_at desc limit 1;
  end if;
  owner := coalesce(owner, analytics.named_uuid(split_part(of_kind, '/', 1), words[1]));
  if kind = 'member' then
    part := analytics.named_uuid('player', words[2]);
  end if;
  if of_kind = 'player' and kind = 'leaderboard' then
    parts := array(select distinct one.character_uuid from game.leaderboard_place one
                    where one.player_uuid = counted_entity.owner and one.type = counter and one.character_uuid is not null order by 1 limit 10);
    if cardinality(parts) > 1 then
      raise exception 'several characters of % are on this board: %; ask for player/character', entity, array_to_string(parts, ', ')
            using errcode = 'invalid_parameter_value';
    end if;
    part := parts[1];
  end if;
  if of_kind = 'player/character' then
    if words[2] ~* '^[0-9a-f]{8}(-?[0-9a-f]{4}){3}-?[0-9a-f]{12}$' then
      part := words[2]::uuid;
    else
      select array_agg(each.uuid), string_agg(each.uuid || ' (' || each.label || ')', ', ' order by each.uuid) into parts, called
        from (select one.character_uuid as uuid, max(coalesce(one.nickname, lower(one.type))) as label
                from analytics.player_character_history one
               where one.player_uuid = counted_entity.owner
                 and lower(words[2] collate "C") in (lower(one.nickname collate "C"), lower(one.type collate "C"))
               group by one.character_uuid order by 1 limit 10) each;
      if parts is null then
        raise exception 'character not found: %', entity using errcode = 'invalid_parameter_value';
      elsif cardinality(parts) > 1 then
        raise exception 'several characters go by %: %; use a uuid', entity, called using errcode = 'invalid_parameter_value';
      end if;
      part := parts[1];
    end if;
  end if;
  -- What the entity itself has is found by an index; else it must be a counter that others have.
  if not exists (select from analytics.counter_series(kind, counted_entity.owner, counted_entity.part, counter, 'infinity', 'infinity') known
                  where known.value is not null)
     -- Who hides may have been the only one with it.
     and not exists (select from sync.privacy_restriction rule where rule.player_uuid in (counted_entity.owner, counted_entity.part)) then
    perform analytics.checked_counter(kind, counter);
  end if;
  entity_key := concat_ws('/', owner, part);
  name := analytics.counted_name(kind, owner, part);
  return next;
end
$$;
comment on function analytics.counted_entity(text, text, text) is
'What is meant by the name of something that is counted; an error that names the candidates where several are. Arguments: kind, such as guild; counter; entity, a uuid or name, of members guild/player, of characters and professions player/character, of leaderboards a guild, player or player/character.';
