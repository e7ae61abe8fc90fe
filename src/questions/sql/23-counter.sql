create or replace view analytics.counter as
with recursive seen as (
  -- The guilds and players that changed last have nearly all counters; to go through all would take as long as there are rows.
  (select 'guilds' as resource, one.guild_uuid as owner from game.guild one
    where one.valid_until = 'infinity' order by one.valid_from desc, one.guild_uuid limit 30)
   union all
  (select 'players', one.player_uuid from game.player one
    where one.valid_until = 'infinity' order by one.valid_from desc, one.player_uuid limit 30)
), of_member (owner, counter) as (
  select seen.owner, (select min(one.counter) from game.member_counter one where one.guild_uuid = seen.owner)
    from seen where seen.resource = 'guilds'
   union all
  select of_member.owner, (select min(one.counter) from game.member_counter one
                            where one.guild_uuid = of_member.owner and one.counter > of_member.counter)
    from of_member where of_member.counter is not null
), of_player (owner, counter) as (
  -- Loose index scans: one entry per counter, however many samples it has.
  select seen.owner, (select min(one.counter) from game.player_counter one where one.player_uuid = seen.owner)
    from seen where seen.resource = 'players'
   union all
  select of_player.owner, (select min(one.counter) from game.player_counter one
                            where one.player_uuid = of_player.owner and one.counter > of_player.counter)
    from of_player where of_player.counter is not null
), character as (
  select one.player_uuid, one.character_uuid
    from seen
   cross join lateral (select own.player_uuid, own.character_uuid from game.player_character own
                        where own.player_uuid = seen.owner order by own.character_uuid, own.valid_from limit 2) one
   where seen.resource = 'players'
), of_character (player_uuid, character_uuid, counter) as (
  select character.player_uuid, character.character_uuid,
         (select min(one.counter) from game.character_counter one
           where one.player_uuid = character.player_uuid and one.character_uuid = character.character_uuid)
    from character
   union all
  select of_character.player_uuid, of_character.character_uuid,
         (select min(one.counter) from game.character_counter one
           where one.player_uuid = of_character.player_uuid and one.character_uuid = of_character.character_uuid
             and one.counter > of_character.counter)
    from of_character where of_character.counter is not null
), profession (player_uuid, character_uuid, name) as (
  select character.player_uuid, character.character_uuid,
         (select min(one.profession) from game.character_profession one
           where one.player_uuid = character.player_uuid and one.character_uuid = character.character_uuid)
    from character
   union all
  select profession.player_uuid, profession.character_uuid,
         (select min(one.profession) from game.character_profession one
           where one.player_uuid = profession.player_uuid and one.character_uuid = profession.character_uuid
             and one.profession > profession.name)
    from profession where profession.name is not null
), named as (
  select 'guild' as kind, number.attname::text as counter, col_description(number.attrelid, number.attnum) as meaning
    from pg_catalog.pg_attribute number
   where number.attrelid = 'game.guild_sample'::regclass and number.attnum > 0 and not number.attisdropped
     and number.atttypid in ('int4'::regtype, 'int8'::regtype, 'float4'::regtype, 'float8'::regtype)
   union all
  select 'guild', 'seasonRanks.' || rated.season || '.rating', 'Rating in the season.'
    from (select distinct season.season from game.season season) rated
   union all
  select distinct 'member', of_member.counter, null from of_member where of_member.counter is not null
   union all
  select distinct 'player', of_player.counter, null from of_player where of_player.counter is not null
   union all
  select distinct 'character', of_character.counter, null from of_character where of_character.counter is not null
   union all
  select distinct 'profession', profession.name || part.suffix, part.meaning
    from profession
   cross join (values ('', 'Level in the profession.'), ('.xpPercent', 'Way to the next level in the profession.')) as part(suffix, meaning)
   where profession.name is not null
   union all
  select distinct 'leaderboard', board.type, 'Score on the leaderboard, as far as its places show it.' from game.leaderboard board
), kept as (
  select 'guild' as kind, (select count(*) from (select distinct one.guild_uuid from game.guild one) each) as entities
   union all
  select 'member', (select count(*) from (select distinct one.guild_uuid, one.player_uuid from game.guild_member one) each)
   union all
  select 'player', (select count(*) from (select distinct one.player_uuid from game.player one) each)
   union all
  select one.kind, each.entities
    from (select count(*) as entities from (select distinct one.player_uuid, one.character_uuid from game.player_character one) own) each
   cross join (values ('character'), ('profession')) as one(kind)
   union all
  select 'leaderboard', null
)
select named.kind, named.counter,
       case when named.kind = 'leaderboard' then case when named.counter ~* 'level' then 'levels' when named.counter ~* 'wars' then 'wars'
                                                      when named.counter ~* 'territories' then 'territories'
                                                      when named.counter ~* 'completion|raid' then 'times' else 'points' end
            when named.counter ~* '(^|[._])xp_?percent$' then 'percent'
            when named.counter ~ '(^|\.)playtime$' then 'hours'
            when named.kind = 'profession' or named.counter ~* '(^|\.)(total)?level$' then 'levels'
            when named.counter ~ '(^|\.)(xp|contributed)$' then 'experience points'
            when named.counter like 'seasonRanks.%' then 'points'
            when named.counter in ('members', 'online', 'online_listed', 'hidden') then 'members'
            when named.counter = 'territories' then 'territories'
            when named.counter like 'skillPoints.%' then 'skill points'
            when named.counter = 'blocksWalked' then 'blocks'
            when named.counter = 'mobsKilled' then 'mobs'
            when named.counter = 'chestsFound' then 'chests'
            when named.counter ~ '(^|\.)wars$' then 'wars'
            when named.counter ~* '(^|\.)(current)?(guild)?raids(\.|$)' then 'raids'
            else 'times' end as unit,
       coalesce(kept.entities, (select max(one.place) from game.leaderboard_place one where one.type = named.counter)) as entities, begun.since,
       coalesce(named.meaning, case when analytics.is_level_only(named.kind, named.counter) then 'A number that goes up and down' else 'A counter' end
                               || case named.kind when 'player' then ' of the player over all characters' when 'member' then ' of the player, as the guild shows it' else ' of the character' end
                               || ', by its path in the API.') as meaning
  from named
  join kept on kept.kind = named.kind
  join analytics.counter_kind() one on one.kind = named.kind
  -- Not by a function: those in a view run with the rights of the caller.
  left join (select known.resource, (select first.received_at from sync.observation first
                                      where first.resource = known.resource and first.status not in ('rejected', 'stale')
                                      order by first.received_at limit 1) as since
               from (values ('guilds'), ('players'), ('leaderboards')) known(resource)) begun on begun.resource = one.resource;
comment on view analytics.counter is 'Every number over time that can be asked for gains: by analytics.gained, top_gained, timeline, best and first_to. Of counters that are named by the API, those that the guilds and players that changed last have.';
comment on column analytics.counter.kind is 'What has it: guild, member, player, character, profession or leaderboard.';
comment on column analytics.counter.counter is 'Its name: a column of game.guild_sample, a path in the API with dots, a profession, or the type of a leaderboard.';
comment on column analytics.counter.unit is 'What it counts.';
comment on column analytics.counter.entities is 'How many of that kind are recorded; not each has every counter. Of a leaderboard, how many places it has.';
comment on column analytics.counter.since is 'The first response about any of them.';
comment on column analytics.counter.meaning is 'What it means.';
